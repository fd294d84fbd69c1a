// The graph editor. The drawing is written as JSON into the form's text field.

const width = 600;
const height = 320;
const radius = 14;
const ns = "http://www.w3.org/2000/svg";

/** Creates an SVG element with attributes and text. */
function shape(name, attributes, text = "") {
  const e = document.createElementNS(ns, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.textContent = text;
  return e;
}

class Drawing {
  constructor(box) {
    this.box = box;
    this.text = document.getElementById(box.dataset.graph);
    this.svg = box.querySelector("svg");
    this.label = box.querySelector("[data-label]");
    this.remove = box.querySelector("[data-remove]");
    this.directed = box.querySelector("[data-directed]");
    this.says = box.querySelector("[role=status]");
    this.chosen = null; // {node} or {edge}
    this.from = -1; // first node of the edge being drawn; -1: none
    this.nodes = []; // {x, y, label}
    this.edges = []; // [u, v, label], without directions u < v
    box.hidden = false;
    this.read(JSON.parse(box.dataset.places || "null"));
    this.svg.addEventListener("pointerdown", (e) => this.down(e));
    this.svg.addEventListener("pointermove", (e) => this.move(e));
    this.svg.addEventListener("pointerup", (e) => this.up(e));
    this.svg.addEventListener("pointercancel", () => this.let());
    this.svg.addEventListener("keydown", (e) => this.key(e));
    this.label.addEventListener("input", () => this.name());
    this.label.addEventListener("keydown", (e) => e.key === "Enter" && e.preventDefault());
    this.remove.addEventListener("click", () => this.drop());
    this.directed.addEventListener("change", () => this.turn());
    this.text.addEventListener("input", () => this.read());
  }

  /** Reads the graph from the text field; positions are in edge lengths. */
  read(places) {
    let g;
    try {
      g = JSON.parse(this.text.value || '{"n":0}');
    } catch {
      return; // still being typed
    }
    const known = Number.isInteger(g.n) && g.n >= 0 && g.n <= 300 && Array.isArray(g.edges ?? []);
    if (!known || (g.edges ?? []).some((e) => !(e[0] >= 0 && e[0] < g.n && e[1] >= 0 && e[1] < g.n))) return;
    const old = this.nodes;
    this.nodes = Array.from({ length: g.n }, (_, v) => {
      const turn = (2 * Math.PI * v) / Math.max(g.n, 1);
      const at = old[v] ?? { x: width / 2 + 0.4 * height * Math.cos(turn), y: height / 2 + 0.4 * height * Math.sin(turn) };
      return { x: at.x, y: at.y, label: String(g.labels?.[v] ?? "") };
    });
    this.directed.checked = g.directed === true;
    this.edges = (g.edges ?? []).map(([u, v], k) => [...this.ends(u, v), String(g.edge_labels?.[k] ?? "")]);
    if (places?.length === g.n && g.n > 0) this.place(places);
    this.choose(null);
  }

  ends(u, v) {
    return this.directed.checked ? [u, v] : [Math.min(u, v), Math.max(u, v)];
  }

  joined(u, v) {
    return this.edges.some((e) => e[0] === u && e[1] === v);
  }

  /** Makes edges directed or undirected; of two opposite edges one is kept. */
  turn() {
    const edges = this.edges;
    this.edges = [];
    for (const [u, v, label] of edges) {
      const ends = this.ends(u, v);
      if (!this.joined(...ends)) this.edges.push([...ends, label]);
    }
    this.choose(null);
    this.write("");
  }

  place(places) {
    const xs = places.map((p) => p[0]);
    const ys = places.map((p) => p[1]);
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const [w, h] = [Math.max(...xs) - left, Math.max(...ys) - top];
    const unit = Math.min((width - 4 * radius) / Math.max(w, 1e-9), (height - 4 * radius) / Math.max(h, 1e-9), 70);
    places.forEach((p, v) => {
      this.nodes[v].x = width / 2 + unit * (p[0] - left - w / 2);
      this.nodes[v].y = height / 2 - unit * (p[1] - top - h / 2);
    });
  }

  /** Writes the graph into the text field. */
  write(says) {
    const g = { n: this.nodes.length };
    if (this.directed.checked) g.directed = true;
    g.edges = this.edges.map(([u, v]) => [u, v]);
    if (this.edges.some((e) => e[2])) g.edge_labels = this.edges.map((e) => e[2] || "?");
    if (this.nodes.some((v) => v.label)) g.labels = this.nodes.map((v) => v.label || "?");
    this.text.value = g.n ? JSON.stringify(g) : "";
    this.says.textContent = says;
    this.draw();
  }

  choose(what) {
    this.chosen = what;
    const node = this.nodes[what?.node];
    const edge = this.edges[what?.edge];
    this.label.disabled = !node && !edge;
    if (node || edge) this.label.value = node ? node.label : edge[2];
    this.remove.disabled = !what;
    this.draw();
  }

  draw() {
    const parts = [];
    this.edges.forEach(([u, v, label], k) => {
      const [a, b] = [this.nodes[u], this.nodes[v]];
      const long = Math.max(Math.hypot(b.x - a.x, b.y - a.y), 1);
      const [x, y] = [(b.x - a.x) / long, (b.y - a.y) / long];
      const aside = this.joined(v, u) ? 0.4 * radius : 0; // beside the opposite edge
      const at = (along, off = 0) => ({ x: a.x + along * x - (aside + off) * y, y: a.y + along * y + (aside + off) * x });
      const [from, to] = [at(0), at(long)];
      const chosen = this.chosen?.edge === k ? "chosen" : "";
      const ends = { x1: from.x, y1: from.y, x2: to.x, y2: to.y, "data-edge": k };
      parts.push(shape("line", { ...ends, class: chosen }));
      if (this.directed.checked) {
        const head = [at(long - radius), at(long - radius - 9, 4), at(long - radius - 9, -4)];
        parts.push(shape("polygon", { points: head.map((p) => `${p.x},${p.y}`).join(" "), class: chosen }));
      }
      const middle = at(0.4 * long, 8);
      if (label) parts.push(shape("text", { x: middle.x, y: middle.y + 4 }, label.slice(0, 8)));
      parts.push(shape("line", { ...ends, class: "reach" }));
    });
    if (this.line) parts.push(shape("line", { ...this.line, class: "drawn" }));
    this.nodes.forEach((node, v) => {
      const g = shape("g", { "data-node": v, class: this.chosen?.node === v || this.from === v ? "chosen" : "" });
      g.append(shape("circle", { cx: node.x, cy: node.y, r: radius }), shape("text", { x: node.x, y: node.y + 4 }, node.label.slice(0, 3) || v));
      parts.push(g);
    });
    this.svg.replaceChildren(...parts);
  }

  at(e) {
    const r = this.svg.getBoundingClientRect();
    return { x: ((e.clientX - r.left) / r.width) * width, y: ((e.clientY - r.top) / r.height) * height };
  }

  near({ x, y }) {
    return this.nodes.findIndex((v) => Math.hypot(v.x - x, v.y - y) <= 1.4 * radius);
  }

  down(e) {
    if (e.button) return;
    const node = this.near(this.at(e));
    const edge = e.target.dataset.edge;
    this.svg.setPointerCapture(e.pointerId);
    this.press = { node, edge: edge === undefined ? -1 : Number(edge) };
  }

  move(e) {
    if (!this.press || this.press.node < 0) return;
    const to = this.at(e);
    const from = this.nodes[this.press.node];
    this.line = this.near(to) === this.press.node ? null : { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
    this.draw();
  }

  up(e) {
    const press = this.press;
    if (!press) return;
    this.let();
    const at = this.at(e);
    const node = this.near(at);
    if (press.node >= 0 && node === press.node) this.choose({ node });
    else if (press.node >= 0) this.join(press.node, node < 0 ? this.add(at) : node);
    else if (press.edge >= 0) this.choose({ edge: press.edge });
    else this.write(`Node ${this.add(at)} added.`);
  }

  let() {
    this.press = this.line = null;
  }

  add({ x, y }) {
    const inside = (v, most) => Math.min(Math.max(v, radius + 2), most - radius - 2);
    this.nodes.push({ x: inside(x, width), y: inside(y, height), label: this.nodes[this.chosen?.node]?.label ?? "" });
    this.choose({ node: this.nodes.length - 1 });
    return this.nodes.length - 1;
  }

  join(u, v) {
    if (u === v) return;
    const ends = this.ends(u, v);
    if (!this.joined(...ends)) this.edges.push([...ends, ""]);
    this.choose({ node: v });
    this.write(`Nodes ${u} and ${v} are joined.`);
  }

  name() {
    const node = this.nodes[this.chosen?.node];
    const edge = this.edges[this.chosen?.edge];
    if (node) node.label = this.label.value.trim();
    else if (edge) edge[2] = this.label.value.trim();
    else return;
    this.write("");
  }

  drop() {
    const { node, edge } = this.chosen ?? {};
    if (edge !== undefined) {
      this.edges.splice(edge, 1);
    } else if (node !== undefined) {
      this.nodes.splice(node, 1);
      const later = (v) => (v > node ? v - 1 : v);
      this.edges = this.edges.filter(([u, v]) => u !== node && v !== node).map(([u, v, label]) => [later(u), later(v), label]);
    } else {
      return;
    }
    this.from = -1;
    this.choose(null);
    this.write(edge === undefined ? `Node ${node} deleted.` : "Edge deleted.");
  }

  /** Keys: N adds a node, arrows move between nodes, E adds an edge to the node chosen next, Delete removes. */
  key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const n = this.nodes.length;
    const node = this.chosen?.node ?? -1;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (step && n) {
      const next = (node + step + n) % n;
      this.choose({ node: node < 0 ? 0 : next });
      this.says.textContent = `Node ${this.chosen.node} ${this.nodes[this.chosen.node].label}`;
    } else if (e.key === "n" || e.key === "N") {
      const turn = 2.4 * n; // enough places to keep nodes apart
      const far = Math.min(30 * Math.sqrt(n), 0.42 * height);
      const added = this.add({ x: width / 2 + 1.6 * far * Math.cos(turn), y: height / 2 + far * Math.sin(turn) });
      if (node >= 0) this.join(node, added);
      else this.write(`Node ${added} added.`);
    } else if ((e.key === "e" || e.key === "E") && node >= 0) {
      if (this.from < 0) {
        this.from = node;
        this.says.textContent = `An edge begins at node ${node}: go to another and press E again.`;
      } else {
        const from = this.from;
        this.from = -1;
        this.join(from, node);
      }
      this.draw();
    } else if (e.key === "Delete" || e.key === "Backspace") {
      this.drop();
    } else if (e.key === "Escape") {
      this.from = -1;
      this.choose(null);
    } else {
      return;
    }
    e.preventDefault();
  }
}

for (const box of document.querySelectorAll("[data-graph]")) new Drawing(box);
