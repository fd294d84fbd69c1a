// The teacher's page of a course: submissions appear as they arrive.
import { again } from "./again.js";
import { renewNames } from "./names.js";
import { choose } from "./runs.js";
import { tell } from "./times.js";

const heading = document.querySelector("#gallery h2 [data-state]");
const state = document.querySelector(".course-state");
const changing = ":scope > p, :scope > form, :scope > [data-blocked]"; // its parts that change: whether it takes hand-ins, and who is blocked
const chosen = (root) => [...root.querySelectorAll('input[name="run"]')];

/** Copies the submissions and the state of the course from a newer page. */
async function look(page) {
  const news = page.querySelector("#gallery h2 [data-state]");
  if (!news || news.dataset.state === heading.dataset.state) return;

  const fresh = document.adoptNode(page.querySelector("[data-gallery]"));
  await fresh.querySelector("figure img")?.decode().catch(() => {});
  const old = document.querySelector("[data-gallery]");
  const before = new Map(chosen(old).map((box) => [box.value, box.checked]));
  for (const box of chosen(fresh)) {
    if (before.has(box.value)) box.checked = before.get(box.value);
    else box.closest("tr").classList.add("new");
  }
  tell(fresh);
  const now = document.adoptNode(page.querySelector(".course-state")); // it may have been closed elsewhere
  tell(now);
  const held = state.contains(document.activeElement) && document.activeElement.closest(changing.replaceAll(":scope > ", ""));
  const unfolded = state.querySelector("[data-blocked]")?.open;
  for (const part of state.querySelectorAll(changing)) part.remove();
  const parts = [...now.querySelectorAll(changing)];
  state.prepend(...parts.filter((part) => !part.matches("[data-blocked]")));
  state.querySelector("[data-end]").after(...parts.filter((part) => part.matches("[data-blocked]")));
  state.querySelector("[data-blocked]")?.toggleAttribute("open", Boolean(unfolded));
  if (held) state.querySelector("button").focus();
  renewNames(page);
  const focused = old.contains(document.activeElement) && document.activeElement;
  old.replaceWith(fresh);
  heading.dataset.state = news.dataset.state;
  heading.textContent = news.textContent;
  const form = document.getElementById("chosen-runs");
  if (form) choose(form);
  if (focused) (chosen(fresh).find((box) => box.value === focused.value) || fresh.querySelector("button"))?.focus();
}

// The deadline is entered in the teacher's time zone and sent in UTC.
const end = document.getElementById("f-ends");
document.querySelector("[data-zone]").textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (end.defaultValue) {
  const at = new Date(end.defaultValue + "Z");
  end.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
end.form.addEventListener("formdata", (e) => {
  if (end.value) e.formData.set("ends", new Date(end.value).toISOString().slice(0, 16));
});

again(look);
