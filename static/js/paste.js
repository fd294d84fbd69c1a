// Rows or a file pasted anywhere outside a field become a data set.

/** Whether a text looks like rows: at least two lines with separators, or JSON. */
function isTable(text) {
  const lines = text.trim().split(/\r\n|\r|\n/, 3);
  return /^\s*[[{]/.test(text) || (lines.length > 1 && lines.slice(0, 2).every((line) => /[\t,;|]/.test(line)));
}

addEventListener("paste", (e) => {
  if (e.defaultPrevented || e.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const [file] = e.clipboardData.files;
  const text = e.clipboardData.getData("text/plain");
  const table = isTable(text);
  if (!table && (!file || file.type.startsWith("image/"))) return;
  e.preventDefault();
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/datasets";
  form.enctype = "multipart/form-data";
  form.hidden = true;
  const add = (element, values) => form.append(Object.assign(document.createElement(element), values));
  if (table) {
    add("textarea", { name: "text", value: text });
    add("input", { name: "name", value: "Pasted rows" });
  } else {
    add("input", { type: "file", name: "file", files: e.clipboardData.files });
  }
  document.body.append(form);
  form.submit();
});
