// A study's page: how far it is, as long as it is under way.

const id = "study";
const pause = 1500; // ms between two looks, or ten times as long as the last one took

async function look() {
  const began = performance.now();
  try {
    const response = await fetch(location.href);
    if (response.ok) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.getElementById(id);
      const old = document.getElementById(id);
      const held = document.activeElement;
      // Whoever is at a link or button there keeps it; only its words change meanwhile.
      if (fresh && !old.contains(held)) old.replaceWith(document.adoptNode(fresh));
      else if (fresh && !fresh.hasAttribute("data-pending")) location.reload();
    }
  } catch {
    // The server is away for a moment.
  }
  if (document.getElementById(id).hasAttribute("data-pending")) setTimeout(look, Math.max(pause, 10 * (performance.now() - began)));
}

if (document.getElementById(id).hasAttribute("data-pending")) setTimeout(look, pause);
