// Run lists: buttons that need a selection are disabled without one, and deleting asks first.

/** Updates the buttons of a run list as the selection changes. */
export function choose(form) {
  const count = form.querySelector("[data-count]");
  const none = count.dataset.none + (matchMedia("(hover: hover)").matches ? " Shift-click selects a range." : "");
  const reflect = () => {
    const every = form.querySelector("[data-all]")?.checked;
    const n = new Set([...form.querySelectorAll('input[name="run"]:checked')].map((b) => b.value)).size;
    const most = Number(form.querySelector("[data-most]")?.dataset.most || Infinity);
    count.textContent = every ? "all that match are selected" : !n ? none : n > most ? `${n} selected: at most ${most} can be compared` : `${n} selected`;
    for (const b of form.querySelectorAll("[data-needs]")) {
      b.disabled = (n < Number(b.dataset.needs) || n > Number(b.dataset.most || Infinity)) && !(every && !b.dataset.most);
    }
  };
  form.addEventListener("change", reflect);
  let last = null; // the box last clicked, from which Shift selects a range
  form.addEventListener("click", (e) => {
    if (!e.target.matches('input[name="run"]')) return;
    const boxes = [...form.querySelectorAll('input[name="run"]')];
    const from = boxes.indexOf(last);
    const to = boxes.indexOf(e.target);
    last = e.target;
    if (!e.shiftKey || from < 0) return;
    getSelection()?.removeAllRanges(); // the click has selected the text in between
    for (const box of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) box.checked = e.target.checked;
  });
  const all = form.querySelector("[data-page]");
  all?.addEventListener("change", () => {
    for (const box of form.querySelectorAll('input[name="run"]')) box.checked = all.checked;
  });
  form.addEventListener("submit", (e) => {
    const question = e.submitter?.dataset.confirm;
    if (question && !confirm(question)) e.preventDefault();
  });
  reflect();
}

const head = document.querySelector("#chosen-runs thead th");
if (head) {
  const box = document.createElement("input");
  Object.assign(box, { type: "checkbox", title: "Select all on this page" });
  box.dataset.page = "";
  box.setAttribute("aria-label", "Select all on this page");
  head.replaceChildren(box);
}
const form = document.getElementById("chosen-runs");
if (form) choose(form);
