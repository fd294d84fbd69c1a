// Explorable text: pointing at or focusing a symbol, formula or emphasised word highlights what
// it refers to: a control, a number, or an arrow, line or point in a picture. Dragging a symbol
// or number that stands for a control changes that control.
import { typeset } from "./number.js";
import { Stage } from "./stage.js";

const svg = "http://www.w3.org/2000/svg";
const prose = ".words, .lead, .derivation, .note, legend, .ask-text";
const leaf = "mi, mn, msub, msup, mover";
const plain = (e) => e.textContent.normalize("NFKC").replace(/\s/g, "");
/** The same, keeping bold letters: the matrix K differs from the number K. */
const styled = (e) => e.textContent.replace(/[^\u{1D400}-\u{1D7FF}]/gu, (c) => c.normalize("NFKC")).replace(/\s/g, "");
/** Whether a letter is applied to an argument: the k of k(x, z) is not the number k. */
const applied = (e) => /^[a-z]$/.test(plain(e)) && e.nextElementSibling?.textContent === "(";

/** The formula that names a number, as in "risk R"; "rank of K" does not name K. */
function naming(th) {
  const bare = th.cloneNode(true), range = new Range();
  for (const e of bare.querySelectorAll(".visually-hidden")) e.remove();
  const formula = bare.querySelector("math");
  if (!formula) return null;
  range.setStart(bare, 0);
  range.setEndBefore(formula);
  return /\b(of|on|than|with|over|by)\b|:/.test(range) ? null : formula;
}

const demo = (place) => place.closest(".screen, [data-slide]")?.querySelector("form.demo");

/** The named parts of the pictures of a demo. */
function parts(form) {
  return [...form.querySelectorAll(".stage[data-stage]")].flatMap((stage) => {
    const data = stage.dataset.stage;
    if (stage.partsOf !== data) [stage.parts, stage.partsOf] = [(JSON.parse(data).parts || []).map((p) => ({ ...p, stage })), data];
    return stage.parts;
  });
}

/** What a term in the text refers to: elements of the demo beside it, and parts of its pictures. */
function meaning(place) {
  const form = demo(place), word = place.closest("math, em, data[data-control]");
  if (!form || !word?.closest(prose)) return [];
  const named = (name) => parts(form).filter((p) => p.names.includes(name));
  if (word.matches("data")) return [...form.querySelectorAll(`[data-field="${word.dataset.control}"]`)];
  if (word.matches("em")) return named(plain(word).toLowerCase());
  const names = [...form.querySelectorAll(".field")].map((f) => [f, f.querySelector(".symbol") || f.querySelector("label")]);
  for (const tr of form.querySelectorAll(".exhibit-numbers tr")) names.push([tr, naming(tr.querySelector("th"))]);
  for (let e = word; e; e = e === word ? place.closest(leaf) : word.contains(e.parentNode) && e.parentNode.closest(leaf)) {
    if (applied(e)) continue;
    const name = styled(e), found = names.filter(([, of]) => of && styled(of) === name).map(([of]) => of);
    found.push(...named(plain(e)), ...(name === plain(e) ? [] : named(name)));
    if (found.length) return found;
  }
  return [];
}

/** The slider of the control that a term refers to. */
const slider = (place) => meaning(place).map((e) => e instanceof Element && e.querySelector(".slider input[type=range]")).find(Boolean);

let place = null, lit = [], overlays = [], dragged = false;

/** Highlights what a term refers to and returns it; null highlights nothing. */
function light(at) {
  place = at;
  const found = at ? meaning(at) : [];
  for (const e of lit) e.classList.remove("meant");
  for (const e of overlays) e.remove();
  lit = found.filter((e) => e instanceof Element);
  for (const e of lit) e.classList.add("meant");
  const drawn = found.filter((e) => !(e instanceof Element));
  overlays = [...Map.groupBy(drawn, (p) => p.stage)].map(([element, parts]) => outline(parts, element)).filter(Boolean);
  return found;
}

