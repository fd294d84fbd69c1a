// A comparison: one whose runs are still training looks again by itself; the pictures of
// settings and numbers change in place; a brush on an axis highlights the runs that pass there.
import { attach } from "./filter.js";

if (document.querySelector("[data-refresh]")) setTimeout(() => location.reload(), 1500);

/** A number of four digits, not above v. */
function below(v) {
  const r = Number(v.toPrecision(4));
  return r > v ? Number((r - 10 ** (Math.floor(Math.log10(Math.abs(v) || 1)) - 3)).toPrecision(4)) : r;
}
const above = (v) => -below(-v);

const word = (text) => (/^[\p{L}\p{N}_.\-]+$/u.test(text) ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`);

/** What a filter says of the part of an axis from share lo to share hi; "" is nothing. */
export function condition(axis, lo, hi) {
  if (axis.words) {
    const last = axis.words.length - 1;
    const terms = axis.words.filter((_, i) => i >= lo * last - 0.01 && i <= hi * last + 0.01).map((w) => `${axis.name} = ${word(w)}`);
    return terms.length > 1 ? `(${terms.join(" or ")})` : terms.join("");
  }
  const at = (share) => {
    const s = Math.min(Math.max(share, 0), 1);
    return (axis.log ? axis.min * (axis.max / axis.min) ** s : axis.min + s * (axis.max - axis.min)) / axis.by;
  };
  return `${axis.name} >= ${below(at(lo))} and ${axis.name} <= ${above(at(hi))}`;
}

/** A filter without what condition has said of an axis, and with what is said now. */
export function brushed(where, axis, said) {
  const value = `(?:"(?:[^"\\\\]|\\\\.)*"|[^\\s()]+)`;
  const one = `${axis.name} = ${value}`;
  const old = axis.words ? `(?:\\(${one}(?: or ${one})+\\)|${one})` : `${axis.name} >= ${value} and ${axis.name} <= ${value}`;
  const rest = where.replace(new RegExp(`(^| and )${old}(?= and |$)`), "").replace(/^ and /, "").trim();
  if (!said) return rest;
  return rest ? `${/ or /i.test(rest) && !/^\(.*\)$/.test(rest) ? `(${rest})` : rest} and ${said}` : said;
}

const section = () => document.getElementById("quantities");
let asked = 0;

/** Shows the section as it is at an address. */
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
  const turned = focus.replace(/^(left|right)-/, (_, side) => (side === "left" ? "right-" : "left-")); // at the end of the row
  (document.getElementById(focus) || document.getElementById(turned))?.focus();
}

/** Lays strips over the axes of the parallel coordinates, which take a brush. */
function brush(box) {
  const { axes, frames } = JSON.parse(box.dataset.brush);
  const img = box.querySelector("img");
  const field = document.getElementById("f-where");
  const layer = document.createElement("div");
  layer.className = "strips";
  img.closest("picture").after(layer);
  const mark = document.createElement("div");
  mark.className = "brush";
  const strips = axes.map((axis, i) => {
    const strip = document.createElement("div");
    strip.title = `${axis.label}: drag to highlight the runs that pass here, click to take that off`;
    layer.append(strip);
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
    });
    strip.addEventListener("pointermove", (e) => from !== null && draw(e));
    strip.addEventListener("pointercancel", () => ((from = null), mark.remove()));
    strip.addEventListener("pointerup", (e) => {
      if (from === null) return;
      const [lo, hi] = draw(e);
      from = null;
      field.value = brushed(field.value, axis, hi - lo < 0.02 ? "" : condition(axis, lo, hi));
      field.form.requestSubmit();
    });
    return strip;
  });
  const place = () => {
    const width = new URL(img.currentSrc || img.src, location.href).searchParams.get("width");
    const frame = frames[width];
    if (!frame || !img.clientWidth) return;
    const k = img.clientWidth / Number(width);
    const { x_min, x_max, y_min, y_max } = frame.limits;
    const at = (x) => img.offsetLeft + k * (frame.left + (frame.width * (x - x_min)) / (x_max - x_min));
    const up = (y) => img.offsetTop + k * (frame.top + (frame.height * (y_max - y)) / (y_max - y_min));
    const across = (x) => `${(100 * x) / layer.offsetParent.clientWidth}%`; // until a narrower window's picture is placed, too
    strips.forEach((strip, i) => {
      strip.margin = 10;
      const wide = Math.min(44, at(1) - at(0));
      strip.style.left = across(at(i) - wide / 2);
      strip.style.width = across(wide);
      strip.style.top = `${up(1) - strip.margin}px`;
      strip.style.height = `${up(0) - up(1) + 2 * strip.margin}px`;
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
