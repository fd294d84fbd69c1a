// The key that hides and shows student names on a teacher's pages.

/** Adopts the button of a newer page, since names can be hidden from another window. */
export function renewNames(page) {
  const old = document.querySelector("[data-names]"), fresh = document.adoptNode(page.querySelector("[data-names]"));
  const pressed = old.contains(document.activeElement);
  old.replaceWith(fresh);
  if (pressed) fresh.querySelector("button").focus();
}

document.addEventListener("keydown", (e) => {
  if (e.key !== "h" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog")) return;
  const form = document.querySelector("[data-names]");
  form?.requestSubmit(form.querySelector("[type=submit]"));
});
