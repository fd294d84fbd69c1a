// Polling for pages that follow events elsewhere.
const every = 4000; // milliseconds

/** Refetches the page at intervals, and at once when it becomes visible, and passes it to take. Unchanged pages come from the browser's cache. */
export function again(take) {
  let looks = 0;
  async function look() {
    const mine = ++looks;
    const response = await fetch(location.href), text = await response.text();
    if (response.ok && mine === looks) await take(new DOMParser().parseFromString(text, "text/html")); // else superseded by a later request
  }
  async function watch() {
    if (!document.hidden) await look().catch(() => {});
    setTimeout(watch, every);
  }
  setTimeout(watch, every);
  document.addEventListener("visibilitychange", () => document.hidden || look().catch(() => {}));
}
