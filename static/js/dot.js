// The teacher's laser pointer on a picture.

/** Shows the pointer on a stage's picture; null removes it. The place is in fractions of the axes, independent of the picture's size. */
export function point(stage, at) {
  let dot = document.querySelector(".pointer-dot");
  if (!at || !stage) return dot?.remove();
  const image = stage.querySelector("img"), { frames = {} } = JSON.parse(stage.dataset.stage || "{}");
  const width = frames[image.naturalWidth] ? image.naturalWidth : Object.keys(frames).at(-1), k = image.clientWidth / (width || 1);
  const f = frames[width]?.width ? frames[width] : { left: 0, top: 0, width: image.clientWidth / k, height: image.clientHeight / k };
  if (!dot) {
    dot = document.createElement("div");
    dot.className = "pointer-dot";
    dot.setAttribute("aria-hidden", "true");
  }
  if (dot.parentElement !== stage) stage.append(dot);
  dot.style.left = `${k * (f.left + at[0] * f.width)}px`;
  dot.style.top = `${k * (f.top + at[1] * f.height)}px`;
}

/** Milliseconds between two positions sent. */
const pace = 70;

/** Sends the position of a finger on a pad, newest only; null when it is lifted. */
export function pad(element, send) {
  let at, sent, busy = false;
  const share = (v, from, size) => Math.min(1, Math.max(0, (v - from) / size)).toFixed(3);
  async function flush() {
    if (busy) return;
    busy = true;
    while (at !== sent) {
      sent = at;
      await send(sent).catch(() => {});
      await new Promise((done) => setTimeout(done, pace));
    }
    busy = false;
  }
  const move = (e) => {
    const box = element.getBoundingClientRect();
    at = { x: share(e.clientX, box.left, box.width), y: share(e.clientY, box.top, box.height) };
    flush();
  };
  element.hidden = false;
  element.addEventListener("pointerdown", (e) => {
    element.setPointerCapture(e.pointerId);
    move(e);
  });
  element.addEventListener("pointermove", (e) => element.hasPointerCapture(e.pointerId) && move(e));
  for (const end of ["pointerup", "pointercancel"]) {
    element.addEventListener(end, () => {
      at = {};
      flush();
    });
  }
}
