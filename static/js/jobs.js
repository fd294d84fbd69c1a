// The page of what is under way looks again by itself, and keeps the focus.

const pause = 1000; // ms between two looks, or ten times as long as the last one took

async function look() {
  const began = performance.now();
  const response = await fetch(location.href).catch(() => null);
  if (response?.ok) {
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("jobs");
    const focused = document.activeElement?.closest("#jobs form")?.action;
    document.getElementById("jobs").replaceWith(document.adoptNode(fresh));
    if (focused) [...fresh.querySelectorAll("form")].find((f) => f.action === focused)?.querySelector("button").focus({ preventScroll: true });
  }
  next(performance.now() - began);
}

function next(took) {
  if (Number(document.getElementById("jobs").dataset.open)) setTimeout(look, Math.max(pause, 10 * took));
}
next(0);
