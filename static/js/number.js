// Numbers as the server writes them on pages.

/** Writes a number of JavaScript with a minus sign, and 1e-7 as 10⁻⁷. */
export function typeset(text) {
  const [mantissa, exponent] = text.split("e");
  if (!exponent) return text.replace("-", "−");
  const power = `10${exponent.replace("+", "").replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d])}`;
  return (/^-?1$/.test(mantissa) ? mantissa.replace("1", power) : `${mantissa}·${power}`).replace("-", "−");
}

/** Writes the name of a class, with a minus sign if it is a negative number. */
export const classText = (name) => (Number.isNaN(Number(name)) ? name : name.replaceAll("-", "−"));

/** Rounds v to so many significant digits; whole numbers below a million keep theirs. */
export function brief(v, digits) {
  const short = Number(Number(v).toPrecision(digits)), size = Math.abs(short);
  if (size && (size < 1e-4 || size >= 1e6)) return typeset(short.toExponential());
  return typeset(size >= 10 ** digits ? Number(v).toFixed() : String(short));
}
