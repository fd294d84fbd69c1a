// Slides: presenter keys, slide changes without navigation (so that full screen is kept), and a
// second window with notes.
import { point } from "./dot.js";
import { mount, resize, stepped, unfold } from "./lesson.js";
import { answer, follow as listen } from "./live.js";
import { tally } from "./poll.js";

const channel = new BroadcastChannel("marginlab-slides");
const slide = () => document.querySelector("[data-slide]");
const id = (link) => link.hash.slice(1);
/** Links to the parts, except folded ones and numbers that are not there. */
const links = () => {
  const folded = slide().matches("[data-folded]"), numbers = slide().querySelector(".sums table");
  return [...slide().querySelectorAll(".parts a.part")].filter((l) => !(folded && l.matches("[data-after]")) && (numbers || id(l) !== "numbers"));
};

/** The index of the displayed part. */
function at() {
  const here = location.hash.slice(1);
  const question = document.getElementById(here)?.closest(".ask")?.id;
  return Math.max(0, links().findIndex((l) => id(l) === (question || here)));
}

/** Shows a part; of text with builds, only the first. Navigates to its fragment, which the style sheet targets. */
function show(k, building = false) {
  const all = links();
  built = building ? 1 : Infinity;
  location.replace(all[Math.min(all.length - 1, Math.max(0, k))].hash);
}

/** The number of displayed builds. */
let built = Infinity;

/** The builds of the displayed text: each block or list item, with the formulas that follow it. */
function builds() {
  const box = [...slide().querySelectorAll(".words")].find((e) => e.clientHeight), all = [];
  for (const e of box?.querySelectorAll(":is(.words, [data-after]) > :not(ul, ol, [data-after], .fold-note), :is(ul, ol) > li") ?? []) {
    if (e.matches("math") && all.length) all.at(-1).push(e);
    else all.push([e]);
  }
  return all;
}

/** Hides builds not reached yet; they keep their space, so that nothing jumps. */
function build() {
  builds().forEach((block, k) => block.forEach((e) => e.classList.toggle("unbuilt", k >= built)));
}

/** Moves one build on or back; returns false at the end. */
function rebuild(by) {
  const last = builds().length, next = Math.min(built, last) + by;
  if (next < 1 || next > last) return false;
  built = next;
  build();
  return true;
}

/** Announces the displayed part to the other windows. */
function tell() {
  build();
  const all = links(), here = at();
  all.forEach((l, k) => {
    l.classList.toggle("current", k === here);
    if (k === here) l.setAttribute("aria-current", "true");
    else l.removeAttribute("aria-current");
  });
  const told = { slide: location.pathname, notes: slide().dataset.notes, part: id(all[here]), numbers: all.some((l) => id(l) === "numbers") };
  if (here === 0) told.step = slide().querySelector("[data-count]")?.textContent;
  channel.postMessage(told);
  present();
}

/** Milliseconds between two states sent to followers, and before a failed one is resent. */
const pace = 250, resend = 5000;
let presenting = false, moved = false, sent = "";

/** Sends the state of the slide to followers, newest only. */
async function present() {
  const { teaches } = slide().dataset;
  if (!teaches) return;
  if (presenting) return (moved = true);
  presenting = true;
  const all = links(), body = new URLSearchParams({ path: location.pathname, query: location.search.slice(1), part: id(all[at()]), open: slide().matches("[data-folded]") ? "" : "1" });
  let wait = pace;
  try {
    if (String(body) !== sent) await answer(`${teaches}/present`, { method: "POST", body });
    sent = String(body);
  } catch {
    moved = true;
    wait = resend;
  }
  setTimeout(() => {
    presenting = false;
    if (!moved) return;
    moved = false;
    present();
  }, wait);
}

