// The teacher's slide on students' phones: follows the teacher unless the student pauses it.
import { point } from "./dot.js";
import { answer, follow, fragment } from "./live.js";
import { mount } from "./lesson.js";

const page = document.querySelector("[data-follow]");
const path = page.dataset.follow;
const status = page.querySelector("[data-follow-status]");
const pause = page.querySelector("[data-pause]");
const shown = () => page.querySelector("[data-place]");
let paused = false;

/** Shows the current slide. Questions that remain keep the student's answers. */
async function renew() {
  const fresh = await fragment(await (await answer(`${path}?part=1`)).text());
  const next = fresh.querySelector("[data-place]");
  if (paused || next.dataset.place === shown().dataset.place) return;
  for (const question of next.querySelectorAll("[data-question]")) {
    const answered = document.getElementById(question.id);
    if (answered) question.replaceWith(answered);
  }
  shown().replaceWith(next);
  mount(next);
}

follow(`${path}/events`, { place: async ({ version, point: at }) => {
  point(shown().querySelector(".stage"), !paused && at);
  if (!version || String(version) === shown().dataset.place) return; // a restarted server soon shows the slide again
  if (paused) status.textContent = "The teacher has moved on.";
  else await renew();
} });

pause.hidden = false;
pause.addEventListener("click", async () => {
  paused = !paused;
  pause.textContent = paused ? "Follow" : "Pause";
  status.textContent = paused ? "Paused: this slide stays." : "";
  if (!paused) await renew();
});
