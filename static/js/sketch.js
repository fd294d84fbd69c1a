// Predictions drawn by hand: a curve over the horizontal axis of a picture, by pointer or arrow
// keys, before the picture reveals the true one.
import { typeset } from "./number.js";
import { Stage } from "./stage.js";

const svg = "http://www.w3.org/2000/svg";
const brief = (v) => String(Number(v.toPrecision(3)));

class Sketch {
  constructor(element) {
    this.element = element;
    this.box = element.querySelector("[name=answer]");
    const given = this.box.value.split(" ").map(Number);
    this.told = element.querySelector("[data-drawn]");
    this.clear = element.querySelector("[data-clear]");
    ({ x: this.x, over: this.over, of: this.of } = JSON.parse(element.dataset.sketch));
    this.y = this.x.map(() => null);
    this.box.closest("label").hidden = true;
    this.told.hidden = this.clear.hidden = false;
    this.stage = new Stage(element.querySelector(".stage"), null);
    this.reveal = element.querySelector("[type=submit]");
    this.reveal.hidden = this.answered = Boolean(element.closest("form").querySelector(".verdict"));
    if (!this.answered) this.begin(given);
    this.clear.addEventListener("click", () => this.begin());
  }

  /** Starts with an earlier drawing, or empty. */
  begin(given = []) {
    const blank = this.element.querySelector("template");
    this.stage.element.querySelector("picture").replaceWith(blank.content.cloneNode(true));
    this.stage.renew();
    this.clear.textContent = "Clear";
    this.reveal.hidden = false;
    this.element.closest("form").querySelector(".verdict")?.remove();
    this.layer?.remove();
    this.y = this.x.map((_, k) => (given.length === this.x.length ? given[k] : null));
    this.addLayer();
    this.stage.image.addEventListener("load", () => this.show());
    this.show();
  }

  addLayer() {
    this.layer = document.createElement("div");
    this.layer.className = "sketch-layer";
    this.lines = document.createElementNS(svg, "svg");
    this.lines.setAttribute("viewBox", "0 0 100 100");
    this.lines.setAttribute("preserveAspectRatio", "none");
    this.lines.setAttribute("aria-hidden", "true");
    this.line = document.createElementNS(svg, "polyline");
    this.lines.append(this.line);
    this.layer.append(this.lines);
    this.knots = this.x.map((x, k) => {
      const knot = document.createElement("div");
      knot.className = "knot handle";
      knot.setAttribute("role", "slider");
      knot.setAttribute("aria-orientation", "vertical");
      knot.setAttribute("aria-label", `${this.of} at ${this.over} = ${typeset(brief(x))}`);
      knot.tabIndex = k ? -1 : 0;
      this.layer.append(knot);
      return knot;
    });
    this.stage.element.append(this.layer);
    this.layer.addEventListener("pointerdown", (e) => this.press(e));
    this.layer.addEventListener("keydown", (e) => this.key(e));
  }

  /** Draws while the pointer is pressed. */
  press(pressed) {
    if (pressed.button || !pressed.isPrimary) return;
    pressed.preventDefault();
    this.layer.setPointerCapture(pressed.pointerId);
    let last = this.stage.at(pressed), moved = false;
    const near = this.nearest(last[0]);
    this.set(near, last[1]);
    const letGo = new AbortController();
    const to = (e) => {
      for (const now of e.getCoalescedEvents?.().length ? e.getCoalescedEvents() : [e]) {
        const at = this.stage.at(now);
        this.stroke(last, at);
        last = at;
      }
      moved = true;
      this.show();
    };
    this.layer.addEventListener("pointermove", to, letGo);
    for (const end of ["pointerup", "pointercancel"]) {
      this.layer.addEventListener(end, () => {
        letGo.abort();
        if (moved) this.set(this.nearest(last[0]), last[1]); // extend the stroke to its end
        this.show();
      }, letGo);
    }
    this.show();
  }

  /** Sets the height of the places that a stroke passes. */
  stroke(from, to) {
    const [a, b] = from[0] < to[0] ? [from, to] : [to, from];
    this.x.forEach((x, k) => {
      if (x >= a[0] && x <= b[0]) this.set(k, b[0] === a[0] ? to[1] : a[1] + ((x - a[0]) / (b[0] - a[0])) * (b[1] - a[1]));
    });
  }

  /** The place nearest to x on the screen. */
  nearest(x) {
    const left = (x) => this.stage.share(x, this.middle())[0];
    return this.x.reduce((best, v, k) => (Math.abs(left(v) - left(x)) < Math.abs(left(this.x[best]) - left(x)) ? k : best), 0);
  }

  /** Half the height of the picture, in view or not. */
  middle() {
    const { ymin, ymax, log_y } = this.stage.data.frame;
    return log_y ? Math.sqrt(ymin * ymax) : (ymin + ymax) / 2;
  }

  set(k, y) {
    const { ymin, ymax } = this.stage.data.frame;
    this.y[k] = Math.min(ymax, Math.max(ymin, y));
  }

  key(e) {
    const k = this.knots.indexOf(e.target), go = { ArrowLeft: k - 1, ArrowRight: k + 1, Home: 0, End: this.x.length - 1 }[e.key];
    const up = { ArrowUp: 1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[e.key];
    if (k < 0 || go === undefined && !up) return;
    e.preventDefault();
    e.stopPropagation();
    if (up) {
      const from = this.y[k] ?? this.y[k - 1] ?? this.middle(), [x, y] = this.stage.pixel(this.x[k], from);
      this.set(k, this.y[k] === null && this.y[k - 1] == null ? from : this.stage.value(x, y - (up * this.stage.image.clientHeight) / 60)[1]);
      this.show();
    } else this.focus(Math.min(this.x.length - 1, Math.max(0, go)));
  }

  focus(k) {
    this.knots.forEach((knot, i) => (knot.tabIndex = i === k ? 0 : -1));
    this.knots[k].focus();
  }

  show() {
    const { ymin, ymax } = this.stage.data.frame, points = [];
    this.x.forEach((x, k) => {
      const y = this.y[k], [left, top] = this.stage.share(x, y ?? this.middle()), knot = this.knots[k];
      knot.style.left = `${left}%`;
      knot.style.top = `${top}%`;
      knot.classList.toggle("open", y === null);
      knot.setAttribute("aria-valuemin", brief(ymin));
      knot.setAttribute("aria-valuemax", brief(ymax));
      knot.setAttribute("aria-valuenow", brief(y ?? this.middle()));
      knot.setAttribute("aria-valuetext", y === null ? "nothing drawn yet" : typeset(brief(y)));
      if (y !== null) points.push(`${left},${top}`);
    });
    this.line.setAttribute("points", points.join(" "));
    const missing = this.y.filter((y) => y === null).length;
    this.box.value = missing ? "" : this.y.map(brief).join(" ");
    this.told.textContent = !missing
      ? `Drawn. Change it, or press “${this.reveal.textContent.trim()}”.`
      : points.length
        ? `Go on: ${missing} of ${this.x.length} places are still open.`
        : "Draw across the picture with mouse, pen or finger; or take a circle and use the arrow keys: up and down move it, left and right go to the next.";
  }
}

/** Activates the sketches below an element. */
export const sketches = (root) => root.querySelectorAll("[data-sketch]").forEach((e) => new Sketch(e));