/** Shows the class's answers in the slide, from the page of the question's results. */
async function results(action, body) {
  const read = async (page) => new DOMParser().parseFromString(await page.text(), "text/html").querySelector("[data-results]");
  const response = await answer(action, { method: "POST", body }, [404, 409, 422]);
  const article = await read(response);
  if (!article) return;
  document.querySelector("dialog.class-results")?.close();
  const dialog = document.createElement("dialog");
  dialog.className = "class-results";
  dialog.setAttribute("aria-label", "Answers of the class");
  document.body.append(dialog);
  let stop;
  const put = (fresh) => {
    stop?.();
    dialog.replaceChildren(document.adoptNode(fresh));
    stop = tally(fresh, async () => {
      const changed = await read(await answer(response.url));
      if (changed && dialog.open) put(changed);
    });
  };
  put(article);
  dialog.addEventListener("close", () => {
    stop();
    dialog.remove();
  });
  dialog.addEventListener("submit", (e) => {
    if (e.defaultPrevented) return;
    e.preventDefault();
    if (e.submitter.value === "delete") dialog.close();
    results(e.target.action, new URLSearchParams(new FormData(e.target, e.submitter)));
  });
  dialog.showModal();
}

/** Asks the class the question of a button, else the one in view. */
function ask(button = [...slide().querySelectorAll(".ask")].find((e) => e.clientHeight)?.querySelector(".ask-class button")) {
  document.querySelector("dialog[open]")?.close();
  if (button) results(button.form.action, new URLSearchParams({ question: button.value }));
}

/** Closes or reveals the open question. */
function conduct(what) {
  document.querySelector(`dialog.class-results button[name=do][value=${what}]`)?.click();
}

/** Toggles student names on the teacher's pages and says which. */
async function names() {
  const { teaches } = slide().dataset;
  if (!teaches) return;
  const { hidden } = await (await answer(`${teaches}/names`, { method: "POST", body: new URLSearchParams() })).json();
  document.querySelector(".slide-note")?.remove();
  const note = document.createElement("output");
  note.className = "timer slide-note";
  note.textContent = hidden ? "Names are hidden" : "Names are shown";
  document.body.append(note);
  setTimeout(() => note.remove(), 3000);
}

/** A timer in the corner: it starts, stops, and goes. */
function timer() {
  const there = document.querySelector(".timer:not(.slide-note)");
  if (there?.dataset.stopped) return there.remove();
  if (there) {
    clearInterval(there.ticking);
    there.dataset.stopped = "1";
    return;
  }
  const clock = document.createElement("output"), from = Date.now();
  clock.className = "timer";
  clock.setAttribute("aria-label", "Timer");
  const tick = () => {
    const gone = Math.floor((Date.now() - from) / 1000);
    clock.textContent = `${Math.floor(gone / 60)}:${String(gone % 60).padStart(2, "0")}`;
  };
  tick();
  clock.ticking = setInterval(tick, 1000);
  document.body.append(clock);
}

/** The textual parts: text, question, numbers, derivation with its explanation. */
function text() {
  const shown = [...slide().querySelectorAll(".words, .ask, .sums, .derivation")].find((e) => e.clientHeight);
  return shown?.closest(".told") ?? shown;
}

/** Whether an element is fully visible. */
const fits = (box) => ![box, ...box.querySelectorAll(".scroll, math[display=block]")].some((e) => e.scrollWidth > e.clientWidth + 2 || (e === box && e.scrollHeight > e.clientHeight + 2));

/** The font sizes to try, relative to the page's. */
const letters = [1.5, 1.35, 1.2, 1.1, 1, 0.92, 0.85, 0.78, 0.72];

/** Puts the picture beside the text where there is room, and makes letters as large as possible. */
function arrange() {
  const page = slide(), words = page.querySelector(location.hash === "#after" ? ".afterwards" : ".words:not(.afterwards)");
  page.style.removeProperty("--letters");
  page.classList.remove("crowded");
  leave();
  page.classList.toggle("with-picture", Boolean(page.querySelector(".figure") && words));
  if (words && !fits(words)) page.classList.remove("with-picture");
  enlarge(letters);
}

/** Drops what the picture already shows when there is no room for it beside the explanation. */
function leave() {
  const told = slide().querySelector(".told");
  if (told && !fits(told)) slide().classList.add("crowded");
}

