// Live results of a course's answers to the questions of a lesson.
import { again } from "./again.js";
import { renewNames } from "./names.js";
import { tell } from "./times.js";

const part = (root) => root.querySelector("[data-answers]");
const stops = (root) => [...root.querySelectorAll("a, summary, [tabindex]")]; // tab stops

/** Copies the answers from a newer page. */
function look(page) {
  const old = part(document), fresh = part(page);
  if (!fresh || fresh.dataset.state === old.dataset.state) return;
  tell(fresh);
  renewNames(page);
  const focused = stops(old).indexOf(document.activeElement);
  const aside = [...old.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  const names = old.querySelector("details"), unfolded = fresh.querySelector("details");
  if (names && unfolded) unfolded.open = names.open;
  old.replaceWith(document.adoptNode(fresh));
  fresh.querySelectorAll(".scroll").forEach((box, i) => (box.scrollLeft = aside[i] ?? 0));
  stops(fresh)[focused]?.focus({ preventScroll: true });
}

again(look);
