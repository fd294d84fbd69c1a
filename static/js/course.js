// Announces a live question on the course's other pages without moving the focus or the layout.
import { follow, fragment } from "./live.js";

const notice = document.querySelector("[data-asked]");
if (notice) {
  const path = notice.dataset.asked;
  const offer = () => notice.querySelector("[data-later]")?.removeAttribute("hidden");
  offer();
  let looks = 0;
  const look = async () => {
    const mine = ++looks;
    const response = await fetch(`${path}?part=asked`);
    if (!response.ok) throw new Error(response.statusText);
    const fresh = await fragment(await response.text());
    if (mine !== looks) return; // superseded: a later request sees a newer state, even if answered first
    const waits = (root) => root.querySelector("[data-waits]")?.dataset.waits ?? "";
    const asked = waits(fresh);
    if (asked === waits(notice)) return;
    notice.replaceChildren(fresh);
    notice.classList.toggle("floating", asked !== "");
    notice.hidden = false;
    offer();
  };
  notice.addEventListener("click", (e) => {
    if (e.target.matches("[data-later]")) notice.hidden = true;
  });
  follow(`${path}/events`, { phase: look });
}