/** Uses the first font size in which the text fits; a derivation, which grows, starts with the page's. */
function enlarge(sizes) {
  const box = text();
  if (box) sizes.find((k) => (k <= 1 || !box.matches(".told")) && (slide().style.setProperty("--letters", k), fits(box)));
}

// Text that grows, by an answer or a step, shrinks its letters; enlarging them again would make
// it jump at every step.
new MutationObserver(() => {
  if (location.hash === "#numbers" && !links().some((l) => id(l) === "numbers")) show(0);
  leave();
  const box = text();
  if (box && !fits(box)) enlarge(letters.slice(letters.indexOf(Number(slide().style.getPropertyValue("--letters"))) + 1));
}).observe(document.body, { childList: true, subtree: true });

/** Whether answers were reset, so that prefetched slides are stale. */
let forgot = false;

/** Collapses every question of the lesson. */
async function afresh() {
  const form = slide().querySelector("[data-afresh]");
  document.querySelector("dialog[open]")?.close();
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!response.ok) throw new Error();
  } catch {
    return form.submit(); // fall back to navigation
  }
  refold();
}

/** Reloads the slide after answers were reset. */
function refold() {
  forgot = true;
  const query = new URLSearchParams(location.search);
  for (const name of ["everything", "step"]) query.delete(name);
  turn(`${location.pathname}?${query}`.replace(/\?$/, ""), { push: false, first: true });
}

let shownPath = location.pathname + location.search;

/** Goes to another slide in place; falls back to plain navigation if the fetch fails. */
async function turn(href, { part = "", last = false, first = false, push = true } = {}) {
  try {
    const response = await fetch(href, { headers: { Accept: "text/html" }, cache: forgot ? "reload" : "default" });
    if (!response.ok) throw new Error();
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.querySelector("[data-slide]");
    if (!next) throw new Error();
    if (push) history.pushState(null, "", href);
    shownPath = location.pathname + location.search;
    document.title = page.title;
    slide().replaceWith(document.adoptNode(next));
    if (first) show(0);
    else if (last) show(links().length - 1);
    else if (part) location.replace(`#${part}`);
    mount(slide());
    start();
  } catch {
    location.href = href;
  }
}

/** Sets up a new slide. */
function start() {
  slide().querySelector('[data-key="?"]').hidden = false;
  tell();
  arrange();
  prefetch();
}

/** Prefetches the next slide. */
function prefetch() {
  document.querySelector("link[data-next]")?.remove();
  const next = slide().querySelector('a[rel="next"]');
  if (!next) return;
  const link = document.createElement("link");
  link.rel = "prefetch";
  link.href = next.href;
  link.dataset.next = "";
  document.head.append(link);
}

const prev = () => slide().querySelector('a[rel="prev"]');
const next = () => slide().querySelector('a[rel="next"]');

/** The question asked before a line of the derivation, with that line's index; null for other parts. */
function amid(link) {
  const question = document.querySelector(`${link.hash} [data-before]`), line = stepped()?.line(question?.dataset.before);
  return line > 0 ? { question, line } : null;
}

/** Shows a line of the derivation. */
function derive(line) {
  stepped().pause();
  stepped().to(line);
  if (at() > 0) show(0);
}

/** Advances by a line of a derivation, a part or a slide; by steps of an algorithm only on request. A question precedes the line that answers it. */
function forward(steps) {
  if (rebuild(1)) return;
  const replay = stepped(), all = links(), here = at(), asked = amid(all[here]);
  if (asked) { // also from a link before its step
    if (replay.at === asked.line - 1) asked.question.dataset.passed = "";
    return derive(replay.at < asked.line ? replay.at + 1 : replay.at);
  }
  if (replay && here === 0 && (steps || "lines" in replay.element.dataset) && replay.at < replay.last) {
    const asks = all.findIndex((l) => amid(l)?.line === replay.at + 1);
    return asks > 0 ? show(asks) : derive(replay.at + 1);
  }
  const then = all.findIndex((l, k) => k > here && !amid(l));
  if (then > 0) show(then, true);
  else if (next()) turn(next().href);
}

