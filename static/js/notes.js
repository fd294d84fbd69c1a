// A presenter's second window: it follows the slides of the first, and turns them.
const channel = new BroadcastChannel("marginlab-slides");
const page = document.querySelector("[data-notes]");
const state = page.querySelector("[data-state]");
let from = Number((sessionStorage.begun ??= Date.now()));

const two = (n) => String(n).padStart(2, "0");
function tick() {
  const now = new Date(), gone = Math.max(0, Math.floor((now - from) / 1000));
  page.querySelector("[data-clock]").textContent = `${two(now.getHours())}:${two(now.getMinutes())}`;
  page.querySelector("[data-elapsed]").textContent = `${Math.floor(gone / 60)}:${two(gone % 60)}`;
}
page.querySelector(".clocks").hidden = false;
tick();
setInterval(tick, 1000);
page.querySelector("[data-restart]").addEventListener("click", () => {
  from = sessionStorage.begun = Date.now();
  channel.postMessage({ begun: from });
  tick();
});

let followed = false; // slides are open
channel.addEventListener("message", ({ data }) => {
  if (!data.notes) return;
  if (data.notes !== location.pathname) return location.replace(data.notes);
  followed = true;
  for (const li of page.querySelectorAll("[data-part]")) {
    const here = li.dataset.part === data.part;
    li.classList.toggle("current", here);
    if (li.dataset.part === "numbers") li.hidden = !data.numbers;
    if (here) state.textContent = `On the screen: ${[li.textContent, data.step].filter(Boolean).join(", ")}`;
  }
});
channel.postMessage({ ask: true });

page.addEventListener("click", (e) => {
  if (e.detail) document.activeElement.blur(); // by the pointer, which leaves the keys with the presenter
  const key = e.target.closest("[data-key]")?.dataset.key;
  if (!key || !followed) return; // on its own the page is a page
  e.preventDefault();
  channel.postMessage({ key });
});
page.querySelector("[data-afresh]").addEventListener("submit", async (e) => {
  e.preventDefault();
  const form = e.target;
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!response.ok) throw new Error();
    channel.postMessage({ afresh: true });
    state.textContent = "Every question of this lesson is folded again.";
  } catch {
    form.submit(); // the page itself
  }
});
const keys = ["PageDown", "ArrowRight", "ArrowDown", " ", "PageUp", "ArrowLeft", "ArrowUp", "Home", "r", "+", "-", "e", "b", "."]; // of the slides
document.addEventListener("keydown", (e) => {
  if (!keys.includes(e.key) || !followed || e.ctrlKey || e.metaKey || e.altKey || (e.key === " " && e.target.closest("button"))) return;
  e.preventDefault();
  channel.postMessage({ key: e.key, shift: e.shiftKey });
});
