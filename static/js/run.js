// The page of a run: inspect points and places, zoom and pan; progress while it trains.
import { Stage, asking } from "./stage.js";
import { Frame, listKeys } from "./frame.js";
import { answer, follow } from "./live.js";

const view = document.querySelector(".run-view");
if (view) {
  const tools = view.querySelector("[data-view]"), limits = { value: view.dataset.limits };
  const unanswered = Object.assign(document.createElement("p"), { className: "problem stale", role: "alert" });
  const darkness = matchMedia("(prefers-color-scheme: dark)");
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

  /** The limits in the URL. */
  function shown(name) {
    return new URLSearchParams(location.search).get(name) ?? "";
  }

  /** The URL of the page whose picture has these limits. */
  function address() {
    const to = new URL(location);
    if (limits.value) to.searchParams.set("limits", limits.value);
    else to.searchParams.delete("limits");
    return to;
  }

  /** Fetches and shows the picture within the limits; only the newest limits wait. */
  async function show(coarse) {
    wanted = { to: address(), coarse };
    if (busy) return;
    busy = true;
    while (wanted) {
      const { to, coarse } = wanted;
      wanted = null;
      await look(to, coarse);
    }
    busy = false;
  }

  /** Adopts the figure of a page; if coarse, only its picture, at the size displayed. */
  async function look(to, coarse) {
    const from = new URL(to), part = coarse ? ".main-figure .stage" : ".main-figure", { naturalWidth, naturalHeight } = stage.image;
    if (coarse) for (const [name, value] of [["coarse", 1], ["width", naturalWidth], ["height", naturalHeight], ["dark", darkness.matches ? 1 : 0]]) from.searchParams.set(name, value);
    let page;
    try {
      page = await (await answer(from)).text();
    } catch (error) {
      unanswered.textContent = `No answer: ${error.message}`;
      document.body.append(unanswered);
      return;
    }
    unanswered.remove();
    const fresh = new DOMParser().parseFromString(page, "text/html").querySelector(part);
    if (!fresh || (wanted && !coarse)) return; // superseded
    const now = document.importNode(fresh, true), old = document.querySelector(part), focused = old.contains(document.activeElement);
    await now.querySelector("img").decode().catch(() => {}); // avoid a blank frame
    old.replaceWith(now);
    if (!coarse) history.replaceState(null, "", to);
    use();
    if (focused) stage.element.focus({ preventScroll: true });
  }
}

const pending = document.querySelector("[data-events]");
if (pending) {
  const text = pending.querySelector("[data-progress]");
  const bar = pending.querySelector("[data-bar]");
  const stop = follow(pending.dataset.events, {
    progress: (step) => {
      text.textContent = step.text + (step.left_seconds ? `, about ${Math.ceil(step.left_seconds)} s left` : "");
      if (step.rows) {
        bar.max = step.rows;
        bar.value = step.done ?? 0;
      } else bar.removeAttribute("value"); // the total is unknown
    },
    status: async ({ status }) => {
      if (status === "running") {
        text.textContent = "Training…";
        bar.hidden = false;
      }
      if (["done", "failed", "cancelled"].includes(status)) {
        await answer(location.href); // a reload that fails would leave no page to try again
        stop();
        location.reload();
      }
    },
  });
}
