// Live lessons: demos respond to every change, algorithms run step by step, questions are
// answered in place.
import { explore } from "./explore.js";
import { watchFormulas } from "./formulas.js";
import { Live, fragment } from "./live.js";
import { brief } from "./number.js";
import { addSliders } from "./sliders.js";
import { sketches } from "./sketch.js";
import { Stage } from "./stage.js";

const darkness = matchMedia("(prefers-color-scheme: dark)");
const tall = matchMedia("(max-aspect-ratio: 3/2)");
const typing = "input, select, textarea, [role=slider], .handle";
const ahead = 12; // states of a replay requested at once

/** A demo: controls, exhibit, steps and draggable handles. */
class Demo {
  constructor(form) {
    this.form = form;
    this.slide = form.closest("[data-slide]");
    this.states = new Map(); // prefetched states
    this.shown = Promise.resolve();
    this.showing = 0;
    this.exhibit = form.querySelector(".exhibit");
    const body = (coarse) => {
      const asked = this.body(coarse);
      this.asked = String(this.drawn);
      return asked;
    };
    this.live = new Live(form.dataset.live, body, (r) => this.queue(() => this.receive(r)), this.exhibit, form.querySelector("[data-status]"));
    if (this.slide) this.exhibit.addEventListener("load", () => this.fit(), true);
    form.classList.add("live");
    addSliders(form);
    this.replay = form.querySelector(".replay") && new Replay(form.querySelector(".replay"), this);
    this.layer = document.createElement("div");
    this.layer.className = "handles";
    form.addEventListener("dragstart", (e) => e.preventDefault()); // the image below a handle
    this.useStage();
    form.addEventListener("pointerdown", (e) => this.turn(e));
    form.addEventListener("click", (e) => { // a tap on the picture moves what alone can be dragged there
      const handles = this.layer.children;
      if (handles.length !== 1 || e.target.closest(".stage") !== this.stage?.element || e.target.closest(".handle, .turns")) return;
      const to = this.stage.at(e);
      if (this.stage.within(...to).every((s) => s >= 0 && s <= 1)) this.move(handles[0], to, false);
    });
    form.addEventListener("input", (e) => {
      if (e.target.matches("[data-speed]")) return;
      this.replay?.pause();
      this.live.ask(Boolean(e.detail?.coarse));
    });
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const { submitter } = e;
      if (submitter?.matches("[data-move]")) {
        this.form.querySelector(`input[name="${submitter.name}"]`).value = submitter.value;
        this.made = submitter;
      }
      if (!submitter?.dataset.go) this.live.ask(false);
    });
  }

  body(coarse) {
    const data = new URLSearchParams();
    for (const [name, value] of new FormData(this.form)) if (!data.has(name)) data.append(name, value);
    if (this.replay) data.set("step", this.replay.at);
    if (darkness.matches) data.set("dark", "1");
    if (coarse) data.set("coarse", "1");
    const [width, height] = this.size() || [];
    if (width) {
      data.set("width", width);
      data.set("height", height);
    }
    return data;
  }

  /** On a slide, the size to draw pictures at so that their letters match the text. */
  size() {
    const figure = this.slide && [...this.exhibit.querySelectorAll(".figure")].find((f) => f.clientWidth);
    if (figure) {
      const wanted = Math.floor((figure.querySelector("img").clientWidth * 12) / Math.max(18, parseFloat(getComputedStyle(this.slide).fontSize)));
      const width = Math.min(1200, Math.max(240, wanted)); // the server omits text and second panels of smaller pictures
      this.drawn = [width, Math.round(width * (tall.matches ? 494 / 420 : 446 / 500))];
    }
    return this.drawn;
  }

  /** Requests pictures again when another part of a slide needs another size. */
  resize() {
    const figure = [...this.exhibit.querySelectorAll(".figure")].find((f) => f.clientWidth);
    const { naturalWidth: w, naturalHeight: h } = figure?.querySelector("img") || {}, [width, height] = this.size() || [];
    if (w && (width < 0.99 * w || width > 1.12 * w || Math.abs((width * h) / (w * height) - 1) > 0.02)) this.live.ask(false);
  }

  /** The same for a picture that arrives after its space changed, once per size. */
  fit() {
    if (String(this.size()) !== this.asked) this.resize();
  }

  /** Shows the current step of the replay, from the cache when its state is already there. */
  step() {
    const asked = this.body(false), step = Number(asked.get("step"));
    asked.delete("step");
    if (asked.toString() !== this.states.of) (this.states = new Map()).of = asked.toString();
    if (!this.come()) this.live.ask(false);
    this.lookAhead(asked, step);
  }

  /** Shows the current step of the replay if its state is cached; returns whether it was. */
  come() {
    const reply = this.states.get(this.replay.at);
    if (!reply) return false;
    this.live.drop();
    this.showing++;
    this.queue(() => this.receive(reply)).catch(() => {}).finally(() => this.showing--);
    return true;
  }

  /** Shows the states in order, waiting for each picture. */
  queue(show) {
    const shown = this.shown.then(show);
    this.shown = shown.catch(() => {});
    return shown;
  }

  lookAheadNow() {
    const asked = this.body(false);
    asked.delete("step");
    (this.states = new Map()).of = asked.toString();
    this.lookAhead(asked, this.replay.at);
  }

  /** Prefetches the next states. */
  async lookAhead(asked, step) {
    const { states } = this;
    let missing = step + 1;
    while (states.has(missing)) missing++;
    if (states.asking || missing > this.replay.last || missing > step + ahead / 2) return;
    states.asking = true;
    asked.set("step", missing);
    asked.set("ahead", ahead);
    try {
      const response = await fetch(this.form.dataset.live.replace(/live$/, "states"), { method: "POST", body: asked });
      if (response.status === 200) for (const s of (await response.json()).states) states.set(s.step, s);
    } catch {
      // each step is then requested
    }
    states.asking = false;
    const now = this.body(false);
    now.delete("step");
    if (this.states === states && now.toString() === states.of && !this.live.idle) this.come();
  }

  async receive(reply) {
    this.report(reply);
    if (reply.problem) throw new Error(reply.problem);
    const fresh = await fragment(reply.html);
    const open = [...this.exhibit.querySelectorAll("details")].map((d) => d.open);
    this.form.style.minHeight = `${this.form.offsetHeight}px`; // keep the page from jumping if the answer is smaller
    const made = document.activeElement.matches("[data-move]") && this.made;
    const read = !this.slide && document.activeElement.closest(".question"), top = read && read.getBoundingClientRect().top;
    this.renew(fresh);
    watchFormulas(this.exhibit);
    this.exhibit.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? d.open));
    this.replay?.show(reply.step, reply.steps);
    this.useStage();
    if (made) this.playOn(made);
    if (!this.live.next) this.made = null;
    this.form.style.minHeight = "";
    if (read) scrollBy({ top: read.getBoundingClientRect().top - top, behavior: "instant" }); // keep a verdict in place
    if (this.slide) this.fit();
    const screen = this.form.elements.namedItem("screen");
    const query = [screen && reply.query && `screen=${screen.value}`, reply.query].filter(Boolean).join("&");
    const carried = new URLSearchParams(reply.query);
    carried.delete("step");
    carried.delete("everything");
    const lesson = (path) => path.split("/")[2];
    for (const link of document.querySelectorAll("a[data-carry]")) {
      if (lesson(link.pathname) === lesson(location.pathname)) link.search = carried.toString();
    }
    history.replaceState(history.state, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
    document.dispatchEvent(new Event("changed"));
  }

  /** Keeps the focus on the move just made or its replacement, or on the note when no move is left. */
  playOn(made) {
    const moves = [...this.exhibit.querySelectorAll("[data-move]")], k = [...made.parentNode.children].indexOf(made);
    const to = moves.find((m) => m.textContent === made.textContent) || moves[k] || moves.at(-1) || this.exhibit.querySelector(".note");
    if (!moves.length && to) to.tabIndex = -1;
    to?.focus();
  }

  /** Replaces the exhibit. The stage element stays, since a handle on it may be held. */
  renew(fresh) {
    const stage = this.exhibit.querySelector(".stage"), next = fresh.querySelector(".stage");
    if (!stage || !next) return this.exhibit.replaceChildren(fresh);
    stage.dataset.stage = next.dataset.stage;
    stage.querySelector("picture").replaceWith(next.querySelector("picture"));
    for (let kept = stage, now = next; kept !== this.exhibit; kept = kept.parentNode, now = now.parentNode) {
      surround(kept, now);
      if (kept !== stage) kept.className = now.className; // it may have become rotatable, or no longer be
    }
  }

  /** Shows errors beside their controls. */
  report(reply) {
    for (const field of this.form.querySelectorAll("[data-field]")) {
      const error = field.querySelector("[data-error-of]");
      const message = reply.errors[field.dataset.field] || "";
      error.textContent = message;
      error.hidden = !message;
      field.querySelector("input[name], select")?.setAttribute("aria-invalid", String(Boolean(message)));
    }
  }

  useStage() {
    const element = this.exhibit.querySelector(".stage");
    if (!element) return (this.stage = null);
    if (element === this.stage?.element) this.stage.renew();
    else {
      this.stage = new Stage(element, null);
      element.append(this.layer);
    }
    const wanted = this.stage.data.handles || [];
    while (this.layer.children.length > wanted.length) this.layer.lastChild.remove();
    wanted.forEach((h, i) => {
      const handle = this.layer.children[i] || this.addHandle();
      handle.setAttribute("aria-label", `${h.label}, at ${brief(h.x, 3)}, ${brief(h.y, 3)}; arrow keys move it`);
      handle.title = h.label;
      const moved = handle === this.dragged || this.live.next; // a late answer must not move it
      if (!moved || !handle.at) handle.at = [h.x, h.y];
      handle.params = [h.x_param, h.y_param];
      handle.down = h.down || 0;
    });
    this.stage.image.addEventListener("load", () => this.place());
    this.place();
  }

  place() {
    if (!this.stage || !this.layer.children.length) return;
    for (const handle of this.layer.children) {
      const [x, y] = this.stage.share(handle.at[0], handle.at[1] + handle.down);
      handle.style.left = `${x}%`;
      handle.style.top = `${y}%`;
    }
  }

  addHandle() {
    const handle = document.createElement("button");
    handle.type = "button";
    handle.className = "handle";
    this.layer.append(handle);
    handle.addEventListener("pointerdown", (e) => {
      handle.setPointerCapture(e.pointerId);
      this.dragged = handle;
    });
    handle.addEventListener("lostpointercapture", () => {
      if (this.dragged === handle) this.dragged = null;
    });
    handle.addEventListener("pointermove", (e) => {
      if (this.dragged === handle) this.move(handle, this.stage.at(e), true);
    });
    handle.addEventListener("pointerup", (e) => {
      if (this.dragged !== handle) return;
      this.dragged = null;
      this.move(handle, this.stage.at(e), false);
    });
    handle.addEventListener("keydown", (e) => {
      const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key] || [];
      if (dx === undefined) return;
      e.preventDefault();
      const f = this.stage.data.frame, part = e.shiftKey ? 8 : 40;
      const by = [(dx * (f.xmax - f.xmin)) / part, (dy * (f.ymax - f.ymin)) / part];
      this.move(handle, by.map((d, k) => handle.at[k] + (this.range(handle, k)?.step ? Math.sign(d) * Math.max(1, Math.abs(d)) : d)), false);
    });
    return handle;
  }

  /** Rotates a 3-D picture while it is dragged. */
  turn(pressed) {
    const boxes = ["yaw", "pitch"].map((name) => this.form.elements.namedItem(name));
    if (!boxes[0] || pressed.button || !pressed.target.closest(".turns picture, .turns .stage") || pressed.target.closest(".handle")) return;
    const from = boxes.map((box) => Number(box.value)), letGo = new AbortController();
    const tell = (coarse) => boxes.forEach((box) => box.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: { coarse } })));
    addEventListener("pointermove", (e) => {
      if (e.pointerId !== pressed.pointerId) return;
      const yaw = from[0] - (e.clientX - pressed.clientX) / 2, // the front side follows the pointer
        pitch = from[1] + (e.clientY - pressed.clientY) / 2;
      boxes[0].value = Math.round(((yaw + 540) % 360 + 360) % 360 - 180);
      boxes[1].value = Math.round(Math.min(90, Math.max(1, pitch)));
      tell(true);
    }, letGo);
    for (const end of ["pointerup", "pointercancel"]) { // pointercancel: a finger that scrolls
      addEventListener(end, (e) => {
        if (e.pointerId !== pressed.pointerId) return;
        letGo.abort();
        tell(false);
      }, letGo);
    }
  }

  /** The range of the control that a handle moves, and its step if it is an integer. */
  range(handle, k) {
    return this.form.elements.namedItem(handle.params[k])?.closest(".slider").dataset;
  }

  /** Moves a handle within the range of its controls. */
  move(handle, to, coarse) {
    handle.params.forEach((name, k) => {
      if (!name) return;
      const box = this.form.elements.namedItem(name);
      const { low, high, step } = this.range(handle, k), wanted = step ? Math.round(to[k]) : to[k];
      const value = low === "" ? wanted : Math.min(Number(high), Math.max(Number(low), wanted));
      handle.at[k] = value;
      box.value = String(Number(value.toPrecision(3)));
      box.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: { coarse } }));
    });
    this.place();
  }
}

