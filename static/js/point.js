// Answers given as a point on a picture: pressed there, or typed as coordinates.
import { Stage } from "./stage.js";

const svg = "http://www.w3.org/2000/svg";
const brief = (v) => String(Number(v.toPrecision(3)));

/** Makes the pictures below root answerable by pointing. */
export function points(root) {
  for (const box of root.querySelectorAll("[data-point]")) {
    const stage = new Stage(box.querySelector(".stage"), null);
    const field = box.closest("form").querySelector(`[name=${box.dataset.point}]`);
    const marks = stage.element.querySelector(".point-marks"), mark = document.createElementNS(svg, "circle");
    const show = () => {
      const at = field.value.trim().split(/[\s;]+/).map(Number);
      mark.remove();
      if (at.length !== 2 || at.some(Number.isNaN)) return;
      const [x, y] = stage.within(...at), f = stage.data.frame;
      mark.setAttribute("cx", f.left + x * f.width);
      mark.setAttribute("cy", f.top + y * f.height);
      mark.setAttribute("r", 7);
      marks.append(mark);
    };
    stage.element.addEventListener("click", (e) => {
      const at = stage.at(e);
      if (!stage.inside(at)) return;
      field.value = at.map(brief).join(" ");
      show();
    });
    field.addEventListener("input", show);
    stage.image.addEventListener("load", show);
    show();
  }
}

points(document);
