// The page of running jobs updates itself and keeps the focus.

import { words } from "./duration.js";
import { answer, follow } from "./live.js";

/** Reloads the list when jobs are added, finished or started. */
async function renew() {
  const response = await answer(location.href);
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("jobs");
  const focused = document.activeElement?.closest("#jobs form")?.action;
  document.getElementById("jobs").replaceWith(document.adoptNode(fresh));
  if (focused) [...fresh.querySelectorAll("form")].find((f) => f.action === focused)?.querySelector("button").focus({ preventScroll: true });
}

/** Shows the progress of a job. */
function tell(row, job) {
  row.querySelector("[data-progress]").textContent = job.progress;
  row.querySelector("[data-elapsed]").textContent = job.elapsed_seconds > 0 ? words(job.elapsed_seconds) : "–";
  row.querySelector("[data-left]").textContent = job.left_seconds ? `about ${words(job.left_seconds)}` : "–";
  const bar = row.querySelector("progress");
  if (job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else {
    bar.removeAttribute("value"); // the total is unknown
  }
}

const key = (id, status) => `${id} ${status}`;
let updated = Promise.resolve(); // of the previous event
follow("/jobs/events", { jobs: ({ jobs }) => {
  return updated = updated.catch(() => {}).then(async () => {
    const rows = [...document.querySelectorAll("[data-job]")];
    const same = rows.map((r) => key(r.dataset.job, r.dataset.status)).join() === jobs.map((j) => key(j.id, j.status)).join();
    if (!same) return renew();
    jobs.forEach((job, i) => job.status === "running" && tell(rows[i], job));
  });
} });
