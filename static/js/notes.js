// The presenter's second window or phone: follows the slides and controls them.
import { pad } from "./dot.js";
import { watchFormulas } from "./formulas.js";
import { answer, follow } from "./live.js";

const page = document.querySelector("[data-notes]");
const { remote } = page.dataset; // where a phone sends keys; empty: the slides are in this browser
const channel = remote ? { postMessage() {}, addEventListener() {} } : new BroadcastChannel("marginlab-slides");
watchFormulas(page);
const state = page.querySelector("[data-state]");
let from = Number((sessionStorage.begun ??= Date.now()));

const two = (n) => String(n).padStart(2, "0");
function tick() {
  const now = new Date(), gone = Math.max(0, Math.floor((now - from) / 1000));
  page.querySelector("[data-clock]").textContent = `${two(now.getHours())}:${two(now.getMinutes())}`;
  page.querySelector("[data-elapsed]").textContent = `${Math.floor(gone / 60)}:${two(gone % 60)}`;
}
if (page.querySelector(".clocks")) {
  page.querySelector(".clocks").hidden = false;
  tick();
  setInterval(tick, 1000);
}
page.querySelector("[data-restart]")?.addEventListener("click", () => {
  from = sessionStorage.begun = Date.now();
  channel.postMessage({ begun: from });
  tick();
});

let followed = false; // slides are open
channel.addEventListener("message", ({ data }) => {
  if (!data.notes) return;
  if (data.notes !== location.pathname) return location.replace(data.notes);
  followed = true;
  for (const li of page.querySelectorAll("[data-part]")) if (li.dataset.part === "numbers") li.hidden = !data.numbers;
  mark(data.part, data.step);
});
channel.postMessage({ ask: true });

/** Shows which part is displayed. */
function mark(part, step) {
  for (const li of page.querySelectorAll("[data-part]")) {
    const here = li.dataset.part === part;
    li.classList.toggle("current", here);
    if (here) state.textContent = `On the screen: ${[li.textContent, step].filter(Boolean).join(", ")}`;
  }
}

/** Sends a key press to the slides. */
async function send(key, shift) {
  if (!remote) return channel.postMessage({ key, shift });
  try {
    await answer(remote, { method: "POST", body: new URLSearchParams({ key }) });
  } catch (error) {
    state.textContent = error.message;
  }
}

if (remote) {
  followed = true;
  const free = page.querySelector("[data-free]");
  follow(`${page.dataset.follow}/events`, { place: ({ version, slide, part, step, free: moving }) => {
    if (version && slide !== page.dataset.slide) return location.reload();
    if (free && version) free.checked = Boolean(moving); // another remote may have changed it
    mark(part, step && `step ${step}`);
  } });
  const touch = page.querySelector("[data-pad]");
  if (touch) pad(touch, (at) => answer(touch.dataset.pad, { method: "POST", body: new URLSearchParams(at) }));
  free?.addEventListener("change", (e) => {
    answer(remote.replace(/remote$/, "present"), { method: "POST", body: new URLSearchParams({ free: e.target.checked ? "1" : "0" }) }).catch((error) => (state.textContent = error.message));
  });
}

page.addEventListener("click", (e) => {
  if (e.detail) document.activeElement.blur(); // after a click, keys control the slides again
  const key = e.target.closest("[data-key]")?.dataset.key;
  if (!key || !followed) return; // without slides the links work as usual
  e.preventDefault();
  send(key);
});
page.querySelector("[data-afresh]")?.addEventListener("submit", async (e) => {
  e.preventDefault();
  const form = e.target;
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!response.ok) throw new Error();
    channel.postMessage({ afresh: true });
    state.textContent = "Every question of this lesson is folded again.";
  } catch {
    form.submit(); // fall back to navigation
  }
});
const keys = ["PageDown", "ArrowRight", "ArrowDown", " ", "PageUp", "ArrowLeft", "ArrowUp", "Home", "r", "+", "-", "e", "b", "."]; // forwarded to the slides
document.addEventListener("keydown", (e) => {
  if (!keys.includes(e.key) || !followed || e.ctrlKey || e.metaKey || e.altKey || (e.key === " " && e.target.closest("button, summary, input"))) return;
  e.preventDefault();
  send(e.key, e.shiftKey);
});