/** Replaces everything around an element by what surrounds its counterpart, leaving the element untouched. */
function surround(kept, now) {
  const siblings = [...now.parentNode.childNodes], at = siblings.indexOf(now);
  for (const n of [...kept.parentNode.childNodes]) if (n !== kept) n.remove();
  kept.before(...siblings.slice(0, at));
  kept.after(...siblings.slice(at + 1));
}

/** The steps of an algorithm. */
class Replay {
  constructor(element, demo) {
    this.element = element;
    this.demo = demo;
    this.live = demo.live;
    this.go = (name) => element.querySelector(`[data-go="${name}"]`);
    this.run = this.go("run");
    this.speed = element.querySelector("[data-speed]");
    this.run.hidden = false;
    this.speed.closest("label").hidden = false;
    this.show(Number(element.dataset.step), Number(element.dataset.steps));
    element.addEventListener("click", (e) => {
      const to = { start: () => 0, back: () => this.at - 1, step: () => this.at + 1, end: () => this.last }[e.target.dataset.go];
      if (to) {
        e.preventDefault();
        this.pause();
        this.to(to());
      } else if (e.target === this.run) this.timer ? this.pause() : this.play();
    });
    this.speed.addEventListener("change", () => this.timer && this.play());
  }

  to(step) {
    this.at = Math.min(this.reach, Math.max(0, step));
    this.demo.step();
  }

