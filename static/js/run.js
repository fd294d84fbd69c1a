// A run's page: look at points; while it trains, follow its progress.
import { Stage } from "./stage.js";

const element = document.querySelector(".stage[data-stage]");
if (element) new Stage(element, document.querySelector("[data-readout]")).look();

const pending = document.querySelector("[data-events]");
if (pending) {
  const text = pending.querySelector("[data-progress]");
  const bar = pending.querySelector("[data-bar]");
  const spaced = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const events = new EventSource(pending.dataset.events);
  events.addEventListener("progress", (e) => {
    const step = JSON.parse(e.data);
    if (step.rows) {
      text.textContent = `Training (${step.phase}): ${spaced(step.done ?? 0)} of ${spaced(step.rows)} rows`;
      bar.max = step.rows;
      bar.value = step.done ?? 0;
      return;
    }
    bar.removeAttribute("value"); // nobody knows how many iterations there will be
    const machine = step.machines ? `, machine ${step.machine} of ${step.machines}` : "";
    const left = step.left_seconds ? `, about ${Math.ceil(step.left_seconds)} s left` : "";
    text.textContent = `Training (${step.phase}${machine}): ${step.iteration} iterations, objective ${Number(step.objective.toPrecision(6))}, largest violation ${Number(step.violation.toPrecision(2))}${left}`;
  });
  events.addEventListener("status", (e) => {
    const state = JSON.parse(e.data).status;
    if (state === "running") text.textContent = "Training…";
    if (["done", "failed", "cancelled"].includes(state)) {
      events.close();
      location.reload();
    }
  });
}
