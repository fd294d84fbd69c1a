// Sliders beside number fields. The field holds the value; the slider changes it.

/** Adds a range input to every .slider that has a range. */
export function addSliders(root) {
  for (const box of root.querySelectorAll(".slider.ranged")) {
    const low = Number(box.dataset.low), high = Number(box.dataset.high);
    if (!(high > low)) continue;
    const text = box.querySelector("input");
    const label = root.querySelector(`label[for="${text.id}"]`);
    const range = document.createElement("input");
    range.type = "range";
    range.min = 0;
    const whole = box.dataset.step === "1";
    const steps = whole && box.dataset.log !== "true" ? high - low : 1000; // arrow keys change a whole number by one
    range.max = steps;
    range.setAttribute("aria-label", `${label.textContent.trim()}, slider`);
    range.setAttribute("aria-describedby", `${text.id}-help`);
    const scale = box.dataset.log === "true" ? logarithmic(low, high, steps, box.dataset.zero === "true") : linear(low, high, steps);

    const follow = () => {
      const typed = number(text.value);
      const value = Number.isFinite(typed) ? typed : Number(box.dataset.resolved || NaN); // the value behind a word such as auto
      if (Number.isFinite(value)) range.value = scale.position(value);
      range.setAttribute("aria-valuetext", text.value);
    };
    range.addEventListener("input", (event) => {
      event.stopPropagation();
      const value = scale.value(Number(range.value));
      text.value = whole ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
      range.setAttribute("aria-valuetext", text.value);
      text.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: { coarse: true } }));
    });
    range.addEventListener("change", (event) => {
      event.stopPropagation();
      text.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: { coarse: false } }));
    });
    undoScroll(range, text, () => text.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: { coarse: false } })));
    text.addEventListener("input", follow);
    box.addEventListener("resolve", follow);
    box.prepend(range);
    follow();
  }
}

/**
 * Gives a field its value back, and calls restored, when a touch of its slider turns out to scroll the
 * page: the touch moves the slider at once.
 */
export function undoScroll(range, field, restored) {
  let before;
  range.addEventListener("pointerdown", () => (before = field.value));
  range.addEventListener("pointercancel", () => {
    field.value = before;
    restored();
  });
}

/** Parses a number, with a decimal point or comma; NaN if it is none. */
const number = (text) => (text.trim() === "" ? NaN : Number(text.replace(",", ".")));

/** Sets a slider to the number that the word in its field stands for. */
export function resolve(box, value) {
  box.dataset.resolved = value;
  box.dispatchEvent(new Event("resolve"));
}

const clamp = (v, steps) => Math.min(steps, Math.max(0, Math.round(v)));

function linear(low, high, steps) {
  return {
    value: (at) => low + ((high - low) * at) / steps,
    position: (v) => clamp((steps * (v - low)) / (high - low), steps),
  };
}

/** A logarithmic scale; with zero, its left end is 0. */
function logarithmic(low, high, steps, zero) {
  const span = Math.log(high / low);
  return {
    value: (at) => (zero && at === 0 ? 0 : low * Math.exp((span * at) / steps)),
    position: (v) => (v > 0 ? clamp((steps * Math.log(v / low)) / span, steps) : 0),
  };
}
