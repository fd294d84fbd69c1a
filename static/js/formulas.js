// Formulas wider than their container.

/** Makes a formula that overflows scrollable by keyboard, too. */
const formulas = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.scrollWidth > target.clientWidth + 1) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

/** Watches the formulas below an element. */
export const watchFormulas = (root) => root.querySelectorAll('math[display="block"]').forEach((m) => formulas.observe(m));
