// An embedded demo reports its height to the embedding page, now and on every change. The
// manual ("Embed a demo") documents the message; the embed code includes the listener.
const main = document.querySelector("main");
const below = 12; // pixels of slack, against flickering scroll bars

if (parent !== window)
  new ResizeObserver(() => {
    const marginlabHeight = Math.ceil(main.getBoundingClientRect().bottom + scrollY) + below;
    parent.postMessage({ marginlabHeight }, "*"); // a height is no secret
  }).observe(main);
