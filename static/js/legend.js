// Toggles layers of a picture: a button covers each legend entry.

/** The buttons over the legend of a stage's picture, at rest and during a drag. */
export class Legend {
  /**
   * @param {{value: string}} field lists the hidden layers in the form
   * @param {() => void} changed requests a new picture
   */
  constructor(field, changed) {
    this.field = field;
    this.group = document.createElement("div");
    this.group.className = "legend-toggles";
    this.group.setAttribute("role", "toolbar");
    this.group.setAttribute("aria-label", "Layers of the picture");
    this.group.addEventListener("click", (e) => {
      const layer = e.target.dataset.layer;
      if (!layer) return;
      const hidden = new Set(this.field.value.split(",").filter(Boolean));
      if (!hidden.delete(layer)) hidden.add(layer);
      this.field.value = [...hidden].join(",");
      this.press();
      changed();
    });
    this.group.addEventListener("keydown", (e) => this.key(e));
    this.group.addEventListener("focusin", (e) => { // a single tab stop
      for (const button of this.group.children) button.tabIndex = button === e.target ? 0 : -1;
    });
    for (const type of ["pointerdown", "pointermove"]) this.group.addEventListener(type, (e) => e.stopPropagation()); // not for the points below
  }

  /** The layer whose button has the focus. */
  get focused() {
    return this.group.contains(document.activeElement) ? document.activeElement.dataset.layer : undefined;
  }

  focus(layer) {
    this.group.querySelector(`[data-layer="${layer}"]`)?.focus({ preventScroll: true });
  }

  /** Adopts the stage of a new answer. */
  use(stage) {
    const here = () => this.lay(stage.data.toggles?.[stage.width]);
    stage.image.addEventListener("load", here);
    here();
    stage.element.append(this.group);
  }

  /** Places the buttons over these entries. */
  lay(toggles) {
    if (!toggles?.length) return this.group.replaceChildren();
    const key = JSON.stringify(toggles);
    if (key === this.laid && this.group.children.length) return;
    this.laid = key;
    const buttons = [...this.group.children];
    if (buttons.map((b) => b.dataset.layer).join() !== toggles.map(([layer]) => layer).join()) {
      const { focused } = this;
      this.group.replaceChildren(...toggles.map(([layer], i) => {
        const button = document.createElement("button");
        button.type = "button";
        button.dataset.layer = layer;
        button.tabIndex = (focused ? layer === focused : i === 0) ? 0 : -1;
        return button;
      }));
      if (focused) this.focus(focused);
    }
    toggles.forEach(([, name, left, top, width, height], i) => {
      const button = this.group.children[i];
      button.setAttribute("aria-label", name);
      Object.assign(button.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
    });
    this.press();
  }

  press() {
    const hidden = this.field.value.split(",");
    for (const button of this.group.children) {
      button.setAttribute("aria-pressed", String(!hidden.includes(button.dataset.layer)));
      button.title = hidden.includes(button.dataset.layer) ? "Show" : "Hide";
    }
  }

  /** Arrow keys move between entries. */
  key(e) {
    e.stopPropagation();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    const buttons = [...this.group.children], at = buttons.indexOf(document.activeElement);
    if (!step || at < 0) return;
    e.preventDefault();
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus();
  }
}
