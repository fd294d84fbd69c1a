// Comparison page: reloads itself while runs are training, updates the parallel coordinates in
// place, and lets a brush on an axis filter runs.
import { attach } from "./filter.js";
import { brief } from "./number.js";

if (document.querySelector("[data-refresh]")) setTimeout(() => location.reload(), 1500);

const draw = document.querySelector("[data-draw]");
if (draw) {
  draw.querySelector("button").hidden = true;
  draw.addEventListener("change", async () => { // update the picture in place; the newest request wins
    const to = new URL(draw.action), asked = new URLSearchParams(new FormData(draw));
    if (!asked.has("draw")) return; // keep the last picture
    to.search = asked;
    to.hash = "";
    draw.dataset.asked = to;
    const page = await fetch(to).then((r) => (r.ok ? r.text() : null), () => null);
    const fresh = page && new DOMParser().parseFromString(page, "text/html").querySelector("[data-draw] + *");
    if (!fresh || draw.dataset.asked !== String(to)) return;
    draw.nextElementSibling.replaceWith(document.importNode(fresh, true));
    history.replaceState(null, "", to);
  });
}

if (location.hash === "#h-folds" || location.hash === "#tests") document.querySelector("#tests")?.setAttribute("open", "");
document.querySelector('a[href="#h-folds"]')?.addEventListener("click", () => document.querySelector("#tests").setAttribute("open", ""));

/** Rounds v down to four digits. */
function below(v) {
  const r = Number(v.toPrecision(4));
  return r > v ? Number((r - 10 ** (Math.floor(Math.log10(Math.abs(v) || 1)) - 3)).toPrecision(4)) : r;
}
const above = (v) => -below(-v);

/** The value of an axis at a fraction of its height, as drawn. */
const valueAt = (axis, share) => {
  const s = Math.min(Math.max(share, 0), 1);
  return axis.log ? axis.min * (axis.max / axis.min) ** s : axis.min + s * (axis.max - axis.min);
};

const word = (text) => (/^[\p{L}\p{N}_.\-]+$/u.test(text) ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`);

/** The filter condition for an axis from fraction lo to fraction hi; "" if unrestricted. */
export function condition(axis, lo, hi) {
  if (axis.words) {
    const last = axis.words.length - 1;
    const terms = axis.words.filter((_, i) => i >= lo * last - 0.01 && i <= hi * last + 0.01).map((w) => `${axis.name} = ${word(w)}`);
    return terms.length > 1 ? `(${terms.join(" or ")})` : terms.join("");
  }
  const at = (share) => valueAt(axis, share) / axis.by;
  return `${axis.name} >= ${below(at(lo))} and ${axis.name} <= ${above(at(hi))}`;
}

const value = `("(?:[^"\\\\]|\\\\.)*"|[^\\s()]+)`;

/** Matches what condition writes for an axis within a filter. */
function pattern(axis) {
  const one = `${axis.name} = ${value}`;
  const said = axis.words ? `(?:\\(${one}(?: or ${one})+\\)|${one})` : `${axis.name} >= ${value} and ${axis.name} <= ${value}`;
  return new RegExp(`(^| and )${said}(?= and |$)`);
}

/** The range of an axis, in fractions, that a filter restricts it to; null if none. */
export function selected(where, axis) {
  const found = where.match(pattern(axis));
  if (!found) return null;
  if (axis.words) {
    const last = Math.max(axis.words.length - 1, 1);
    const places = [...found[0].matchAll(new RegExp(`= ${value}`, "g"))].map((m) => axis.words.indexOf(m[1].startsWith('"') ? m[1].slice(1, -1).replace(/\\(.)/g, "$1") : m[1]));
    return places.includes(-1) ? null : [Math.min(...places) / last, Math.max(...places) / last];
  }
  const share = (text) => {
    const v = Number(text) * axis.by;
    return axis.log ? Math.log(v / axis.min) / Math.log(axis.max / axis.min) : (v - axis.min) / (axis.max - axis.min);
  };
  const ends = found.slice(2, 4).map(share);
  return ends.every(Number.isFinite) && ends[0] <= ends[1] ? ends.map((s) => Math.min(Math.max(s, 0), 1)) : null;
}

/** Describes a range of an axis in words. */
function told(axis, range) {
  if (!range) return "all";
  if (axis.words) return axis.words.filter((_, i, all) => Math.abs(i / Math.max(all.length - 1, 1) - (range[0] + range[1]) / 2) <= (range[1] - range[0]) / 2 + 0.01).join(", ");
  return range.map((s) => brief(valueAt(axis, s), 3)).join(" to ");
}

