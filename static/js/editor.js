// Editing points on the picture: add, move, remove, undo.

const depth = 100;

/** Holds the edited points; tells the page by calling changed(text, coarse). */
export class Editor {
  constructor(toolbar, form, changed) {
    this.toolbar = toolbar;
    this.form = form;
    this.changed = changed;
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
    document.addEventListener("keydown", (e) => this.shortcut(e));
    this.reflect();
  }

  /** Takes the stage of a new answer. */
  use(stage) {
    this.stage = stage;
    if (this.points === null) this.classes = [...stage.classes];
    stage.element.classList.toggle("editing", this.on);
    stage.element.addEventListener("pointerdown", (e) => this.down(e));
    stage.element.addEventListener("pointermove", (e) => this.move(e));
    stage.element.addEventListener("pointerup", (e) => this.up(e));
    stage.element.addEventListener("pointercancel", (e) => this.up(e));
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
    this.reflect();
  }

  begin() {
    if (this.points === null) this.points = this.stage.points.map((p) => [p[0], p[1], p[2]]);
    this.past.push(this.points.map((p) => [...p]));
    if (this.past.length > depth) this.past.shift();
    this.future = [];
  }

  done(coarse = false) {
    this.changed(this.text(), coarse);
    this.reflect();
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

  /** The points as they are now, for finding the nearest while an answer is under way. */
  sync() {
    if (this.points) this.stage.points = this.points;
  }

  down(e) {
    if (!this.on || e.button !== 0) return;
    const at = this.stage.at(e);
    if (!this.stage.inside(at)) return;
    e.preventDefault();
    this.stage.element.focus({ preventScroll: true });
    this.sync();
    const near = this.stage.nearest(at, e.pointerType === "touch" ? 24 : 12);
    if (e.ctrlKey || e.metaKey) return this.remove(this.stage.nearest(at, Infinity));
    if (near >= 0 && !e.shiftKey) {
      this.begin();
      this.drag = near;
      document.body.setPointerCapture?.(e.pointerId);
      this.following = (m) => this.move(m);
      this.ending = (m) => this.up(m);
      document.addEventListener("pointermove", this.following);
      document.addEventListener("pointerup", this.ending);
      return;
    }
    this.add(at, e.shiftKey ? (this.active + 1) % this.classes.length : this.active);
  }

  move(e) {
    if (this.drag < 0 || e.timeStamp === this.last) return;
    this.last = e.timeStamp;
    const f = this.stage.data.frame;
    const [s, t] = this.stage.at(e);
    const p = this.points[this.drag];
    [p[0], p[1]] = [tidy(Math.min(f.xmax, Math.max(f.xmin, s))), tidy(Math.min(f.ymax, Math.max(f.ymin, t)))];
    this.showDrag();
    this.changed(this.text(), true);
  }

  up() {
    if (this.drag < 0) return;
    this.drag = -1;
    document.removeEventListener("pointermove", this.following);
    document.removeEventListener("pointerup", this.ending);
    this.stage.show(-1);
    this.done();
  }

  showDrag() {
    const p = this.points[this.drag];
    this.stage.halo.hidden = false;
    this.stage.place(this.stage.halo, ...this.stage.pixel(p[0], p[1]));
  }

  /** Keys while the picture has the focus. */
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
    }
  }

  showCursor(spoken = false) {
    this.ghost?.remove();
    this.ghost = this.stage.mark("ghost");
    this.ghost.hidden = false;
    this.stage.place(this.ghost, ...this.stage.pixel(...this.cursor));
    if (spoken && this.stage.readout) {
      const [s, t] = this.cursor.map((v) => Number(v.toPrecision(4)));
      this.stage.readout.textContent = `Cursor at ${s}, ${t}. Enter adds class ${this.classes[this.active]}, Delete removes the nearest point.`;
    }
  }

  shortcut(e) {
    if (e.target.closest("input, textarea, select")) return;
    if (!(e.ctrlKey || e.metaKey)) return;
    const key = e.key.toLowerCase();
    if (key === "z" && !e.shiftKey) this.undo();
    else if (key === "y" || (key === "z" && e.shiftKey)) this.redo();
    else return;
    e.preventDefault();
  }

  /** Makes class c the one that new points get; a new class is made where it is the next. */
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
    for (const act of ["undo", "redo", "clear"]) {
      this.toolbar.querySelector(`[data-act="${act}"]`).hidden = !this.on && !this.past.length && !this.future.length;
    }
    this.toolbar.querySelector('[data-act="undo"]').disabled = !this.past.length;
    this.toolbar.querySelector('[data-act="redo"]').disabled = !this.future.length;
    this.reflectClasses(this.toolbar.querySelector("[data-classes]"));
  }

  /** A button stays the same element through all answers: one that is replaced between press and release loses its click. */
  reflectClasses(group) {
    const wanted = [...this.classes, ...(this.classes.length < 9 ? [null] : [])];
    while (group.children.length > wanted.length) group.lastElementChild.remove();
    wanted.forEach((name, i) => this.labelClass(group.children[i] ?? this.classButton(group, i), name, i));
    group.hidden = !this.on;
  }

  /** Labels button b for class i; the name null is for a class to be made. */
  labelClass(b, name, i) {
    if (b.textContent !== (name ?? "+")) b.textContent = name ?? "+";
    b.title = name === null ? "Another class" : `Class ${name}, key ${i + 1}`;
    b.setAttribute("aria-label", name === null ? "Another class" : `Class ${name}`);
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
