// The key that hides the names of students on a teacher's pages, and shows them again.
document.addEventListener("keydown", (e) => {
  if (e.key !== "h" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog")) return;
  const form = document.querySelector("[data-names]");
  form?.requestSubmit(form.querySelector("[type=submit]"));
});
