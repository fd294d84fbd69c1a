// A course on a projector: how many have handed in and answered, as it changes.
import { again } from "./again.js";

const count = document.querySelector("[data-count]");

/** Takes the count of a page. */
function look(page) {
  const fresh = page.querySelector("[data-count]").textContent.trim();
  if (count.textContent.trim() !== fresh) count.textContent = fresh;
}

again(look);
