// Slides: keys for whoever presents, parts and slides that turn in place, so that a full
// screen stays full, and a second window with notes that follows.
import { mount, resize, stepped, unfold } from "./lesson.js";

const channel = new BroadcastChannel("marginlab-slides");
const slide = () => document.querySelector("[data-slide]");
const id = (link) => link.hash.slice(1);
/** The parts, without those that are folded, and without numbers where there are none. */
const links = () => {
  const folded = slide().matches("[data-folded]"), numbers = slide().querySelector(".sums table");
  return [...slide().querySelectorAll(".parts a.part")].filter((l) => !(folded && l.matches("[data-after]")) && (numbers || id(l) !== "numbers"));
};

/** The place of the part that is shown. */
function at() {
  const here = location.hash.slice(1);
  const question = document.getElementById(here)?.closest(".ask")?.id;
  return Math.max(0, links().findIndex((l) => id(l) === (question || here)));
}

/** Shows a part. A fragment that the browser goes to is what the style sheet sees. */
function show(k) {
  const all = links();
  location.replace(all[Math.min(all.length - 1, Math.max(0, k))].hash);
}

/** Tells everybody which part is shown. */
function tell() {
  const all = links(), here = at();
  all.forEach((l, k) => {
    l.classList.toggle("current", k === here);
    if (k === here) l.setAttribute("aria-current", "true");
    else l.removeAttribute("aria-current");
  });
  const told = { slide: location.pathname, notes: slide().dataset.notes, part: id(all[here]), numbers: all.some((l) => id(l) === "numbers") };
  if (here === 0) told.step = slide().querySelector("[data-count]")?.textContent;
  channel.postMessage(told);
}

/** What is shown as text: words, a question, numbers, a derivation with what is told of it. */
function text() {
  const shown = [...slide().querySelectorAll(".words, .ask, .sums, .derivation")].find((e) => e.clientHeight);
  return shown?.closest(".told") ?? shown;
}

/** Whether all of an element can be seen. */
const fits = (box) => ![box, ...box.querySelectorAll(".scroll, math[display=block]")].some((e) => e.scrollWidth > e.clientWidth + 2 || (e === box && e.scrollHeight > e.clientHeight + 2));

/** How many times larger than the letters of the page those of a text may be. */
const letters = [1.5, 1.35, 1.2, 1.1, 1, 0.92, 0.85, 0.78, 0.72];

/** Puts the picture beside words that leave room for it, and makes letters as large as they can be. */
function arrange() {
  const page = slide(), words = page.querySelector(location.hash === "#after" ? ".afterwards" : ".words:not(.afterwards)");
  page.style.removeProperty("--letters");
  page.classList.remove("crowded");
  leave();
  page.classList.toggle("with-picture", Boolean(page.querySelector(".figure") && words));
  if (words && !fits(words)) page.classList.remove("with-picture");
  enlarge(letters);
}

/** Leaves out what the picture shows where there is no room for it beside what is told. */
function leave() {
  const told = slide().querySelector(".told");
  if (told && !fits(told)) slide().classList.add("crowded");
}

/** Takes the first of some sizes in which the text fits; a derivation, which grows, begins with those of the page. */
function enlarge(sizes) {
  const box = text();
  if (box) sizes.find((k) => (k <= 1 || !box.matches(".told")) && (slide().style.setProperty("--letters", k), fits(box)));
}

// A text that has become longer, by an answer or a step, takes smaller letters; larger ones
// would make it jump at every step.
new MutationObserver(() => {
  if (location.hash === "#numbers" && !links().some((l) => id(l) === "numbers")) show(0);
  leave();
  const box = text();
  if (box && !fits(box)) enlarge(letters.slice(letters.indexOf(Number(slide().style.getPropertyValue("--letters"))) + 1));
}).observe(document.body, { childList: true, subtree: true });

/** Whether answers were forgotten, so that what was fetched before is old. */
let forgot = false;

/** Folds every question of the lesson again. */
async function afresh() {
  const form = slide().querySelector("[data-afresh]");
  document.querySelector("dialog[open]")?.close();
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!response.ok) throw new Error();
  } catch {
    return form.submit(); // the page itself
  }
  refold();
}

