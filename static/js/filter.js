// Completion for the filter of the run list: fields, operators and values.

const joins = ["and", "or"];

/** The completions of text, which ends at the caret: the token begun there and its candidates. */
export function complete(text, fields, tags) {
  const quoted = (text.match(/"/g) || []).length % 2 === 1;
  const begun = quoted ? text.slice(text.lastIndexOf('"')) : text.match(/[^\s()=<>!~]*$/)[0];
  const before = text.slice(0, text.length - begun.length).trimEnd();
  const named = (name) => {
    const as = { accuracy: "test_accuracy", dataset: "data" }[name.toLowerCase()] || name;
    return fields.find((f) => f.name === as) || fields.find((f) => f.name.toLowerCase() === as.toLowerCase());
  };
  let may;
  const compared = before.match(/([\w.]+)\s*(=|!=|<=|>=|<|>|~)$/);
  const last = before.match(/[^\s()=<>!~]+$/)?.[0];
  if (compared) {
    const f = named(compared[1]);
    may = !f ? [] : f.name === "tag" ? tags.map(quote) : f.values || [];
    may = may.map((text) => ({ text }));
  } else if (last && !quoted && named(last) && !/[=<>~]\s*\S+$/.test(before)) {
    const kind = named(last).kind; // as of a store.Field: text, number, switch, time, list
    may = (kind === 1 || kind === 3 ? ["=", ">", ">=", "<", "<=", "!="] : ["=", "!=", "~"]).map((text) => ({ text }));
  } else if (before === "" || /\($/.test(before) || /(^|[\s()])(and|or|not)$/i.test(before)) {
    const order = [...fields].sort((a, b) => !!b.first - !!a.first);
    may = [{ text: "accuracy", help: "held out" }, ...order.map((f) => ({ text: f.name, help: f.label }))];
  } else {
    may = joins.map((text) => ({ text }));
  }
  const low = begun.toLowerCase().replace(/^"/, "");
  const hits = may.filter((m) => m.text.toLowerCase().replace(/^"/, "").startsWith(low));
  const inside = low ? may.filter((m) => !hits.includes(m) && `${m.text} ${m.help || ""}`.toLowerCase().includes(low)) : [];
  const all = [...hits, ...inside];
  return { begun, may: all.length === 1 && all[0].text === begun ? [] : all.slice(0, 10) };
}

const quote = (text) => (/^[\p{L}\p{N}_.\-]+$/u.test(text) ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`);

/** Adds completion to a filter field. */
export function attach(input) {
  const fields = JSON.parse(input.dataset.fields);
  const tags = JSON.parse(input.dataset.tags) || [];
  const list = document.createElement("ul");
  list.className = "completions";
  list.id = "f-where-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "what may come next");
  list.hidden = true;
  input.after(list);
  Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id }).forEach(([k, v]) => input.setAttribute(k, v));
  let at = -1;
  let now = { begun: "", may: [] };

  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (i) => {
    at = i;
    [...list.children].forEach((li, k) => li.setAttribute("aria-selected", String(k === i)));
    list.children[i]?.scrollIntoView({ block: "nearest" });
    if (i >= 0) input.setAttribute("aria-activedescendant", list.children[i].id);
  };
  const take = (i) => {
    const end = input.selectionStart;
    const from = end - now.begun.length;
    const rest = input.value.slice(end);
    const put = `${now.may[i].text}${rest.startsWith(" ") ? "" : " "}`;
    input.value = input.value.slice(0, from) + put + rest;
    input.setSelectionRange(from + put.length, from + put.length);
    show();
  };
  const show = () => {
    now = complete(input.value.slice(0, input.selectionStart), fields, tags);
    if (!now.may.length) return close();
    list.replaceChildren(
      ...now.may.map((m, i) => {
        const li = document.createElement("li");
        li.id = `f-where-${i}`;
        li.setAttribute("role", "option");
        li.textContent = m.text;
        if (m.help && m.help !== m.text) {
          const help = document.createElement("span");
          help.className = "quiet";
          help.textContent = ` ${m.help}`;
          li.append(help);
        }
        li.addEventListener("mousedown", (e) => {
          e.preventDefault();
          take(i);
        });
        return li;
      }),
    );
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(-1);
  };
  input.addEventListener("input", show);
  input.addEventListener("click", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      if (list.hidden) return show();
      const n = list.children.length;
      mark((at + (e.key === "ArrowDown" ? 1 : at < 0 ? n : n - 1)) % n);
    } else if (e.key === "Enter" && !list.hidden && at >= 0) {
      e.preventDefault();
      take(at);
    } else if (e.key === "Escape" && !list.hidden) {
      e.preventDefault();
      close();
    }
  });
}

const input = document.getElementById("f-where");
if (input) attach(input);
