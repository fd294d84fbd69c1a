// Polling for pages that follow events elsewhere.
const every = 4000; // milliseconds

/** Refetches the page at intervals, and at once when it becomes visible, and passes it to take. Unchanged pages come from the browser's cache. */
export function again(take) {
  async function look() {
    const response = await fetch(location.href);
    if (response.ok) await take(new DOMParser().parseFromString(await response.text(), "text/html"));
  }
  async function watch() {
    if (!document.hidden) await look().catch(() => {});
    setTimeout(watch, every);
  }
  setTimeout(watch, every);
  document.addEventListener("visibilitychange", () => document.hidden || look().catch(() => {}));
}
