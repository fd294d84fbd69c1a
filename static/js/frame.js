// The frame of a picture: zoom and pan by wheel, pinch, drag and keys.

const step = 1.25; // zoom factor of a key or button
const settled = 250; // ms of rest until a fine picture is requested
const slip = 4; // maximum pixels the pointer may move during a click

/**
 * The visible region of a picture, in data coordinates. Writes the limits to a form field,
 * empty for the whole region, and calls moved(coarse) on every change.
 */
export class Frame {
  /**
   * @param {{value: string}} field of the form, or a stand-in
   * @param {Element} toolbar the buttons
   * @param {() => boolean} drawing whether the pointer draws points rather than pans
   * @param {() => void} second called when a second finger touches
   */
  constructor(field, toolbar, drawing, second, moved) {
    Object.assign(this, { field, toolbar, drawing, second, moved });
    this.fingers = new Map();
    this.movable = Boolean(toolbar.querySelector("[data-do=reset]"));
    if (!this.movable) return;
    toolbar.addEventListener("click", (e) => {
      const act = e.target.closest("[data-do]")?.dataset.do;
      if (act === "nearer") this.zoom(1 / step);
      if (act === "farther") this.zoom(step);
      if (act === "reset") this.reset();
    });
    document.addEventListener("keydown", (e) => this.key(e));
    document.addEventListener("pointermove", (e) => this.follow(e));
    for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, (e) => this.lift(e));
    this.reflect();
  }

  /** Adopts the stage of a new answer. */
  use(stage) {
    this.stage = stage;
    if (!this.movable) return;
    stage.element.classList.add("movable");
    stage.element.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    stage.element.addEventListener("pointerdown", (e) => this.down(e));
    stage.image.draggable = false;
  }

  /** The chosen limits, or the picture's own: xmin, xmax, ymin, ymax. */
  get limits() {
    if (this.field.value) return this.field.value.split(",").map(Number);
    const f = this.stage.data.frame;
    return [f.xmin, f.xmax, f.ymin, f.ymax];
  }

  set limits(l) {
    const room = (lo, hi) => hi - lo > 1e-9 * Math.max(Math.abs(lo), Math.abs(hi)) && hi - lo < 1e100;
    if (!room(l[0], l[1]) || !room(l[2], l[3])) return;
    this.field.value = l.map((v) => Number(v.toPrecision(10))).join(",");
    this.reflect();
  }

  /** Fixes the frame while points change. */
  hold() {
    if (this.movable) this.limits = this.limits;
  }

  /** Lets the frame follow the points again. */
  release() {
    this.field.value = "";
    this.reflect();
  }

  /** Grows to include a point. */
  include([s, t]) {
    const [x0, x1, y0, y1] = this.limits;
    if (s >= x0 && s <= x1 && t >= y0 && t <= y1) return;
    const x = (x1 - x0) / 20, y = (y1 - y0) / 20;
    this.limits = [Math.min(x0, s - x), Math.max(x1, s + x), Math.min(y0, t - y), Math.max(y1, t + y)];
  }

  reset() {
    this.release();
    this.moved(false);
  }

  /** Zooms out by a factor around a fixed place. */
  zoom(by, at) {
    const [x0, x1, y0, y1] = this.limits, [s, t] = at ?? [(x0 + x1) / 2, (y0 + y1) / 2];
    this.go([s + (x0 - s) * by, s + (x1 - s) * by, t + (y0 - t) * by, t + (y1 - t) * by]);
  }

  /** Pans by fractions of the frame. */
  pan(right, up) {
    const [x0, x1, y0, y1] = this.limits, s = right * (x1 - x0), t = up * (y1 - y0);
    this.go([x0 + s, x1 + s, y0 + t, y1 + t]);
  }

  /** Shows limits, first coarsely. */
  go(limits) {
    this.limits = limits;
    this.moved(true);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.moved(false), settled);
  }

  /** The pointer position as fractions of the frame from its lower left. */
  share(e) {
    const f = this.stage.data.frame, k = this.stage.scale(), box = this.stage.image.getBoundingClientRect();
    return [((e.clientX - box.left) / k - f.left) / f.width, 1 - ((e.clientY - box.top) / k - f.top) / f.height];
  }

  /** Converts a position in the frame to data coordinates. */
  place([right, up]) {
    const [x0, x1, y0, y1] = this.limits;
    return [x0 + right * (x1 - x0), y0 + up * (y1 - y0)];
  }

  wheel(e) {
    const at = this.share(e);
    if (at.some((v) => v < 0 || v > 1) || !e.deltaY) return;
    e.preventDefault();
    const notches = e.deltaY / (e.deltaMode === 0 ? 100 : 3);
    this.zoom(step ** Math.min(3, Math.max(-3, notches)), this.place(at));
  }

  down(e) {
    if (e.pointerType === "touch") {
      this.fingers.set(e.pointerId, this.share(e));
      if (this.fingers.size === 2) {
        this.second();
        this.pinch = { from: this.spans(), limits: this.limits };
      }
    } else if (e.button === 1 || (e.button === 0 && !this.drawing())) {
      if (this.share(e).some((v) => v < 0 || v > 1)) return;
      e.preventDefault(); // neither drag the image nor scroll with the middle button
      this.stage.element.focus({ preventScroll: true });
      document.body.setPointerCapture?.(e.pointerId);
      this.held = { id: e.pointerId, x: e.clientX, y: e.clientY, limits: this.limits, far: false };
    }
  }

  follow(e) {
    if (this.held?.id === e.pointerId) {
      const h = this.held;
      h.far ||= Math.hypot(e.clientX - h.x, e.clientY - h.y) > slip;
      if (!h.far) return;
      const f = this.stage.data.frame, k = this.stage.scale(), [x0, x1, y0, y1] = h.limits;
      const s = ((h.x - e.clientX) / k / f.width) * (x1 - x0), t = ((e.clientY - h.y) / k / f.height) * (y1 - y0);
      this.go([x0 + s, x1 + s, y0 + t, y1 + t]);
    } else if (this.fingers.has(e.pointerId)) {
      this.fingers.set(e.pointerId, this.share(e));
      if (this.fingers.size !== 2 || !this.pinch) return;
      const { from, limits: [x0, x1, y0, y1] } = this.pinch, to = this.spans();
      const by = from.wide / Math.max(to.wide, 0.01), width = by * (x1 - x0), height = by * (y1 - y0);
      const left = x0 + from.middle[0] * (x1 - x0) - to.middle[0] * width, bottom = y0 + from.middle[1] * (y1 - y0) - to.middle[1] * height;
      this.go([left, left + width, bottom, bottom + height]);
    }
  }

  /** The distance between two fingers and their midpoint. */
  spans() {
    const [a, b] = [...this.fingers.values()];
    return { wide: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  }

  lift(e) {
    if (this.held?.id === e.pointerId) this.held = null;
    this.fingers.delete(e.pointerId);
    this.pinch = null;
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog")) return;
    const pan = { ArrowRight: [0.1, 0], ArrowLeft: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
    if (e.key === "+" || e.key === "=") this.zoom(1 / step);
    else if (e.key === "-" || e.key === "−") this.zoom(step);
    else if (e.key === "0") this.reset();
    else if (pan && e.shiftKey && !this.drawing() && this.stage.element.contains(e.target)) this.pan(...pan);
    else return;
    e.preventDefault();
  }

  reflect() {
    const whole = this.toolbar.querySelector("[data-do=reset]");
    if (whole) whole.disabled = !this.field.value;
  }
}

/** Toggles the panel of keys and gestures below root by its button and its key. */
export function listKeys(root) {
  const panel = root.querySelector("[data-shortcuts]");
  root.addEventListener("click", (e) => {
    const act = e.target.closest("[data-do]")?.dataset.do;
    if (act === "help") panel.showModal();
    if (act === "close" || e.target === panel) panel.close();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "?" && !panel.open && !e.target.closest("input, textarea, select")) panel.showModal();
  });
}