  get lines() {
    return [...this.demo.exhibit.querySelectorAll(".derivation > li")];
  }

  /** The index of a line of the derivation, or -1. */
  line(slug) {
    return slug ? this.lines.findIndex((li) => li.dataset.line === slug) : -1;
  }

  /** The last state not held back by a question. */
  get reach() {
    const screen = this.element.closest("[data-folded]");
    const waiting = [...(screen?.querySelectorAll("[data-before]:not([data-passed])") || [])].filter((q) => !q.querySelector(".verdict"));
    return Math.min(this.last, ...waiting.map((q) => this.line(q.dataset.before) - 1).filter((k) => k >= 0));
  }

  /** Marks the line that waits for an answer and stops the buttons there. */
  mark() {
    const { reach, shown } = this, focused = document.activeElement;
    this.lines.forEach((li, k) => li.classList.toggle("waits", k === reach + 1));
    for (const name of ["start", "back"]) this.go(name).disabled = shown === 0;
    for (const name of ["step", "end"]) this.go(name).disabled = shown >= reach;
    if (focused?.disabled && this.element.contains(focused)) this.run.focus(); // keep the focus here
  }

  /** Continues to the line that waited for an answer if it is next, and returns true; otherwise unlocks it. */
  released() {
    const waited = this.lines.findIndex((li) => li.classList.contains("waits"));
    this.mark();
    if (waited < 1 || waited > this.reach || this.at !== waited - 1) return false;
    this.to(waited);
    return true;
  }

