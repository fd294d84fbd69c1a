// Copy buttons beside fields. Waits for the field's promise ready, if it has one.

/** Adds missing copy buttons to a part of the page. */
function offer(part) {
  for (const field of part.querySelectorAll("[data-copy]:not(:has(+ [data-copies]))")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.dataset.copies = "";
    button.setAttribute("aria-label", `Copy: ${field.getAttribute("aria-label")}`);
    const told = document.createElement("span");
    told.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      if (field.ready) {
        told.textContent = "measuring…";
        await field.ready;
      }
      try {
        await navigator.clipboard.writeText(field.value); // unavailable without TLS
        told.textContent = "copied";
      } catch {
        field.focus();
        field.select();
        told.textContent = document.execCommand("copy") ? "copied" : "press Ctrl-C";
      }
    });
    field.after(button, told);
  }
}

offer(document);
document.addEventListener("toggle", (e) => offer(e.target), true); // also for later content
