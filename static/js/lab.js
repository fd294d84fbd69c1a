// The live lab: every change of a control or point requests a new answer.
import { Live, follow, fragment } from "./live.js";
import { addSliders, resolve } from "./sliders.js";
import { Stage, asking } from "./stage.js";
import { Editor } from "./editor.js";
import { Frame, listKeys } from "./frame.js";
import { Motion } from "./motion.js";
import { Legend } from "./legend.js";

const form = document.getElementById("lab");
const answer = document.getElementById("answer");
const status = form.querySelector("[data-status]");
const points = form.elements.namedItem("points");
const toolbar = form.querySelector("[data-editor]");
const darkness = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 40rem)");
const longQuery = 8000; // maximum length of a link's query
const plain = ["", "name", "who", "request"]; // controls unrelated to the training
const training = (name) => !plain.includes(name) && !name.startsWith("search.");

form.classList.add("live");
addSliders(form);

const limits = Object.assign(document.createElement("input"), { type: "hidden", name: "limits", value: form.dataset.limits });
const hide = Object.assign(document.createElement("input"), { type: "hidden", name: "hide", value: form.dataset.hide });
form.append(limits, hide);
const legend = new Legend(hide, () => live.ask(false));
const tools = form.querySelector("[data-view]");
tools.hidden = false;
const frame = new Frame(limits, tools, () => Boolean(editor?.on), () => editor?.cancel(), (coarse) => live.ask(coarse));

const editor = toolbar && new Editor(toolbar, form, frame, (text, coarse) => {
  points.value = text;
  points.dataset.edited = "true";
  form.querySelector(".more").open = true; // contains the button that saves points
  ask(coarse);
});

/** Shows the progress of a submission or a save. */
function watch(where) {
  for (const mark of where.querySelectorAll("[data-handed]")) {
    const stop = follow(mark.dataset.handed, { status: ({ status, error }) => {
      const said = { running: "in training", done: "trained", failed: `could not be trained: ${error}`, cancelled: "cancelled" }[status];
      if (said) mark.textContent = said;
      if ((said && status !== "running") || !mark.isConnected) stop();
    } });
  }
}
watch(form);

const motion = new Motion();
let stage;
function useStage() {
  stage = new Stage(answer.querySelector(".stage"), answer.querySelector("[data-readout]"));
  stage.look(() => !editor?.on && !frame.held?.far, (at) => probe(frame.movable ? at : null));
  frame.use(stage);
  editor?.use(stage);
  legend.use(stage);
}
useStage();
const widths = Object.keys(stage.data.frames).map(Number); // of the page's first picture; keep its width, so that nothing jumps
if (toolbar?.dataset.editor === "true") editor.edit();

const live = new Live(form.dataset.live, body, receive, answer, status, "Training…");
let { took, slow } = { took: Number(form.dataset.took), slow: form.dataset.slow === "true" }; // duration of the last training

/** Requests an answer; during a drag, a coarse one if trainings are quick. */
function ask(coarse) {
  if (!coarse || !slow) return live.ask(coarse);
  status.textContent = took > 0 ? `The last training took ${took.toFixed(1)} s: the picture follows when you let go.` : "The picture follows when you let go.";
}

// Until the user chooses, the default depends on the number of classes.
let positiveChosen = new URLSearchParams(location.search).has("positive");
form.elements.positive?.addEventListener("input", () => (positiveChosen = true));

function body(coarse) {
  const data = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (training(name) && !data.has(name)) data.append(name, value);
  if (darkness.matches) data.set("dark", "1");
  if (coarse) {
    data.set("coarse", "1");
    data.set("motion", "1");
    data.set("have", motion.have);
  }
  if (!positiveChosen) data.delete("positive");
  data.set("stage", narrow.matches ? Math.min(...widths) : Math.max(...widths));
  if (points?.dataset.edited) {
    if (points.value === "") data.set("points", "#");
  }
  return data;
}

const probe = asking((at) => {
  const data = body(false);
  data.set("at.s", at[0]);
  data.set("at.t", at[1]);
  return fetch(form.dataset.at, { method: "POST", body: data });
}, (at, lines) => stage.tell(at, lines));

