// A study's page: its bar as cells arrive, and the rest of it anew once it has ended.

const id = "study";
const part = document.getElementById(id);

if (part.hasAttribute("data-pending")) {
  const events = new EventSource("/jobs/events");
  events.addEventListener("jobs", (e) => {
    const job = JSON.parse(e.data).jobs.find((j) => j.id === part.dataset.pending);
    if (!job) {
      events.close();
      location.reload();
      return;
    }
    part.querySelector("[data-progress]").textContent = job.left_seconds ? `${job.progress}, about ${words(job.left_seconds)} left` : job.progress;
    const bar = part.querySelector("progress");
    bar.max = job.total;
    bar.value = job.done;
  });
}

function words(seconds) {
  const s = Math.round(seconds);
  return s < 120 ? `${s} s` : `${Math.round(s / 60)} min`;
}