  play() {
    clearInterval(this.timer);
    if (this.at >= this.last) this.to(0);
    this.run.textContent = "Pause";
    this.timer = setInterval(() => {
      if (this.at >= this.reach) this.pause();
      else if (this.live.idle && !this.demo.showing) this.to(this.at + 1);
    }, Number(this.speed.value));
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.run.textContent = "Run";
  }

  show(step, steps) {
    this.last = Math.max(0, steps - 1);
    this.shown = step;
    if (!this.live.next && !this.demo.showing) this.at = step; // otherwise a request is under way
    this.element.querySelector("[data-count]").textContent = "lines" in this.element.dataset ? `line ${step + 1} of ${steps}` : `step ${step} of ${this.last}`;
    this.mark();
    document.dispatchEvent(new Event("stepped"));
  }
}

/** The demos of the page. */
let demos = [];

/** Activates everything below an element. */
export function mount(root) {
  demos.forEach((d) => d.replay?.pause());
  watchFormulas(root);
  sketches(root);
  demos = [...root.querySelectorAll("form.demo")].map((form) => new Demo(form));
  explore(root);
  for (const { replay } of demos) if (replay && slide()) replay.demo.lookAheadNow();
}

/** Reveals what would give answers away: text not yet in the page, and demos, which are requested again. */
export async function unfold(screen) {
  screen.dataset.asking = ""; // the answer moves what is below
  try {
    const words = screen.querySelector(".afterwards [data-after]:not(:has(*))");
    if (words) {
      const response = await fetch(words.dataset.after);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      words.replaceChildren(...page.querySelector(".afterwards [data-after]").childNodes);
      watchFormulas(screen);
    }
    screen.removeAttribute("data-folded");
    for (const demo of demos) {
      const asking = screen.contains(demo.form) && demo.form.elements.namedItem("asking");
      if (!asking) continue;
      asking.remove();
      if (!demo.replay?.released()) demo.live.ask(false);
    }
    document.dispatchEvent(new Event("unfolded"));
  } finally {
    delete screen.dataset.asking;
  }
}

