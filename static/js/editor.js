// The point editor: add, paint, move, remove, undo.
import { brief, classText } from "./number.js";

const depth = 100; // maximum number of undo steps
const most = 2000; // maximum number of points
const keptChars = 1 << 20; // maximum size of the steps kept over a reload
const apart = 16; // pixels between the points of a brush stroke
const spread = 14; // pixels, radius of a spray
const pause = 60; // ms between the points of a spray at rest
const unrest = 0.02; // jitter of points, as a fraction of the frame

/**
 * Holds the edited points and calls changed(text, coarse) on every change. frame is the
 * picture's, and stays fixed while points change.
 */
export class Editor {
  constructor(toolbar, form, frame, changed) {
    this.toolbar = toolbar;
    this.form = form;
    this.frame = frame;
    this.changed = changed;
    this.tool = "point";
    this.on = false;
    this.active = 0;
    this.past = [];
    this.future = [];
    this.points = null; // [s, t, class]; null: not edited yet
    this.classes = [];
    this.drag = -1;
    this.cursor = null;
    toolbar.hidden = false;
    toolbar.addEventListener("click", (e) => {
      const act = e.target.closest("[data-act]")?.dataset.act;
      if (act) this[act]();
    });
    const tools = toolbar.querySelector("[data-tool]");
    tools.value = this.tool; // overrides the value restored by the browser
    tools.addEventListener("change", () => this.take(tools.value));
    document.addEventListener("keydown", (e) => this.shortcut(e));
    this.restore();
    this.reflect();
  }

  /** The session storage key of the undo steps. */
  get shelf() {
    return `steps ${this.form.elements.data?.value ?? location.pathname}`;
  }

  /** Stores the undo steps; whole: with the points, which are too long for the URL. */
  keep(whole = false) {
    if (!this.points) return;
    const { classes, points, past, future } = this;
    const steps = { text: this.text(), hash: this.form.elements.hash?.value, classes, points, past: [...past], future: [...future], whole };
    let kept = JSON.stringify(steps);
    while (kept.length > keptChars && steps.past.length + steps.future.length) {
      steps.past = steps.past.slice(Math.ceil(steps.past.length / 2)); // keep the latest
      steps.future = steps.future.slice(Math.ceil(steps.future.length / 2));
      kept = JSON.stringify(steps);
    }
    try {
      sessionStorage.setItem(this.shelf, kept);
    } catch {
      // storage full or disabled: undo starts afresh after a reload
    }
  }

  /** Restores the undo steps if the page shows the points they lead to. */
  restore() {
    let steps;
    try {
      steps = JSON.parse(sessionStorage.getItem(this.shelf));
    } catch {
      return;
    }
    const field = this.form.elements.points, again = performance.getEntriesByType("navigation")[0]?.type !== "navigate";
    if (!steps || !field) return;
    if (steps.text !== field.value.trim().replaceAll("\r", "") && !(steps.whole && again)) return;
    const { classes, points, past, future } = steps;
    Object.assign(this, { classes, points, past, future });
    this.lost = steps.text !== field.value.trim().replaceAll("\r", "") ? steps.text : null; // points too long for the URL
    if (this.lost && steps.hash) this.form.elements.hash.value = steps.hash;
  }

  /** Adopts the stage of a new answer. */
  use(stage) {
    this.stage = stage;
    if (this.points === null) this.classes = [...stage.classes];
    stage.element.classList.toggle("editing", this.on);
    stage.element.addEventListener("pointerdown", (e) => this.down(e));
    stage.element.addEventListener("contextmenu", (e) => this.on && e.ctrlKey && e.preventDefault());
    stage.element.addEventListener("keydown", (e) => this.key(e));
    if (this.cursor) this.showCursor();
    if (this.drag >= 0) this.showDrag();
    this.reflect();
  }

  edit() {
    this.on = !this.on;
    this.stage.element.classList.toggle("editing", this.on);
    this.stage.show(-1);
    this.cursor = null;
    this.ghost?.remove();
    this.ghost = null;
    this.reflect();
  }

  begin() {
    this.frame.hold();
    if (this.points === null) this.points = this.stage.points.map((p) => [p[0], p[1], p[2]]);
    this.past.push(this.points.map((p) => [...p]));
    if (this.past.length > depth) this.past.shift();
    this.future = [];
  }

  done(coarse = false) {
    this.changed(this.text(), coarse);
    if (!coarse) this.keep();
    this.reflect();
  }

  take(tool) {
    this.tool = tool;
    this.toolbar.querySelector("[data-tool]").value = tool;
  }

  /** Jitters every point. */
  jitter() {
    this.begin();
    const f = this.stage.data.frame;
    this.points = this.points.map(([s, t, c]) => [tidy(s + unrest * (f.xmax - f.xmin) * normal()), tidy(t + unrest * (f.ymax - f.ymin) * normal()), c]);
    this.done();
  }

