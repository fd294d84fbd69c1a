// The picture during a drag: a display list painted on a canvas over the image.

/** Margin in pixels that covers the reach of any mark. */
const reach = 24;

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Reads bytes and varints from base64. */
class Reader {
  constructor(text) {
    this.bytes = bytes(text);
    this.at = 0;
  }

  get left() {
    return this.at < this.bytes.length;
  }

  byte() {
    return this.bytes[this.at++];
  }

  number() {
    let n = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      n |= (byte & 127) << shift;
      if (!(byte >= 128)) return n;
    }
  }

  signed() {
    const n = this.number();
    return n & 1 ? -(n + 1) / 2 : n / 2;
  }
}

/** Paints the server's display lists over the image of a stage. */
export class Motion {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "motion";
    this.canvas.setAttribute("aria-hidden", "true");
    this.runs = new Map(); // hash -> marks that the server may leave out
    this.layers = new Map(); // hash, size and looks of a run of the last picture -> the run, painted
    this.turn = 0;
  }

  /** The hash of the longest cached run, sent to the server. */
  get have() {
    return this.runs.keys().next().value ?? "";
  }

  /** Paints a list over the image of the stage. Resolves to whether it was painted. */
  async show(list, stage) {
    const turn = ++this.turn;
    await new Promise(requestAnimationFrame);
    if (turn !== this.turn) return false; // a newer one is shown
    if (this.canvas.parentNode !== stage.element) stage.element.querySelector("picture").after(this.canvas);
    this.paint(list, stage.image.clientWidth);
    stage.move(list);
    return true;
  }

  paint({ width, height, zoom, font, ops, stamps, runs }, shown) {
    [ops, ...stamps].forEach(spell);
    const dots = Math.max(1, Math.round((devicePixelRatio * shown) / width * 64) / 64), scale = dots * zoom;
    const [w, h] = [Math.round(width * dots), Math.round(height * dots)];
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    const c = this.canvas.getContext("2d", { alpha: false });
    c.setTransform(scale, 0, 0, scale, 0, 0);
    const kept = new Map(), layers = new Map();
    let run = 0;
    for (const op of ops) {
      switch (op[0]) {
        case "p":
          c.drawImage(cells(op), op[1], op[2], op[3], op[4]);
          break;
        case "t":
          text(c, font, op);
          break;
        case "m": {
          const marks = op[1][0] === "#" ? this.runs.get(op[1].slice(1)) : bytes(op[1]);
          if (!marks) break;
          c.setTransform(1, 0, 0, 1, 0, 0);
          if (marks.length >= 5 * many) {
            const hash = runs[run++], key = `${hash} ${w} ${h} ${looks(marks, stamps)}`;
            kept.set(hash, marks);
            const layer = this.layers.get(key) ?? this.mark(new OffscreenCanvas(w, h).getContext("2d"), marks, stamps, scale).canvas;
            layers.set(key, layer);
            c.drawImage(layer, 0, 0);
          } else this.mark(c, marks, stamps, scale);
          c.setTransform(scale, 0, 0, scale, 0, 0);
          break;
        }
        default:
          shape(c, op);
      }
    }
    const longest = [...kept].sort((a, b) => b[1].length - a[1].length)[0];
    this.runs = new Map(longest ? [longest] : []);
    this.layers = layers;
  }

  /** Draws marks, five bytes each: stamp, and x and y in sixteenths. */
  mark(c, marks, stamps, scale) {
    const sheets = [];
    for (let i = 0; i < marks.length; i += 5) {
      const k = marks[i];
      const sheet = (sheets[k] ??= this.sheet(stamps[k], scale));
      const x = (marks[i + 1] | (marks[i + 2] << 8)) / 16, y = (marks[i + 3] | (marks[i + 4] << 8)) / 16;
      c.drawImage(sheet, Math.round(x * scale) - sheet.width / 2, Math.round(y * scale) - sheet.height / 2);
    }
    return c;
  }

  /** Rasterises one mark to its own small canvas, reused from an earlier picture if possible. */
  sheet(stamp, scale) {
    const key = `${scale} ${JSON.stringify(stamp)}`;
    this.sheets ??= new Map();
    let sheet = this.sheets.get(key);
    if (!sheet) {
      if (this.sheets.size > 500) this.sheets.clear();
      const side = 2 * Math.ceil(reach * scale);
      sheet = new OffscreenCanvas(side, side);
      const c = sheet.getContext("2d");
      c.setTransform(scale, 0, 0, scale, side / 2, side / 2);
      for (const op of stamp) shape(c, op);
      sheet = cropped(sheet);
      this.sheets.set(key, sheet);
    }
    return sheet;
  }

  /** Removes the canvas once the image has loaded. */
  rest() {
    this.turn++;
    this.canvas.remove();
  }
}