/** Tells the demos that their space has changed. */
export const resize = () => demos.forEach((d) => d.resize());

const slide = () => document.querySelector("[data-slide]");

darkness.addEventListener("change", () => demos.forEach((d) => d.live.ask(false)));

/** The replay that keys control: the focused one, else the one in view. */
export function stepped() {
  const replays = demos.filter((d) => d.replay);
  const height = innerHeight;
  const found = slide() ? replays[0] : replays.find((d) => d.form.contains(document.activeElement)) ||
    replays.find((d) => {
      const box = d.form.getBoundingClientRect();
      return box.top < height * 0.75 && box.bottom > height * 0.25;
    });
  return found?.replay;
}

// Once the mouse releases a control, keys control the page again.
document.addEventListener("pointerup", (e) => {
  const control = e.target.closest?.("input[type=range], .handle");
  if (control) setTimeout(() => document.activeElement === control && control.blur());
});

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || slide()) return; // slides have their own keys
  if (e.key === "Escape" && e.target.matches("input[type=text], select")) return e.target.blur();
  if (e.target.closest(typing)) return;
  if (e.key === " ") {
    const replay = !e.target.closest("a, button, summary") || e.target.closest(".replay") ? stepped() : null;
    if (!replay) return;
    e.preventDefault();
    replay.pause();
    replay.to(replay.at + (e.shiftKey ? -1 : 1));
  } else if (e.key === "r" && stepped()) stepped().run.click();
});

// A question is answered in place.
document.addEventListener("submit", async (e) => {
  const form = e.target.closest("[data-question]");
  if (!form) return;
  e.preventDefault();
  const body = new URLSearchParams(new FormData(form));
  body.set("part", "1");
  try {
    const response = await fetch(form.action, { method: "POST", body });
    if (!response.ok) throw new Error();
    const fresh = await fragment(await response.text());
    const next = fresh.querySelector("[data-question]");
    form.replaceWith(fresh);
    sketches(next);
    const screen = next.closest("[data-folded]");
    if (screen && ![...screen.querySelectorAll("[data-question]")].some((q) => !q.querySelector(".verdict"))) unfold(screen);
    else for (const { replay } of demos) replay?.released();
    (next.querySelector(".verdict") || next.querySelector("[type=radio], [type=text], .knot")).focus();
  } catch {
    form.submit(); // fall back to navigation
  }
});

// A course is created from the lesson in its current state.
document.querySelector("[data-teach]")?.addEventListener("click", (e) => {
  e.currentTarget.search = new URLSearchParams({ target: location.pathname + location.search });
});

mount(document);