/** Shows the slide as it is after answers were forgotten. */
function refold() {
  forgot = true;
  const query = new URLSearchParams(location.search);
  for (const name of ["everything", "step"]) query.delete(name);
  turn(`${location.pathname}?${query}`.replace(/\?$/, ""), { push: false, first: true });
}

let shownPath = location.pathname + location.search;

/** Turns to another slide in place; without an answer as any link does. */
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

/** What a slide needs when it is new. */
function start() {
  slide().querySelector('[data-key="?"]').hidden = false;
  tell();
  arrange();
  prefetch();
}

/** The slide that comes next is asked for before, so that it comes at once. */
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

/** The question of a part that comes before a line of the derivation, and the place of that line; null for others. */
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

/** On, by a line of a derivation, a part, a slide; steps of an algorithm only where they are meant. A question comes before the line that answers it. */
function forward(steps) {
  const replay = stepped(), all = links(), here = at(), asked = amid(all[here]);
  if (asked) { // also from a link, before its line is the next
    if (replay.at === asked.line - 1) asked.question.dataset.passed = "";
    return derive(replay.at < asked.line ? replay.at + 1 : replay.at);
  }
  if (replay && here === 0 && (steps || "lines" in replay.element.dataset) && replay.at < replay.last) {
    const asks = all.findIndex((l) => amid(l)?.line === replay.at + 1);
    return asks > 0 ? show(asks) : derive(replay.at + 1);
  }
  const then = all.findIndex((l, k) => k > here && !amid(l));
  if (then > 0) show(then);
  else if (next()) turn(next().href);
}

function back(steps) {
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

/** Faster or slower by one choice. */
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

/** Keys in a dialog: they close it, and go from slide to slide of the overview. Whether it was one of them. */
function choose(dialog, key) {
  if (key === "o" || key === "?") return toggle(slide().querySelector(key === "o" ? ".overview" : ".keys")), true;
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

/** Opens the second window, whose clock goes on where it was closed before. */
function notes() {
  sessionStorage.begun ??= Date.now(); // of which a new window has a copy
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
  o: () => toggle(slide().querySelector(".overview")),
  Escape: () => toggle(slide().querySelector(".overview")),
  n: notes,
  "?": () => toggle(slide().querySelector(".keys")),
};
const always = ["PageDown", "PageUp"]; // also where something is typed
const controls = "input, select, textarea, .handle, [role=slider]";
const unfolded = ":is(select:open)"; // a list of choices, where the browser tells

/** Whether the focus is where the pointer has put it: then the keys are the presenter's all the same. */
let pointed = false;
addEventListener("pointerdown", () => (pointed = true), true);
addEventListener("keydown", (e) => {
  if (e.key === "Tab") pointed = false;
}, true);

/** Whether a key is meant for what has the focus: for what the keyboard has come to, or somebody types in. */
function taken(e) {
  const at = e.target, control = at.closest(controls);
  if (at.matches(unfolded)) return true;
  if (pointed && !at.matches("input[type=text]")) return false;
  if (control) return !always.includes(e.key) && !(control.matches("[type=radio], [type=checkbox], [type=range], .handle") && e.key.length === 1 && e.key !== " ");
  return e.key === " " && Boolean(at.closest("a, button, summary"));
}

/** Does what a key stands for; false: nothing. */
function press(key, shiftKey) {
  const dialog = document.querySelector("dialog[open]");
  if (document.querySelector(".blank")) blank();
  else if (dialog) return key !== "Escape" && choose(dialog, key); // with which the browser closes it
  else keys[key]({ shiftKey });
  return true;
}

// Before any control hears of it.
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const control = e.target.closest(controls);
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
  if (!e.target.matches("[data-afresh]")) return;
  e.preventDefault();
  afresh();
});
for (const what of ["unfolded", "stepped"]) document.addEventListener(what, tell);
addEventListener("hashchange", () => {
  tell();
  arrange();
  resize();
});
addEventListener("load", () => { // now the part of the address is the target of the styles
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

start();
