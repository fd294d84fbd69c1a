// A run's page: look at points and places, zoom and move; while it trains, follow its progress.
import { Stage, asking } from "./stage.js";
import { Frame, listKeys } from "./frame.js";

const view = document.querySelector(".run-view");
if (view) {
  const tools = view.querySelector("[data-view]"), limits = { value: view.dataset.limits };
  let stage, wanted = null, busy = false;
  tools.hidden = false;
  listKeys(view);
  const frame = new Frame(limits, tools, () => false, () => {}, show);
  const probe = asking(([s, t]) => fetch(`${view.dataset.at}?${new URLSearchParams({ s, t, x: shown("x"), y: shown("y") })}`), (at, lines) => stage.tell(at, lines));
  use();

  function use() {
    stage = new Stage(document.querySelector(".main-figure .stage"), document.querySelector("[data-readout]"));
    stage.look(() => !frame.held?.far, (at) => probe(frame.movable ? at : null));
    frame.use(stage);
  }

  /** What the address says. */
  function shown(name) {
    return new URLSearchParams(location.search).get(name) ?? "";
  }

  /** Shows the picture within the limits, as the page of their address has it; the newest limits wait. */
  async function show() {
    const address = new URL(location);
    if (limits.value) address.searchParams.set("limits", limits.value);
    else address.searchParams.delete("limits");
    wanted = address;
    if (busy) return;
    busy = true;
    while (wanted) {
      const now = wanted;
      wanted = null;
      const page = await fetch(now).then((r) => (r.ok ? r.text() : null), () => null);
      const figure = page && new DOMParser().parseFromString(page, "text/html").querySelector(".main-figure");
      if (!figure) continue;
      const fresh = document.importNode(figure, true), old = document.querySelector(".main-figure"), focused = old.contains(document.activeElement);
      await fresh.querySelector("img").decode().catch(() => {}); // no blank in between
      old.replaceWith(fresh);
      history.replaceState(null, "", now);
      use();
      if (focused) stage.element.focus({ preventScroll: true });
    }
    busy = false;
  }
}

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
