// A course on a projector: live counts of submissions and answers.
import { again } from "./again.js";

const count = document.querySelector("[data-count]");

/** Copies the counts from a page. */
function look(page) {
  const fresh = page.querySelector("[data-count]").textContent.trim();
  if (count.textContent.trim() !== fresh) count.textContent = fresh;
}

again(look);
