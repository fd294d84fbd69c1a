// The page of a study: its progress bar as cells arrive, its searches at intervals, everything
// when it ends.

import { words } from "./duration.js";
import { answer, follow } from "./live.js";

const part = document.getElementById("study");
const pause = 3000; // ms between updates of the searches, at least ten times the duration of the last one
let due = performance.now() + pause;

/** Updates a part of the page from the server, unless a link or button in it has the focus. */
async function renew(selector) {
  const response = await answer(location.href);
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector(selector);
  const old = document.querySelector(selector);
  if (!fresh || !old || old.contains(document.activeElement)) return false;
  old.replaceWith(document.adoptNode(fresh));
  return true;
}

/** Shows the progress of the searches. */
async function look() {
  const began = performance.now();
  due = Infinity;
  try {
    await renew("[data-searches]");
  } finally {
    due = performance.now() + Math.max(pause, 10 * (performance.now() - began));
  }
}

if (part?.hasAttribute("data-pending")) {
  const stop = follow("/jobs/events", { jobs: async ({ jobs }) => {
    const job = jobs.find((j) => j.id === part.dataset.pending);
    if (!job) {
      const renewed = await renew("#study");
      stop();
      if (!renewed) location.reload();
      return;
    }
    part.querySelector("[data-progress]").textContent = job.left_seconds ? `${job.progress}, about ${words(job.left_seconds)} left` : job.progress;
    const bar = part.querySelector("progress");
    bar.max = job.total;
    bar.value = job.done;
    if (performance.now() > due) await look();
  } });
}

const form = document.querySelector("form.study-form[method=get]");
if (form) { // the text about its power follows the selection
  form.querySelector("[data-count]").hidden = true;
  form.addEventListener("change", async () => {
    const asked = new URLSearchParams(new FormData(form)).toString();
    form.dataset.asked = asked;
    const page = await fetch(`${form.action}?${asked}`).then((r) => (r.ok ? r.text() : null)).catch(() => null);
    const fresh = page && new DOMParser().parseFromString(page, "text/html").querySelector("#power");
    if (fresh && form.dataset.asked === asked) document.querySelector("#power").textContent = fresh.textContent;
  });
}
