// The page of a regularisation path in progress: its progress, then the path.

import { refusals } from "./live.js";

const pause = 2000; // ms, after a failure to reach the server

/** Fetches the page, a long poll; returns whether to poll again. */
async function look(section) {
  const text = await fetch(section.dataset.follow).then((r) => (r.status in refusals ? null : r.text())).catch(() => null);
  if (text === null) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    return true;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.getElementById("path");
  if (!fresh) {
    document.getElementById("main").replaceWith(document.adoptNode(page.getElementById("main")));
    return false;
  }
  for (const part of ["[data-progress]", "[data-time]"]) {
    const [old, text] = [section.querySelector(part), fresh.querySelector(part).textContent];
    if (old.textContent !== text) old.textContent = text; // avoid repeated announcements
  }
  const [bar, now] = [section, fresh].map((s) => s.querySelector("progress"));
  if (now.hasAttribute("value")) {
    bar.max = now.max;
    bar.value = now.value;
  } else bar.removeAttribute("value");
  return true;
}

const section = document.getElementById("path");
if (section) while (await look(section));