  text() {
    const quote = (s) => (/[",\n]/.test(s) || s.trim() !== s ? `"${s.replaceAll('"', '""')}"` : s);
    return this.points.map((p) => `${p[0]},${p[1]},${quote(this.classes[p[2]])}`).join("\n");
  }

  undo() {
    if (!this.past.length) return;
    this.future.push(this.points);
    this.points = this.past.pop();
    this.done();
  }

  redo() {
    if (!this.future.length) return;
    this.past.push(this.points);
    this.points = this.future.pop();
    this.done();
  }

  clear() {
    this.begin();
    this.points = [];
    this.done();
  }

  add(at, c = this.active) {
    if (this.stage.points.length >= most) return;
    this.begin();
    this.points.push([...at.map(tidy), c]);
    this.done();
  }

  remove(i) {
    if (i < 0) return;
    this.begin();
    this.points.splice(i, 1);
    this.stage.show(-1);
    this.done();
  }

  /** The current points, for finding the nearest while a request is pending. */
  sync() {
    if (this.points) this.stage.points = this.points;
  }

  down(e) {
    if (!this.on || e.button !== 0 || this.drag >= 0 || this.painted || this.frame.fingers.size > 1) return;
    const at = this.stage.at(e);
    this.touched = false;
    if (!this.stage.inside(at)) return;
    e.preventDefault();
    this.touched = e.pointerType === "touch"; // a second finger may follow
    if (this.touched) setTimeout(() => (this.touched = false), 400);
    this.stage.element.focus({ preventScroll: true });
    this.sync();
    const near = this.stage.nearest(at, e.pointerType === "touch" ? 24 : 12);
    if (e.ctrlKey || e.metaKey) return this.remove(this.stage.nearest(at, Infinity));
    if (this.tool !== "point") this.stroke(e, at);
    else if (near >= 0 && !e.shiftKey) this.grip(near);
    else return this.add(at, e.shiftKey ? (this.active + 1) % this.classes.length : this.active);
    document.body.setPointerCapture?.(e.pointerId);
    this.following = (m) => m.pointerId === e.pointerId && this.move(m);
    this.ending = (m) => m.pointerId === e.pointerId && this.up(m);
    document.addEventListener("pointermove", this.following);
    document.addEventListener("pointerup", this.ending);
    document.addEventListener("pointercancel", this.ending);
  }

  /** Starts dragging a point. */
  grip(i) {
    this.begin();
    this.drag = i;
  }

  /** Starts painting. */
  stroke(e, at) {
    this.begin();
    this.painted = { c: e.shiftKey ? (this.active + 1) % this.classes.length : this.active, at: null, now: at };
    this.paint(at);
    if (this.tool === "spray") this.painted.timer = setInterval(() => this.paint(this.painted.now), pause);
  }

  /** Paints along the way to a place: a brush at intervals, a spray around it. */
  paint(at) {
    const p = this.painted, px = this.stage.pixel(...at);
    p.now = at;
    const put = (x, y) => {
      const place = this.stage.value(x, y);
      if (this.points.length < most && this.stage.inside(place)) this.points.push([...place.map(tidy), p.c]);
    };
    if (this.tool === "spray") {
      put(px[0] + spread * normal(), px[1] + spread * normal());
    } else if (!p.at) {
      put(...px);
      p.at = px;
    } else {
      for (let way; (way = Math.hypot(px[0] - p.at[0], px[1] - p.at[1])) >= apart; ) {
        p.at = p.at.map((v, k) => v + ((px[k] - v) * apart) / way);
        put(...p.at);
      }
    }
    this.changed(this.text(), true);
  }

  move(e) {
    if ((this.drag < 0 && !this.painted) || e.timeStamp === this.last) return;
    this.last = e.timeStamp;
    const at = this.stage.at(e);
    if (this.painted) return this.paint(at);
    [this.points[this.drag][0], this.points[this.drag][1]] = at.map(tidy);
    this.showDrag();
    this.changed(this.text(), true);
  }

  /** Ends a drag; the frame grows to include a point dropped outside it. */
  up() {
    if (this.drag < 0 && !this.painted) return;
    if (this.drag >= 0) this.frame.include(this.points[this.drag]);
    this.letGo();
    this.done();
  }

  /** Undoes what the first finger of a pinch began. */
  cancel() {
    if (!this.on || !this.past.length || !(this.drag >= 0 || this.painted || this.touched)) return;
    this.letGo();
    this.points = this.past.pop();
    this.done();
  }

  letGo() {
    this.drag = -1;
    clearInterval(this.painted?.timer);
    this.painted = null;
    document.removeEventListener("pointermove", this.following);
    document.removeEventListener("pointerup", this.ending);
    document.removeEventListener("pointercancel", this.ending);
    this.stage.show(-1);
  }

  showDrag() {
    const p = this.points[this.drag];
    this.stage.halo.hidden = false;
    this.stage.place(this.stage.halo, ...this.stage.pixel(p[0], p[1]));
  }

  /** Handles keys while the picture has the focus. */
  key(e) {
    if (!this.on) return;
    const f = this.stage.data.frame;
    const step = e.shiftKey ? 0.005 : 0.025;
    const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    if (by) {
      e.preventDefault();
      const c = this.cursor || [(f.xmin + f.xmax) / 2, (f.ymin + f.ymax) / 2];
      this.cursor = [
        Math.min(f.xmax, Math.max(f.xmin, c[0] + by[0] * step * (f.xmax - f.xmin))),
        Math.min(f.ymax, Math.max(f.ymin, c[1] + by[1] * step * (f.ymax - f.ymin))),
      ];
      this.showCursor(true);
    } else if ((e.key === "Enter" || e.key === " ") && this.cursor) {
      e.preventDefault();
      this.add(this.cursor);
    } else if (e.key === "Delete" || e.key === "Backspace") {
      e.preventDefault();
      this.sync();
      this.remove(this.stage.nearest(this.cursor || [f.xmin, f.ymin], Infinity));
    } else if (/^[1-9]$/.test(e.key)) {
      this.choose(Number(e.key) - 1);
    } else if (!e.ctrlKey && !e.metaKey && !e.altKey) {
      const key = e.key.toLowerCase(), tool = { p: "point", b: "brush", s: "spray" }[key];
      if (tool) this.take(tool);
      if (key === "j") this.jitter();
    }
  }

  showCursor(spoken = false) {
    this.ghost?.remove();
    this.ghost = this.stage.mark("ghost");
    this.ghost.hidden = false;
    this.stage.place(this.ghost, ...this.stage.pixel(...this.cursor));
    if (spoken && this.stage.readout) {
      const [s, t] = this.cursor.map((v) => brief(v, 4));
      this.stage.readout.textContent = `Cursor at ${s}, ${t}. Enter adds class ${classText(this.classes[this.active])}, Delete removes the nearest point.`;
    }
  }

  shortcut(e) {
    if (e.target.closest("input, textarea, select")) return;
    const key = e.key.toLowerCase();
    if (!(e.ctrlKey || e.metaKey)) {
      if (key === "e" && !e.altKey) this.edit();
      return;
    }
    if (key === "z" && !e.shiftKey) this.undo();
    else if (key === "y" || (key === "z" && e.shiftKey)) this.redo();
    else return;
    e.preventDefault();
  }

  /** Selects the class of new points; the next unused number adds a class. */
  choose(c) {
    if (c > this.classes.length || c > 8) return;
    if (c === this.classes.length) {
      let name = c + 1;
      while (this.classes.includes(String(name))) name++;
      this.classes.push(String(name));
    }
    this.active = c;
    if (!this.on) this.edit();
    this.reflect();
  }

  reflect() {
    const press = (act, on) => this.toolbar.querySelector(`[data-act="${act}"]`).setAttribute("aria-pressed", on);
    press("edit", this.on);
    for (const act of ["undo", "redo", "clear", "jitter"]) {
      this.toolbar.querySelector(`[data-act="${act}"]`).hidden = !this.on && (act === "jitter" || (!this.past.length && !this.future.length));
    }
    this.toolbar.querySelector("[data-tool]").hidden = !this.on;
    this.toolbar.querySelector('[data-act="undo"]').disabled = !this.past.length;
    this.toolbar.querySelector('[data-act="redo"]').disabled = !this.future.length;
    this.reflectClasses(this.toolbar.querySelector("[data-classes]"));
  }

  /** Reuses buttons across answers: one replaced between press and release would lose its click. */
  reflectClasses(group) {
    const wanted = [...this.classes, ...(this.classes.length < 9 ? [null] : [])];
    while (group.children.length > wanted.length) group.lastElementChild.remove();
    wanted.forEach((name, i) => this.labelClass(group.children[i] ?? this.classButton(group, i), name, i));
    group.hidden = !this.on;
  }

  /** Labels button b for class i; a null name stands for a new class. */
  labelClass(b, name, i) {
    const text = name === null ? "+" : classText(name);
    if (b.textContent !== text) b.textContent = text;
    b.title = name === null ? "Another class" : `Class ${text}, key ${i + 1}`;
    b.setAttribute("aria-label", name === null ? "Another class" : `Class ${text}`);
    if (name === null) {
      b.removeAttribute("role");
      b.removeAttribute("aria-checked");
    } else {
      b.setAttribute("role", "radio");
      b.setAttribute("aria-checked", i === this.active);
    }
  }

  classButton(group, i) {
    const b = document.createElement("button");
    b.type = "button";
    b.dataset.class = i;
    b.addEventListener("click", () => this.choose(i));
    group.append(b);
    return b;
  }
}

const tidy = (v) => Number(v.toPrecision(5));

/** Draws from the standard normal distribution (Box-Muller). */
const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