/** Shows what changes during a drag; the rest of the page is updated afterwards. */
async function move(reply) {
  if (!(await motion.show(reply.motion, stage))) return;
  legend.lay(reply.motion.toggles);
  const headline = answer.querySelectorAll(".headline dd");
  reply.headline.forEach(([value, note], i) => {
    if (headline[i]) [headline[i].children[0].textContent, headline[i].children[1].textContent] = [value, note];
  });
  [took, slow] = [reply.took, !reply.live];
  status.textContent = reply.preview;
  performance.mark("picture");
}

async function receive(reply) {
  if (reply.motion) return move(reply);
  const refused = Object.entries(reply.errors);
  if (refused.length) { // keep the last valid picture while the user types
    reflect(reply);
    return refused.filter(([name]) => !form.querySelector(`[data-error-of="${name}"]`)).map(([, message]) => message).join(" ");
  }
  const fresh = await fragment(reply.html);
  const open = [...answer.querySelectorAll("details")].map((d) => d.open);
  const focused = stage.element.contains(document.activeElement), layer = legend.focused;
  motion.rest();
  answer.replaceChildren(fresh);
  answer.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? false));
  document.getElementById("tried")?.replaceChildren(await fragment(reply.tried));
  useStage();
  [took, slow] = [reply.took, !reply.live];
  if (layer) legend.focus(layer);
  else if (focused) stage.element.focus({ preventScroll: true });
  reflect(reply);
  performance.mark("picture");
}

/** Shows only the parameters that apply, with their errors. */
function reflect(reply) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    field.hidden = reply.hidden.includes(name);
    const error = field.querySelector("[data-error-of]");
    if (!error) continue;
    error.textContent = reply.errors[name] || "";
    error.hidden = !reply.errors[name];
    if (reply.errors[name]) for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    field.querySelector("input[name], select").setAttribute("aria-invalid", String(Boolean(reply.errors[name])));
    const slider = field.querySelector(".slider");
    if (slider && reply.resolved && name in reply.resolved) resolve(slider, reply.resolved[name]);
  }
  form.elements.name.placeholder = form.elements.name.title = reply.run_name;
  const heading = form.querySelector("h1");
  heading.textContent = heading.title = reply.name;
  for (const axis of ["x", "y"]) if (form.elements[axis]) form.elements[axis].value = reply[axis];
  const search = form.querySelector("[data-search-title]");
  if (search && reply.search) search.textContent = reply.search;
  const path = form.querySelector("[data-path]");
  if (path) path.hidden = !reply.path;
  const positive = form.elements.positive;
  if (positive && [...positive.options].map((o) => o.value).join("\n") !== reply.positives.map((o) => o.value).join("\n")) {
    positive.replaceChildren(...reply.positives.map((o) => new Option(o.label, o.value, o.chosen, o.chosen)));
  }
  if (Object.keys(reply.errors).length) return;
  const fits = reply.query.length < longQuery;
  if (fits) history.replaceState(null, "", `/lab?${reply.query}`);
  editor?.keep(!fits);
}

function showFormula(select) {
  const p = form.querySelector(`[data-formula-of="${select.name}"]`);
  const formula = select.selectedOptions[0]?.dataset.formula || "";
  if (!p) return;
  p.innerHTML = formula;
  p.hidden = formula === "";
  weigh();
}

/** Scales the C of the displayed objective with its slider. */
function weigh() {
  const slider = form.querySelector("[data-field=C] input[type=range]");
  const price = slider && [...form.querySelectorAll("[data-formula-of=learner] mi")].find((m) => m.textContent === "C");
  if (!price) return;
  price.classList.add("price");
  price.style.transform = `scale(${(0.7 + (0.7 * slider.value) / slider.max).toFixed(2)})`;
}
weigh();

/** Remembers which sections people open. A toggle also comes of those that a page opens. */
for (const fold of form.querySelectorAll("[data-fold]")) {
  const key = `fold ${fold.dataset.fold}`;
  try {
    if (localStorage.getItem(key)) fold.open = true;
    fold.firstElementChild.addEventListener("click", () => (fold.open ? localStorage.removeItem(key) : localStorage.setItem(key, "open")));
  } catch {
    break; // blocked: open them in this tab
  }
}

