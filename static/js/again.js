// A page that follows what happens elsewhere asks for itself again.
const every = 4000; // milliseconds

/** Hands the page as it is now to take, again and again, and at once when somebody comes back to it. The browser's cache answers as long as nothing is new. */
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
