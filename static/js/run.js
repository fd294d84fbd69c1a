// A run's page: look at points; while it trains, follow its progress.
import { Stage } from "./stage.js";

const element = document.querySelector(".stage[data-stage]");
if (element) new Stage(element, document.querySelector("[data-readout]")).look();

const pending = document.querySelector("[data-events]");
if (pending) {
  const text = pending.querySelector("[data-progress]");
  const events = new EventSource(pending.dataset.events);
  events.addEventListener("progress", (e) => {
    const step = JSON.parse(e.data);
    text.textContent = `Training (${step.phase}): ${step.iteration} iterations, objective ${Number(step.objective.toPrecision(6))}, largest violation ${Number(step.violation.toPrecision(2))}`;
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
