// A button beside each address that copies it.

for (const field of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${field.getAttribute("aria-label")}`);
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value); // not there on plain http
      told.textContent = "copied";
    } catch {
      field.focus();
      field.select();
      told.textContent = document.execCommand("copy") ? "copied" : "press Ctrl-C";
    }
  });
  field.after(button, told);
}
