// Words that can be explored: what a symbol or a formula in the words of a screen means, a
// control or a number of its demo, lights up under the pointer; a symbol of a control is a
// handle of it.

const plain = (e) => e.textContent.replace(/\s/g, "");
const leaf = "mi, mn, msub, msup, mover";

/** What a place in the words means: elements of the demo beside them. */
function meaning(place) {
  const form = place.closest(".screen, [data-slide]")?.querySelector("form.demo"), math = place.closest("math");
  if (!form || !math || !math.closest(".words, .lead, .derivation, .note, legend")) return [];
  const names = [...form.querySelectorAll(".field")].map((f) => [f, f.querySelector(".symbol") || f.querySelector("label")]);
  for (const tr of form.querySelectorAll(".exhibit-numbers tr")) {
    const th = tr.querySelector("th");
    names.push([tr, th.textContent.trim() === th.querySelector("math")?.textContent.trim() ? th : th.querySelector("math")]);
  }
  for (let e = math; e; e = e === math ? place.closest(leaf) : math.contains(e.parentNode) && e.parentNode.closest(leaf)) {
    const word = plain(e), found = names.filter(([, name]) => name && plain(name) === word).map(([of]) => of);
    if (found.length) return found;
  }
  return [];
}

/** The slider of the control that a place means. */
const slider = (place) => meaning(place).map((e) => e.querySelector(".slider input[type=range]")).find(Boolean);

let lit = [], dragged = false;

function light(found) {
  for (const e of lit) e.classList.remove("meant");
  lit = found;
  for (const e of lit) e.classList.add("meant");
}

document.addEventListener("pointerover", (e) => {
  if (dragged || !(e.target instanceof Element)) return;
  light(meaning(e.target));
  const math = e.target.closest("math");
  if (math && lit.length) math.classList.toggle("pulls", Boolean(slider(e.target)));
});

document.addEventListener("pointerdown", (e) => {
  const range = !e.button && slider(e.target);
  if (!range) return;
  e.preventDefault(); // nothing is marked
  dragged = true;
  const from = Number(range.value), letGo = new AbortController();
  const to = (now) => {
    range.value = from + ((now.clientX - e.clientX) * Number(range.max)) / 300;
    range.dispatchEvent(new Event("input", { bubbles: true }));
  };
  addEventListener("pointermove", (now) => now.pointerId === e.pointerId && to(now), letGo);
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (now) => {
      if (now.pointerId !== e.pointerId) return;
      letGo.abort();
      dragged = false;
      range.dispatchEvent(new Event("change", { bubbles: true }));
    }, letGo);
  }
});
