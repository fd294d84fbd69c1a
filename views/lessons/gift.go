package lessons

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"marginlab/ml/lists"
)

// GIFT writes questions in Moodle's import format, with the misconceptions behind wrong options and
// the explanation as feedback. Formulas are left to Moodle's MathJax. Questions answered by
// drawing cannot be expressed; a comment counts them.
func GIFT(w io.Writer, category string, asked []Asked) error {
	out := bufio.NewWriter(w)
	drawn := lists.Count(asked, func(a Asked) bool { return a.Question.Sketch != nil })
	if drawn > 0 {
		fmt.Fprintf(out, "// %s left out, as the answer is a drawing.\n\n", Count(drawn, "question is", "questions are"))
	}
	fmt.Fprintf(out, "$CATEGORY: %s\n", strings.ReplaceAll(category, "/", "//"))
	for _, a := range asked {
		q := a.Question
		if q.Sketch != nil {
			continue
		}
		fmt.Fprintf(out, "\n// %s\n::%s::[html]%s {", a.Name(), giftEscaped(Spoken(a.Screen.Title)+" ("+q.Slug+")"), giftText(q.Ask))
		if len(q.Options) == 0 {
			fmt.Fprintf(out, "#%s:%s", exact(a.Truth.Value), exact(q.Tolerance(a.Truth.Value)))
		}
		for i, option := range q.Options {
			fmt.Fprintf(out, "\n%s%s", lists.Either(float64(i) == a.Truth.Value, "=", "~"), giftText(option))
			if why := q.Mistaken(strconv.Itoa(i)); why != "" {
				fmt.Fprintf(out, "#%s", giftText(why))
			}
		}
		fmt.Fprintf(out, "\n####%s\n}\n", giftText(a.Why()))
	}
	return out.Flush()
}

// exact writes a number as other programs read it, without the last digits of its rounding.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }

// Tolerance returns the tolerance of a numeric answer.
func (q *Question) Tolerance(right float64) float64 {
	return cmp.Or(q.Within, 0.01) * math.Max(1, math.Abs(right))
}

// giftText returns a Text as HTML in GIFT, with formulas for MathJax.
func giftText(s string) string {
	parts := strings.Split(Printed(s), "$")
	for i, part := range parts {
		part = templ.EscapeString(part)
		if i%2 == 1 {
			parts[i] = `\(` + part + `\)`
			continue
		}
		for k, stressed := range strings.Split(part, "*") {
			if k == 0 {
				parts[i] = stressed
			} else {
				parts[i] += [2]string{"</em>", "<em>"}[k%2] + stressed
			}
		}
	}
	return giftEscaped(strings.Join(parts, ""))
}

// giftEscaped returns text on one line with GIFT's special characters escaped.
func giftEscaped(s string) string { return giftSigns.Replace(strings.Join(strings.Fields(s), " ")) }

var giftSigns = strings.NewReplacer(`\`, `\\`, "~", `\~`, "=", `\=`, "#", `\#`, "{", `\{`, "}", `\}`, ":", `\:`)
