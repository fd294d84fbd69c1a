// The layer over a picture: finds the nearest point and shows its details.
import { classText, brief as rounded } from "./number.js";

const roles = {
  free: "free support vector",
  inside: "bounded support vector, inside the margin",
  misclassified: "bounded support vector, wrong side",
  support: "support vector",
};

const brief = (v) => rounded(v, 4);

/** Converts a value to its fraction of an axis, and back. */
const part = (v, min, max, log) => (log ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min));
const along = (share, min, max, log) => (log ? min * (max / min) ** share : min + share * (max - min));

/**
 * Returns a function that queries the model at the pointer: call it with a place, or with null
 * when the pointer leaves. One request runs at a time; only the newest waits. ask(place) fetches
 * the answer, tell(place, lines) shows it.
 */
export function asking(ask, tell) {
  let place = null, busy = false;
  return async (at) => {
    place = at;
    if (busy) return;
    busy = true;
    while (place) {
      const at = place;
      const lines = await ask(at).then((r) => (r.status === 200 ? r.json() : {})).then(said, () => []);
      if (place) tell(at, lines);
      if (place === at) break;
    }
    busy = false;
  };
}

/** The model's answer at a place, as lines of text. */
function said({ place, class: c, scores }) {
  if (place) return said(place);
  return [...(c === undefined ? [] : [`class ${classText(c)}`]), ...(scores ?? []).map((f) => `${f.name} = ${f.value === null ? "not a number" : brief(f.value)}`)];
}

/** The points, frame and classes of a picture, with conversions between data and pixels. */
export class Stage {
  constructor(element, readout) {
    this.element = element;
    this.readout = readout;
    this.halo = this.mark("halo");
    this.tip = this.mark("tip");
    this.current = -1;
    this.renew();
  }

  /** Reads the picture and points that the element holds now. */
  renew() {
    this.read();
    this.image.addEventListener("load", () => this.frame());
  }

  read() {
    this.data = JSON.parse(this.element.dataset.stage || "{}");
    this.points = this.data.points || [];
    this.classes = this.data.classes || [];
    this.image = this.element.querySelector("img");
    this.frame();
  }

  /** The data coordinates of the frame's top left corner, or of its bottom right. */
  corner(last = false) {
    const f = this.data.frame;
    return last ? [f.xmax, f.ymin] : [f.xmin, f.ymax];
  }

  /** Uses the frame at the picture's original size. */
  frame() {
    const frames = this.data.frames || {};
    this.width = frames[this.image.naturalWidth] ? this.image.naturalWidth : Number(Object.keys(frames).at(-1));
    const { limits, ...box } = frames[this.width] || { limits: {} };
    this.data.frame = { ...box, xmin: limits.x_min, xmax: limits.x_max, ymin: limits.y_min, ymax: limits.y_max };
  }

  /** Uses the frame of a picture painted over the image at the same width. */
  move({ frame: { limits, ...box }, width }) {
    this.width = width;
    this.data.frame = { ...box, xmin: limits.x_min, xmax: limits.x_max, ymin: limits.y_min, ymax: limits.y_max };
  }

  mark(name) {
    const m = document.createElement("div");
    m.className = name;
    m.hidden = true;
    m.setAttribute("aria-hidden", "true");
    this.element.append(m);
    return m;
  }

  scale() {
    return this.image.clientWidth / this.width;
  }

  /** A place in the frame, as fractions of its width and height from the top left. */
  within(s, t) {
    const f = this.data.frame;
    return [part(s, f.xmin, f.xmax, f.log_x), 1 - part(t, f.ymin, f.ymax, f.log_y)];
  }

  /** Converts data coordinates to pixels of the displayed image. */
  pixel(s, t) {
    const f = this.data.frame, k = this.scale(), [x, y] = this.within(s, t);
    return [k * (f.left + x * f.width), k * (f.top + y * f.height)];
  }

  /** Converts data coordinates to percentages of the displayed image, which stay valid when it is resized. */
  share(s, t) {
    const f = this.data.frame, [width, height] = this.image.naturalWidth ? [this.image.naturalWidth, this.image.naturalHeight] : ["width", "height"].map((side) => Number(this.image.getAttribute(side)));
    const [x, y] = this.within(s, t);
    return [(100 / this.width) * (f.left + x * f.width), ((100 * width) / height / this.width) * (f.top + y * f.height)].map((v) => Math.min(100, Math.max(0, v)));
  }

  /** Converts a pointer event to data coordinates. */
  at(event) {
    const box = this.image.getBoundingClientRect();
    return this.value(event.clientX - box.left, event.clientY - box.top);
  }

  value(px, py) {
    const f = this.data.frame, k = this.scale();
    return [
      along((px / k - f.left) / f.width, f.xmin, f.xmax, f.log_x),
      along(1 - (py / k - f.top) / f.height, f.ymin, f.ymax, f.log_y),
    ];
  }

  inside([s, t]) {
    const f = this.data.frame;
    return f && s >= f.xmin && s <= f.xmax && t >= f.ymin && t <= f.ymax;
  }

