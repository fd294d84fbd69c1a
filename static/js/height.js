// A demo in a page of another site tells that page how high it is, and again whenever that
// changes. The manual ("Embed a demo") documents the message; the HTML that embeds a demo
// comes with the script that listens.
const main = document.querySelector("main");
const below = 12; // pixels, so that no scroll bar comes and goes

if (parent !== window)
  new ResizeObserver(() => {
    const marginlabHeight = Math.ceil(main.getBoundingClientRect().bottom + scrollY) + below;
    parent.postMessage({ marginlabHeight }, "*"); // a height is no secret
  }).observe(main);