/** Replaces an axis's condition in a filter. */
export function brushed(where, axis, said) {
  const rest = where.replace(pattern(axis), "").replace(/^ and /, "").trim();
  if (!said) return rest;
  return rest ? `${/ or /i.test(rest) && !/^\(.*\)$/.test(rest) ? `(${rest})` : rest} and ${said}` : said;
}

const section = () => document.getElementById("quantities");
let asked = 0;

/** Shows the section as served at a URL. */
async function show(to) {
  const mine = ++asked;
  const response = await fetch(to);
  if (mine !== asked) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const next = page.getElementById("quantities");
  if (!next) return location.assign(to);
  const focus = document.activeElement?.closest("#quantities") && document.activeElement.id;
  const open = section().querySelector("details").open;
  next.querySelector("details").open = open;
  section().replaceWith(document.adoptNode(next));
  history.replaceState(null, "", to);
  enliven();
  if (!focus) return;
  const turned = focus.replace(/^(left|right)-/, (_, side) => (side === "left" ? "right-" : "left-")); // a link at the end of the row is gone
  (document.getElementById(focus) || document.getElementById(turned))?.focus();
}

const at = (v, least, most) => Math.min(Math.max(v, least), most);

/** The range of an axis after a key press: moved, or with its upper end moved; undefined for other keys. */
export function moved(axis, range, key, shift) {
  if (["Delete", "Backspace", "Escape"].includes(key)) return null;
  const by = { ArrowUp: 1, ArrowDown: -1 }[key];
  if (!by) return undefined;
  const step = axis.words ? 1 / Math.max(axis.words.length - 1, 1) : 0.05;
  if (!range) return axis.words ? [Math.max(by, 0), Math.max(by, 0)] : by > 0 ? [0.5, 1] : [0, 0.5];
  const [lo, hi] = range;
  if (shift) return [lo, at(hi + by * step, axis.words ? lo : Math.min(lo + step, 1), 1)];
  const low = at(lo + by * step, 0, 1 - (hi - lo));
  return [low, low + (hi - lo)];
}

let moving = null; // the brush moved by keys: its axis and range, until the page is updated

/** Updates the page to match a brush. */
function follow(axis, range) {
  moving = null;
  const field = document.getElementById("f-where");
  field.value = brushed(field.value, axis, range ? condition(axis, ...range) : "");
  field.form.requestSubmit();
}

const apart = 50; // minimum px between two axes, for fingers and names