function back(steps) {
  if (rebuild(-1)) return;
  const replay = stepped(), all = links(), here = at(), asked = amid(all[here]);
  if (asked) return derive(Math.min(replay.at, asked.line - 1));
  if (replay && here === 0 && (steps || "lines" in replay.element.dataset) && replay.at > 0) {
    const asks = all.findIndex((l) => amid(l)?.line === replay.at);
    return asks > 0 ? show(asks) : derive(replay.at - 1);
  }
  const before = all.findLastIndex((l, k) => k < here && !amid(l));
  if (before >= 0) show(before);
  else if (prev()) turn(prev().href, { last: true });
}

function part(by) {
  const k = at() + by;
  if (k >= 0 && k < links().length) show(k);
  else if (k < 0 && prev()) turn(prev().href, { last: true });
  else if (k > 0 && next()) turn(next().href);
}

/** Changes the speed by one notch. */
function speed(by) {
  const choice = stepped()?.speed;
  if (!choice) return;
  choice.selectedIndex = Math.min(choice.options.length - 1, Math.max(0, choice.selectedIndex + by));
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}

function toggle(dialog) {
  const other = document.querySelector("dialog[open]");
  other?.close();
  if (other === dialog) return;
  dialog.showModal();
  dialog.querySelector("[aria-current]")?.focus();
}

/** Handles keys in a dialog (close, move through the overview); returns whether it did. */
function choose(dialog, key) {
  if (key === "o" || key === "?" || key === "m") return keys[key](), true;
  const slides = [...dialog.querySelectorAll("li a")], row = slides.filter((a) => a.offsetTop === slides[0].offsetTop).length;
  const by = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1, ArrowDown: row, ArrowUp: -row }[key];
  slides[Math.min(slides.length - 1, Math.max(0, slides.indexOf(document.activeElement) + by))]?.focus();
  return Boolean(by);
}

function blank() {
  const there = document.querySelector(".blank");
  if (there) return there.remove();
  const cover = document.createElement("div");
  cover.className = "blank";
  document.body.append(cover);
}

let spot = null;
const follow = (e) => {
  spot.style.left = `${e.clientX}px`;
  spot.style.top = `${e.clientY}px`;
};
let mouse = { clientX: innerWidth / 2, clientY: innerHeight / 2 };
document.addEventListener("pointermove", (e) => {
  mouse = e;
  if (spot) follow(e);
});

function pointer() {
  if (spot) {
    spot.remove();
    spot = null;
    return;
  }
  spot = document.createElement("div");
  spot.className = "spot";
  spot.setAttribute("aria-hidden", "true");
  document.body.append(spot);
  follow(mouse);
}

/** Opens the second window; its clock resumes where it was closed. */
function notes() {
  sessionStorage.begun ??= Date.now(); // new windows get a copy
  open(slide().dataset.notes, "marginlab-notes", "popup,width=760,height=900");
}

const keys = {
  PageDown: () => forward(false),
  ArrowRight: () => forward(false),
  PageUp: () => back(false),
  ArrowLeft: () => back(false),
  ArrowDown: () => part(1),
  ArrowUp: () => part(-1),
  " ": (e) => (e.shiftKey ? back(true) : forward(true)),
  r: () => stepped()?.run.click(),
  Home: () => stepped()?.to(0),
  "+": () => speed(1),
  "-": () => speed(-1),
  f: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
  e: () => unfold(slide()),
  a: afresh,
  b: blank,
  ".": blank,
  p: pointer,
  t: timer,
  q: () => ask(),
  m: () => slide().dataset.teaches && toggle(slide().querySelector(".own-questions")),
  c: () => conduct("close"),
  v: () => conduct("reveal"),
  h: names,
  o: () => toggle(slide().querySelector(".overview")),
  Escape: () => toggle(slide().querySelector(".overview")),
  n: notes,
  "?": () => toggle(slide().querySelector(".keys")),
};
const always = ["PageDown", "PageUp"]; // also in text fields
const controls = "input, select, textarea, .handle, [role=slider]";
const unfolded = ":is(select:open)"; // an open list of choices, if the browser supports it

