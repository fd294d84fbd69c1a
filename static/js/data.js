// The page of data: dropping a file anywhere uploads it; generators have sliders.
import { addSliders } from "./sliders.js";

addSliders(document);

const form = document.querySelector("[data-drop]");
const input = form?.querySelector('input[type="file"]');

if (form) {
  const over = (on) => form.classList.toggle("over", on);
  document.addEventListener("dragover", (e) => {
    if (!e.dataTransfer.types.includes("Files")) return;
    e.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (e) => {
    if (!e.relatedTarget) over(false);
  });
  document.addEventListener("drop", (e) => {
    if (!e.dataTransfer.files.length) return;
    e.preventDefault();
    over(false);
    input.files = e.dataTransfer.files;
    form.requestSubmit();
  });
  form.addEventListener("submit", () => {
    const button = form.querySelector("button");
    button.textContent = "Uploading…";
  });
  addEventListener("pageshow", () => (form.querySelector("button").textContent = "Upload"));
}