/** Places brush strips over the axes of the parallel coordinates. */
function brush(box) {
  const { axes, frames } = JSON.parse(box.dataset.brush);
  const img = box.querySelector("img");
  const field = document.getElementById("f-where");
  const layer = document.createElement("div");
  layer.className = "strips";
  const pane = document.createElement("div"); // scrolls if there are too many axes
  pane.className = "pane";
  img.closest("picture").before(pane);
  pane.append(img.closest("picture"), layer);
  const strips = axes.map((axis, i) => {
    const strip = document.createElement("div");
    strip.id = `brush-${axis.name}`;
    strip.title = `${axis.label}: drag to highlight the runs that pass here, click to take that off`;
    strip.tabIndex = 0;
    for (const [name, v] of Object.entries({ role: "slider", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": `brush on ${axis.label}` })) strip.setAttribute(name, v);
    layer.append(strip);
    const mark = document.createElement("div");
    mark.className = "brush";
    let range = moving?.axis.name === axis.name ? moving.range : selected(field.value, axis);
    strip.reflect = () => {
      strip.setAttribute("aria-valuetext", told(axis, range));
      strip.setAttribute("aria-valuenow", Math.round(range ? 50 * (range[0] + range[1]) : 50));
      if (!range) return mark.remove();
      const high = strip.clientHeight - 2 * strip.margin;
      strip.append(mark);
      mark.style.top = `${strip.margin + (1 - range[1]) * high - 3}px`;
      mark.style.height = `${(range[1] - range[0]) * high + 6}px`;
    };
    strip.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const side = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      const next = moved(axis, range, e.key, e.shiftKey);
      if (side && e.shiftKey) document.getElementById(`${side < 0 ? "left" : "right"}-${axis.name}`)?.click();
      else if (side) strips[i + side]?.focus();
      else if (next === undefined) return;
      else if (next || range) {
        range = next;
        strip.reflect();
        clearTimeout(moving?.timer);
        moving = { axis, range, timer: setTimeout(() => follow(axis, moving.range), 300) };
      }
      e.preventDefault();
    });
    let from = null;
    const share = (e) => {
      const r = strip.getBoundingClientRect();
      return 1 - (e.clientY - r.top - strip.margin) / (r.height - 2 * strip.margin);
    };
    const draw = (e) => {
      const [lo, hi] = [from, share(e)].sort((a, b) => a - b);
      const high = strip.clientHeight - 2 * strip.margin;
      mark.style.top = `${strip.margin + (1 - hi) * high}px`;
      mark.style.height = `${(hi - lo) * high}px`;
      return [lo, hi];
    };
    strip.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      e.preventDefault();
      strip.setPointerCapture(e.pointerId);
      from = share(e);
      strip.append(mark);
      draw(e);
      strip.focus({ preventScroll: true, focusVisible: false });
    });
    strip.addEventListener("pointermove", (e) => from !== null && draw(e));
    strip.addEventListener("pointercancel", () => ((from = null), strip.reflect()));
    strip.addEventListener("pointerup", (e) => {
      if (from === null) return;
      const [lo, hi] = draw(e);
      from = null;
      clearTimeout(moving?.timer);
      follow(axis, hi - lo < 0.02 ? null : [lo, hi]);
    });
    return strip;
  });
  const names = axes.map((axis, i) => {
    const name = document.createElement("div");
    name.title = `${axis.label}: drag to move the axis`;
    let from = null;
    name.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      e.preventDefault();
      name.setPointerCapture(e.pointerId);
      from = e.clientX;
    });
    name.addEventListener("pointermove", (e) => from !== null && (name.style.translate = `${e.clientX - from}px`));
    name.addEventListener("pointercancel", () => ((from = null), (name.style.translate = "")));
    name.addEventListener("pointerup", (e) => {
      if (from === null) return;
      const to = at(i + Math.round((e.clientX - from) / name.apart), 0, axes.length - 1);
      from = null;
      name.style.translate = "";
      if (to === i) return;
      const order = axes.map((a) => a.name);
      order.splice(to, 0, ...order.splice(i, 1));
      const link = new URL(location.href);
      link.searchParams.set("axes", order.join(","));
      show(link);
    });
    return name;
  });
  const handles = document.createElement("div");
  handles.className = "movers";
  handles.append(...names);
  layer.after(handles);
  const place = () => {
    const width = new URL(img.currentSrc || img.src, location.href).searchParams.get("width");
    const frame = frames[width];
    if (!frame || !img.clientWidth) return;
    const k = img.clientWidth / Number(width);
    const { x_min, x_max, y_min, y_max } = frame.limits;
    const along = (x) => img.offsetLeft + k * (frame.left + (frame.width * (x - x_min)) / (x_max - x_min));
    const up = (y) => img.offsetTop + k * (frame.top + (frame.height * (y_max - y)) / (y_max - y_min));
    const least = (apart * img.clientWidth) / (along(1) - along(0));
    img.style.minWidth = `${least}px`;
    if (img.clientWidth < Math.floor(least)) return; // the resize calls this again
    const across = (x) => `${(100 * x) / pane.clientWidth}%`; // relative, so that it also fits while a narrower picture loads
    strips.forEach((strip, i) => {
      strip.margin = 10;
      const wide = Math.min(44, along(1) - along(0));
      strip.style.left = across(along(i) - wide / 2);
      strip.style.width = across(wide);
      strip.style.top = `${up(1) - strip.margin}px`;
      strip.style.height = `${up(0) - up(1) + 2 * strip.margin}px`;
      strip.reflect();
      const name = names[i];
      name.apart = along(1) - along(0);
      name.style.left = across(along(i) - name.apart / 2);
      name.style.width = across(name.apart);
      name.style.top = `${up(1) - strip.margin - 24 * k}px`;
      name.style.height = `${24 * k}px`;
    });
  };
  new ResizeObserver(place).observe(img);
  img.addEventListener("load", place);
  place();
}

function enliven() {
  const root = section();
  const box = root.querySelector("[data-brush]");
  if (box) brush(box);
  root.addEventListener("submit", (e) => {
    e.preventDefault();
    const to = new URL(e.target.action);
    to.search = new URLSearchParams(new FormData(e.target, e.submitter)).toString();
    show(to);
  });
  root.addEventListener("change", (e) => e.target.matches("#f-x, #f-y") && e.target.form.requestSubmit());
  root.addEventListener("click", (e) => {
    const link = e.target.closest(".chips a");
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    show(link.href);
  });
  if (asked) attach(root.querySelector("#f-where"));
}
if (section()) enliven();