/** Whether the pointer set the focus: then keys still belong to the presenter. */
let pointed = false;
addEventListener("pointerdown", () => (pointed = true), true);
addEventListener("keydown", (e) => {
  if (e.key === "Tab") pointed = false;
}, true);

/** Whether a key is meant for the focused element: one reached by keyboard or typed into. */
function taken(e) {
  const at = e.target, control = at.closest(controls);
  if (at.matches(unfolded)) return true;
  if (pointed && !at.matches("input[type=text]")) return false;
  if (control) return !always.includes(e.key) && !(control.matches("[type=radio], [type=checkbox], [type=range], .handle") && e.key.length === 1 && e.key !== " ");
  return e.key === " " && Boolean(at.closest("a, button, summary"));
}

/** Runs the command of a key; returns false if it has none. */
function press(key, shiftKey) {
  const dialog = document.querySelector("dialog[open]");
  if (document.querySelector(".blank")) blank();
  else if (dialog?.matches(".class-results") && key !== "Escape") {
    if (key !== "c" && key !== "v" && key !== "t") dialog.close();
    keys[key]({ shiftKey });
  } else if (dialog) return key !== "Escape" && choose(dialog, key); // the browser closes it
  else keys[key]({ shiftKey });
  return true;
}

// Captured before any control handles it.
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const control = e.target.closest(controls), fold = e.target.closest(".folded[open]");
  if (fold && e.key === "Escape" && !control?.matches(unfolded)) {
    fold.open = false;
    fold.querySelector("summary").focus();
    e.preventDefault();
    return e.stopPropagation();
  }
  if (control && !control.matches(unfolded) && (e.key === "Escape" || (e.key === "Enter" && control.matches("input[type=text], select")))) {
    if (e.key === "Escape") e.preventDefault();
    return setTimeout(() => control.blur());
  }
  if (!keys[e.key] || taken(e) || !press(e.key, e.shiftKey)) return;
  if (pointed) e.target.blur();
  e.preventDefault();
  e.stopPropagation();
}, true);

document.addEventListener("click", (e) => {
  const link = e.target.closest('a[rel="next"], a[rel="prev"], a[data-slide-link]');
  if (e.target.closest('[data-key="?"]')) toggle(slide().querySelector(".keys"));
  if (e.target.closest(".parts a.part") && !e.ctrlKey && !e.metaKey) {
    e.preventDefault();
    show(links().indexOf(e.target.closest("a")));
  }
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  turn(link.href);
});

document.addEventListener("submit", (e) => {
  if (e.target.matches("[data-afresh]")) {
    e.preventDefault();
    afresh();
  } else if (e.target.matches(".ask-class")) { // stay in full screen
    e.preventDefault();
    ask(e.submitter);
  }
});
for (const what of ["unfolded", "stepped", "changed"]) document.addEventListener(what, tell);
addEventListener("hashchange", () => {
  tell();
  arrange();
  resize();
});
addEventListener("load", () => { // :target works only now
  arrange();
  resize();
});
addEventListener("popstate", () => {
  if (location.pathname + location.search !== shownPath && location.pathname !== shownPath.split("?")[0]) turn(location.href, { part: location.hash.slice(1), push: false });
});
let settle;
addEventListener("resize", () => {
  clearTimeout(settle);
  settle = setTimeout(() => {
    arrange();
    resize();
  }, 200);
});

channel.addEventListener("message", ({ data }) => {
  if (data.ask) tell();
  if (data.key) press(data.key, data.shift);
  if (data.afresh) refold();
  if (data.begun) sessionStorage.begun = data.begun;
});

if (slide().dataset.teaches) listen(`${slide().dataset.teaches}/remote/events`, { key: (key) => {
  if (key === "present") {
    sent = "";
    return present();
  }
  if (key.startsWith("point:")) return point([...slide().querySelectorAll(".stage")].find((e) => e.clientHeight), key.length > 6 && key.slice(6).split(",").map(Number));
  const button = key.startsWith("own/") && slide().querySelector(`.own-questions [value="own/course/${CSS.escape(key.slice(4))}"]`);
  if (button) ask(button);
  else if (keys[key]) press(key, false);
} });

start();
