// A list of runs: buttons that need a choice say so, deleting asks first.

/** Watches what is chosen in a form of runs. */
export function choose(form) {
  const count = form.querySelector("[data-count]");
  const reflect = () => {
    const n = form.querySelectorAll('input[name="run"]:checked').length;
    const most = Number(form.querySelector("[data-most]")?.dataset.most || Infinity);
    count.textContent = !n ? count.dataset.none : n > most ? `${n} chosen: at most ${most} can be compared` : `${n} chosen`;
    for (const b of form.querySelectorAll("[data-needs]")) {
      b.disabled = n < Number(b.dataset.needs) || n > Number(b.dataset.most || Infinity);
    }
  };
  form.addEventListener("change", reflect);
  form.addEventListener("submit", (e) => {
    const question = e.submitter?.dataset.confirm;
    if (question && !confirm(question)) e.preventDefault();
  });
  reflect();
}

const form = document.getElementById("chosen-runs");
if (form) choose(form);
