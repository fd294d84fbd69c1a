// The page of a search: cells as they arrive, and the numbers of the cell under the pointer.

import { answer, follow } from "./live.js";

const id = "search";

/** Fetches the changing part of the page and keeps the focus. */
async function refresh() {
  const response = await answer(location.href);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById(id);
  if (!fresh) return;
  const focused = document.activeElement?.closest(`#${id} a`)?.getAttribute("href");
  const open = document.querySelector(".setting-list")?.open;
  document.getElementById(id).replaceWith(document.adoptNode(fresh));
  if (open) fresh.querySelector(".setting-list").open = true;
  if (focused) [...fresh.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
}

/** Shows a cell's label, since a title is not shown on touch or keyboard focus. */
function tell(e) {
  const cell = e.target.closest?.(".heat-map a, .cloud a");
  if (cell) document.querySelector("[data-readout]").textContent = cell.title || cell.getAttribute("aria-label");
}
document.addEventListener("pointerover", tell);
document.addEventListener("focusin", tell);

/** Arrow keys move between cells of a map. */
document.addEventListener("keydown", (e) => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
  const cell = e.target.closest?.(".heat-map td");
  if (!step || !cell || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
  const row = cell.parentElement;
  const next = row.parentElement.rows[row.sectionRowIndex + step[0]]?.cells[cell.cellIndex + step[1]]?.querySelector("a");
  if (!next) return;
  e.preventDefault();
  next.focus();
});

const section = document.getElementById(id);
if (section.hasAttribute("data-events")) {
  const pause = 700; // ms between updates, at least ten times the duration of the last one
  let next, rest; // the update that waits, and the pause before it
  const look = () => next ??= (async () => {
    await rest;
    next = null;
    const began = performance.now();
    const fresh = refresh();
    rest = fresh.catch(() => {}).then(() => new Promise((resolve) => setTimeout(resolve, Math.max(pause, 10 * (performance.now() - began)))));
    await fresh;
  })();
  const stop = follow(`/searches/${section.dataset.id}/events`, {
    progress: ({ done }) => {
      const bar = document.querySelector("[data-bar]");
      if (bar && bar.value < done) bar.value = done;
      return look();
    },
    status: async ({ status }) => {
      await look();
      if (["done", "failed", "cancelled"].includes(status)) stop();
    },
  });
}
