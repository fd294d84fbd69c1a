// The data pages: choosing or dropping a file uploads it; generators have sliders; changing the
// label or a correction updates the proposed columns.
import { addSliders } from "./sliders.js";

addSliders(document);

const form = document.querySelector("[data-drop]");
const input = form?.querySelector('input[type="file"]');

// send submits the form, unless the first file exceeds the server's size limit.
function send() {
  const [file] = input.files;
  const most = Number(form.dataset.most);
  input.setCustomValidity(file?.size > most ? `This file has ${(file.size / 2 ** 20).toFixed(1)} MB, more than the ${most / 2 ** 20} MB that are accepted.` : "");
  if (file) form.requestSubmit();
}

const propose = document.querySelector('button[name="propose"]');
propose?.form.addEventListener("change", (e) => {
  if (e.target.name === "label" || e.target.name === "fix") propose.form.requestSubmit(propose);
});

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
    send();
  });
  input.addEventListener("change", send);
  form.addEventListener("submit", () => {
    const button = form.querySelector("button");
    button.textContent = "Uploading…";
  });
  addEventListener("pageshow", () => (form.querySelector("button").textContent = "Upload"));
}