/** The smallest number of marks worth caching as a run. */
const many = 64;

/** The appearance of the marks of a run. */
function looks(marks, stamps) {
  const used = new Set();
  for (let i = 0; i < marks.length; i += 5) used.add(marks[i]);
  return JSON.stringify([...used].map((k) => stamps[k]));
}

/** Unpacks an image of few colours from its cells; the encoding is documented on the server. */
function cells([, , , , , columns, rows, colors, packed]) {
  const palette = new Uint32Array(Uint8Array.from(colors.match(/../g), (hex) => parseInt(hex, 16)).buffer);
  const all = new Uint32Array(columns * (rows + 1)).fill(palette[0], 0, columns);
  const from = new Reader(packed);
  for (let at = columns; from.left && at < all.length; ) {
    const byte = from.byte(), next = byte & 3;
    for (let same = byte < 252 ? byte >> 2 : from.number(); same > 0; same--, at++) all[at] = all[at - columns];
    if (at === all.length) break;
    const n = next < 2 ? 1 : from.number();
    const color = next === 3 ? palette[from.byte()] : all[next === 1 ? at - columns + 1 : at - 1];
    all.fill(color, at, (at += n));
  }
  const sheet = new OffscreenCanvas(columns, rows);
  sheet.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(all.buffer, 4 * columns), columns, rows), 0, 0);
  return sheet;
}

/** Crops a canvas to what is drawn on it, keeping its centre. */
function cropped(sheet) {
  const side = sheet.width, middle = side / 2;
  const { data } = sheet.getContext("2d").getImageData(0, 0, side, side);
  let half = 1;
  for (let i = 3, at = 0; i < data.length; i += 4, at++) {
    if (!data[i]) continue;
    const x = at % side, y = (at - x) / side;
    half = Math.max(half, middle - x, x + 1 - middle, middle - y, y + 1 - middle);
  }
  const small = new OffscreenCanvas(2 * half, 2 * half);
  small.getContext("2d").drawImage(sheet, half - middle, half - middle);
  return small;
}

/** Unpacks a path of line segments; the encoding is documented on the server. */
function lines(packed) {
  const path = new Path2D(), from = new Reader(packed);
  for (let x = 0, y = 0; from.left; ) {
    const n = from.number();
    for (let i = 0; i < n >> 1; i++) {
      x += from.signed() / 4;
      y += from.signed() / 4;
      if (i === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
    }
    if (n & 1) path.closePath();
  }
  return path;
}

/** Fills in the colour and path that an operation shares with the one before it. */
function spell(ops) {
  let color, path;
  for (const op of ops) {
    if (!"fst".includes(op[0])) continue;
    color = op[1] ||= color;
    if (op[0] !== "t") path = op[2] ||= path;
  }
}

/** Fills or strokes a path. */
function shape(c, [kind, color, path, width, dashes]) {
  const p = path[0] === "#" ? lines(path.slice(1)) : new Path2D(path);
  if (kind === "f") {
    c.fillStyle = color;
    c.fill(p);
    return;
  }
  c.strokeStyle = color;
  c.lineWidth = width;
  c.setLineDash(dashes ? dashes.split(" ").map(Number) : []);
  c.stroke(p);
}

function text(c, font, [, color, x, y, size, bold, turn, words]) {
  c.save();
  c.translate(x, y);
  c.rotate(turn);
  c.font = `${bold ? "bold " : ""}${size}px ${font}`;
  c.fillStyle = color;
  c.fillText(words, 0, 0);
  c.restore();
}