/** Principal components are plotted as a pair: when one axis changes, the other is chosen again. */
function pairAxes(changed) {
  const other = form.elements[changed.name === "x" ? "y" : "x"];
  if (!other) return;
  if (changed.value === "pca") other.value = "pca";
  else if (other.value === "pca") other.selectedIndex = -1;
}

form.addEventListener("input", (e) => {
  if (!training(e.target.name)) return;
  if (["x", "y"].includes(e.target.name)) pairAxes(e.target);
  if (["x", "y", "on", "points"].includes(e.target.name)) frame.release();
  if (e.target.dataset.reload !== undefined) return;
  if (e.target.name === "points") points.dataset.edited = "true";
  if (e.target.tagName === "SELECT") showFormula(e.target);
  if (e.target.name === "C") weigh();
  ask(Boolean(e.detail?.coarse));
});

/** Loads the lab anew with its controls, except some. */
function reload(except) {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (training(name) && !except(name) && !query.has(name)) query.append(name, value);
  location.assign(`/lab?${query}`);
}

// A course may have removed these controls. Regression and classification have different learners.
const ofData = ["points", "hash", "x", "y", "on", "positive", "target", "limits"];
form.elements.data?.addEventListener("change", () => reload((name) => ofData.includes(name) || name.startsWith("gen.")));
form.elements.target?.addEventListener("change", () => reload(() => false));

const saved = [];

/** Saves the run without leaving the page. A refused save is submitted normally, so that the page explains why. */
async function save(button) {
  const body = new URLSearchParams(new FormData(form));
  body.set("stay", "1");
  const place = form.querySelector("[data-saved]");
  button.disabled = true;
  try {
    const response = await fetch(button.formAction, { method: "POST", body }).catch(() => Promise.reject(new Error("The server cannot be reached.")));
    if (response.status === 422) return native(button);
    if (!response.ok) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      throw new Error(page.querySelector("main p")?.textContent ?? `The server answered ${response.status}.`);
    }
    const { id, html } = await response.json();
    place.replaceChildren(await fragment(html));
    watch(place);
    if (saved.push(id) > 1) {
      const compare = place.querySelector("[data-compare]");
      const few = saved.slice(-place.dataset.most);
      compare.href = `/compare?${few.map((r) => `run=${r}`).join("&")}`;
      compare.textContent = `Compare the ${few.length} saved here`;
      compare.hidden = false;
    }
    form.elements.name.value = "";
  } catch (error) {
    place.textContent = `Not saved: ${error.message}`;
  } finally {
    button.disabled = false;
  }
}

/** Submits the form through a button, as the browser does. */
function native(button) {
  button.disabled = false;
  delete button.dataset.save;
  form.requestSubmit(button);
}

// Enter in a name presses the button beside it, in another field it requests an answer; Save stays
// here, the other buttons leave the page.
form.addEventListener("submit", (e) => {
  const named = document.activeElement.matches("#f-who, #f-name") && document.activeElement.parentElement.querySelector("[formaction]");
  if (named && e.submitter?.matches(".update")) {
    e.preventDefault();
    setTimeout(() => named.click()); // a form that is being submitted submits nothing else
    return;
  }
  if (e.submitter?.matches("[data-save]")) {
    e.preventDefault();
    save(e.submitter);
  }
  if (!e.submitter?.matches(".update")) return;
  e.preventDefault();
  ask(false);
});

// k selects the next kernel.
document.addEventListener("keydown", (e) => {
  if (e.key !== "k" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) return;
  const kernel = form.elements.kernel;
  if (!kernel || kernel.matches(":disabled")) return;
  kernel.selectedIndex = (kernel.selectedIndex + 1) % kernel.options.length;
  showFormula(kernel);
  ask(false);
});

listKeys(form);

darkness.addEventListener("change", () => ask(false));

// A state too long for the URL is restored after a reload.
if (editor?.lost) {
  points.value = editor.lost;
  points.dataset.edited = "true";
  ask(false);
}

// The page was served before its model was trained.
if (form.dataset.waits === "true") ask(false);
