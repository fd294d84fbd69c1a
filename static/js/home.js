// The start page: its first picture follows the slider of C.

import { undoScroll } from "./sliders.js";

const form = document.querySelector("[data-alive]");
const slider = form.querySelector("input[type=range]"), told = form.querySelector("output"), link = form.querySelector("a");
const picture = form.querySelector("img"), images = [...form.querySelectorAll("img, source")];
form.querySelector("button[type=submit]").hidden = true;

const withC = (address, c) => address.replace(/([?&]C=)[^&]*/, `$1${c}`);
let loading = false;

/** Fetches and shows the picture for the slider's C, one request at a time, newest next. */
function show() {
  const c = slider.value < 0 ? Number((10 ** (slider.value / 4)).toPrecision(2)) : Math.round(10 ** (slider.value / 4));
  told.textContent = `C = ${c}`;
  slider.setAttribute("aria-valuetext", String(c));
  link.setAttribute("href", withC(link.getAttribute("href"), c));
  if (loading) return;
  const shown = picture.currentSrc;
  for (const image of images) {
    const name = image.localName === "img" ? "src" : "srcset";
    image.setAttribute(name, withC(image.getAttribute(name), c));
  }
  loading = picture.currentSrc !== shown || !picture.complete;
}

for (const end of ["load", "error"]) {
  picture.addEventListener(end, () => {
    if (!loading) return;
    loading = false;
    show();
  });
}
slider.addEventListener("input", show);
undoScroll(slider, slider, show);