  /** The index of the nearest point within reach pixels, or -1. */
  nearest([s, t], reach = 16) {
    const [px, py] = this.pixel(s, t);
    let best = -1, least = reach * reach;
    this.points.forEach((p, i) => {
      const [x, y] = this.pixel(p[0], p[1]);
      const d = (x - px) ** 2 + (y - py) ** 2;
      if (d <= least) [best, least] = [i, d];
    });
    return best;
  }

  /** Shows the details of a point; -1 clears them. */
  show(i, spoken = false) {
    if (i === this.current && i >= 0 && !spoken) return;
    this.current = i;
    this.halo.hidden = this.tip.hidden = i < 0;
    if (i < 0) {
      if (this.readout) this.readout.textContent = "";
      return;
    }
    const [x, y] = this.pixel(this.points[i][0], this.points[i][1]);
    this.place(this.halo, x, y);
    const lines = this.describe(i);
    this.say(lines, x, y);
    if (this.readout) this.readout.textContent = spoken ? lines.join(" · ") : "";
  }

  /** Shows lines in the tooltip beside a place in pixels. */
  say(lines, x, y) {
    this.tip.textContent = lines.join("\n");
    this.tip.style.top = `${y + 14}px`;
    const right = x > this.image.clientWidth - 250;
    this.tip.style.left = right ? "" : `${x + 14}px`;
    this.tip.style.right = right ? `${this.element.clientWidth - x + 14}px` : "";
  }

  place(mark, x, y) {
    mark.style.left = `${x}px`;
    mark.style.top = `${y}px`;
  }

  describe(i) {
    const [s, t, c, f, miss, weight, role, flags, predicted, scores] = this.points[i];
    const [xName, yName] = this.data.labels || ["x1", "x2"];
    const value = this.data.value; // points have a value instead of a class
    const row = this.data.rows?.[i] ?? i;
    const lines = [`Point ${row + 1}, ${value ? `${value} = ${brief(c)}` : `class ${classText(this.classes[c])}`}`, `${xName} = ${brief(s)}${yName ? `, ${yName} = ${brief(t)}` : ""}`];
    if (!this.data.model) return lines;
    if (scores) { // several machines
      lines.push(`predicted ${classText(predicted)}`, scores.map((f, k) => `${this.data.scores[k]} = ${brief(f)}`).join(", "));
    } else if (value) {
      lines.push(`f(x) = ${brief(f)}, residual t − f = ${brief(miss)}`);
    } else {
      const margin = this.data.signs[c] * f;
      lines.push(`f(x) = ${brief(f)}, margin y·f = ${brief(margin)}`);
      if (this.data.targets) lines.push(`residual y − f = ${brief(miss)}`);
      else lines.push(miss > 0 ? `slack = ${brief(miss)}` : "no slack");
    }
    if (role) lines.push(roles[role] ? `${roles[role]}, weight ${brief(weight)}` : `weight ${brief(weight)}`);
    const notes = [];
    if (flags & 1) notes.push("held out");
    if (flags & 2) notes.push("misclassified");
    if (flags & 4) notes.push("core of the map");
    if (notes.length) lines.push(notes.join(", "));
    return lines;
  }

  /** Shows lines about a place that has no point nearby. */
  tell(at, lines) {
    this.show(-1);
    const [x, y] = this.pixel(...at);
    const [xName, yName] = this.data.labels || ["x1", "x2"];
    this.say([`${xName} = ${brief(at[0])}${yName ? `, ${yName} = ${brief(at[1])}` : ""}`, ...lines], x, y);
    this.tip.hidden = false;
  }

  /**
   * Inspects points by pointer and keyboard. Where no point is near, calls elsewhere with the
   * place, and with nothing when the pointer leaves.
   */
  look(active = () => true, elsewhere = () => {}) {
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "application");
    this.element.setAttribute("aria-label", "Points of the picture: arrow keys go from point to point, Escape leaves");
    this.element.addEventListener("pointermove", (e) => {
      if (!active() || e.pointerType === "touch") return;
      const at = this.at(e), near = this.nearest(at);
      elsewhere(near < 0 && this.inside(at) ? at : null);
      if (near >= 0 || !this.inside(at)) this.show(near);
    });
    this.element.addEventListener("pointerdown", (e) => {
      if (!active()) return;
      const at = this.at(e), near = this.nearest(at, 24);
      elsewhere(near < 0 && this.inside(at) ? at : null);
      this.show(near, true);
    });
    this.element.addEventListener("pointerleave", () => {
      if (!active()) return;
      elsewhere(null);
      this.show(-1);
    });
    this.element.addEventListener("keydown", (e) => {
      if (!active() || !this.points.length || e.shiftKey) return;
      const axis = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 1], ArrowDown: [1, -1] }[e.key];
      if (e.key === "Escape") this.show(-1);
      if (!axis) return;
      e.preventDefault();
      this.show(this.next(...axis), true);
    });
    this.element.addEventListener("blur", () => {
      if (active()) this.show(-1);
    });
  }

  /** The point next to the current one when sorted by one coordinate. */
  next(k, step) {
    const order = this.points.map((_, i) => i).sort((a, b) => this.points[a][k] - this.points[b][k] || a - b);
    if (this.current < 0) return order[step > 0 ? 0 : order.length - 1];
    return order[(order.indexOf(this.current) + step + order.length) % order.length];
  }
}
