// The list of runs: buttons that need a choice say so, deleting asks first.

const form = document.getElementById("chosen-runs");
if (form) {
  const count = form.querySelector("[data-count]");
  const reflect = () => {
    const n = form.querySelectorAll('input[name="run"]:checked').length;
    count.textContent = n ? `${n} chosen` : "Choose two or more runs to compare them.";
    for (const b of form.querySelectorAll("[data-needs]")) b.disabled = n < Number(b.dataset.needs);
  };
  form.addEventListener("change", reflect);
  form.addEventListener("submit", (e) => {
    const question = e.submitter?.dataset.confirm;
    if (question && !confirm(question)) e.preventDefault();
  });
  reflect();
}
