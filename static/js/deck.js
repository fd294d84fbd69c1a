// Printable slides: chooses the largest font size that fits, the same for all builds of a slide,
// and loads every picture before the print dialog opens.
const sizes = [2.5, 2.3, 2.1, 1.95, 1.8, 1.65, 1.5, 1.4, 1.3, 1.2, 1.1, 1]; // per cent of the page width

/** Whether everything on a page fits. */
const fits = (body) => ![body, ...body.querySelectorAll(".deck-text, li, figcaption, math[display=block]")].some((e) => e.scrollWidth > e.clientWidth + 2 && e.clientWidth || (e === body && e.scrollHeight > e.clientHeight + 1));

/** Gives the pages of a screen the first size in which the last and fullest of them fits. */
function size(group) {
  const last = group.at(-1);
  for (const k of sizes) {
    last.style.setProperty("--letters", `${k}cqw`);
    if (fits(last)) break;
  }
  for (const body of group) body.style.setProperty("--letters", last.style.getPropertyValue("--letters"));
}

const groups = new Map();
for (const sheet of document.querySelectorAll(".deck-sheet")) {
  const of = sheet.querySelector("h2").textContent + sheet.className + (sheet.matches(".deck-ask, .deck-figures, .deck-derived") ? groups.size : "");
  groups.set(of, [...(groups.get(of) ?? []), sheet.querySelector(".deck-body")]);
}
for (const group of groups.values()) size(group);

const button = document.querySelector("[data-print]");
button.hidden = false;
button.addEventListener("click", async () => {
  button.disabled = true;
  const images = [...document.images];
  for (const i of images) i.loading = "eager";
  await Promise.all(images.map((i) => i.decode().catch(() => {})));
  button.disabled = false;
  print();
});