/** Highlights parts of one picture by a wide outlined stroke, visible without colour. */
function outline(drawn, element) {
  const stage = Object.create(Stage.prototype);
  stage.element = element;
  stage.read();
  const f = stage.data.frame;
  if (!f.width) return null;
  const [left, top] = stage.share(...stage.corner()), [right, bottom] = stage.share(...stage.corner(true));
  const overlay = document.createElementNS(svg, "svg");
  overlay.setAttribute("class", "pointed");
  overlay.setAttribute("aria-hidden", "true");
  overlay.setAttribute("viewBox", `0 0 ${f.width} ${f.height}`);
  overlay.setAttribute("preserveAspectRatio", "none");
  Object.assign(overlay.style, { left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%` });
  for (const rim of ["rim", "core"]) {
    for (const { line } of drawn) {
      const places = line.map(([x, y]) => stage.within(x, y)).map(([x, y]) => [x * f.width, y * f.height]).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
      if (!places.length) continue;
      const shape = document.createElementNS(svg, places.length > 1 ? "polyline" : "circle");
      if (places.length > 1) shape.setAttribute("points", places.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "));
      else for (const [name, v] of [["cx", places[0][0]], ["cy", places[0][1]], ["r", 11]]) shape.setAttribute(name, v);
      shape.setAttribute("class", rim);
      overlay.append(shape);
    }
  }
  element.append(overlay);
  return overlay;
}

document.addEventListener("pointerover", (e) => {
  if (dragged || !(e.target instanceof Element)) return;
  const word = e.target.closest("math, em, data[data-control]");
  if (!word && document.activeElement?.closest(".explorable")) return; // keep the highlight of the focused word
  const found = light(e.target);
  if (word?.matches("math") && found.length) word.classList.toggle("pulls", Boolean(slider(e.target)));
});
document.addEventListener("focusin", (e) => e.target.closest(".explorable") && light(e.target));
document.addEventListener("focusout", (e) => e.target.closest(".explorable") && light(null));
document.addEventListener("load", (e) => place && demo(place)?.contains(e.target) && light(place), true); // a picture that was loaded lazily or replaced

/** Moves a slider by a fraction of its length. */
function move(range, from, share, type) {
  range.value = from + share * Number(range.max);
  range.dispatchEvent(new Event(type, { bubbles: true }));
}

document.addEventListener("pointerdown", (e) => {
  const range = !e.button && slider(e.target);
  if (!range) return;
  e.preventDefault(); // do not select text
  dragged = true;
  const from = Number(range.value), letGo = new AbortController();
  addEventListener("pointermove", (now) => now.pointerId === e.pointerId && move(range, from, (now.clientX - e.clientX) / 300, "input"), letGo);
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (now) => {
      if (now.pointerId !== e.pointerId) return;
      letGo.abort();
      dragged = false;
      range.dispatchEvent(new Event("change", { bubbles: true }));
    }, letGo);
  }
});

document.addEventListener("keydown", (e) => {
  const share = { ArrowRight: 0.02, ArrowUp: 0.02, ArrowLeft: -0.02, ArrowDown: -0.02, PageUp: 0.1, PageDown: -0.1 }[e.key];
  const range = share && e.target.matches("data[role=slider]") && slider(e.target);
  if (!range) return;
  e.preventDefault();
  move(range, Number(range.value), share, "input");
  range.dispatchEvent(new Event("change", { bubbles: true }));
});

/** Keeps numbers in the text in step with their controls. */
document.addEventListener("input", (e) => {
  const form = e.target.closest("form.demo");
  if (form) numbers(form.closest(".screen, [data-slide]"));
});

function numbers(screen) {
  for (const number of screen?.querySelectorAll("data[data-control]") || []) {
    const box = demo(number)?.elements.namedItem(number.dataset.control);
    if (!box) continue;
    number.textContent = typeset(box.value);
    number.setAttribute("aria-valuenow", box.value);
  }
}

/** Makes the first explorable term of every block of text focusable. */
export function explore(root) {
  for (const number of root.querySelectorAll("data[data-control]")) {
    const field = demo(number)?.querySelector(`[data-field="${number.dataset.control}"]`), box = field?.querySelector(".slider");
    if (!box) continue;
    number.setAttribute("role", "slider");
    number.setAttribute("aria-label", field.querySelector("label").textContent.trim());
    number.setAttribute("aria-valuemin", box.dataset.low);
    number.setAttribute("aria-valuemax", box.dataset.high);
    number.tabIndex = 0;
    number.classList.add("explorable");
  }
  for (const screen of root.matches?.(".screen, [data-slide]") ? [root] : root.querySelectorAll(".screen, [data-slide]")) {
    numbers(screen);
    for (const words of screen.querySelectorAll(prose)) {
      const seen = new Set();
      for (const word of words.querySelectorAll("em, math:not([display=block])")) {
        if (seen.has(plain(word)) || !meaning(word).length) continue;
        seen.add(plain(word));
        word.setAttribute("tabindex", "0");
        word.classList.add("explorable");
      }
    }
  }
}
