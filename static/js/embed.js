// Embed code contains the demo's current height, measured in frames of this page as soon as the
// code unfolds; copying waits for that.

const widths = [640, 1000]; // typical widths of the surrounding columns in pixels
const patience = 10000; // milliseconds; the default height fits most demos
const spare = 20; // pixels, for a text that grows by a line when the demo changes

/** Measures the height in pixels of a page of this site in a frame of a given width. */
function height(address, width) {
  return new Promise((resolve) => {
    const frame = document.createElement("iframe");
    Object.assign(frame.style, { position: "fixed", insetInlineStart: "100%", visibility: "hidden", width: `${width}px`, height: "100vh" });
    frame.addEventListener("load", () => {
      const main = frame.contentDocument?.querySelector("main");
      resolve(main ? main.getBoundingClientRect().bottom : 0);
      frame.remove();
    });
    setTimeout(() => {
      resolve(0);
      frame.remove();
    }, patience);
    frame.src = address;
    document.body.append(frame);
  });
}

async function fit(field) {
  const html = document.createElement("template");
  html.innerHTML = field.value;
  const { pathname, search } = new URL(html.content.firstElementChild.src);
  const heights = await Promise.all(widths.map((width) => height(pathname + search, width)));
  const most = Math.ceil((Math.max(...heights) + spare) / 10) * 10;
  if (most > spare + 10) field.value = field.value.replace(/ height="\d+"/, ` height="${most}"`);
}

document.addEventListener(
  "toggle",
  (e) => {
    if (!e.target.matches("details.embed[open]")) return;
    const field = e.target.querySelector("textarea");
    field.ready = fit(field);
  },
  true,
);
