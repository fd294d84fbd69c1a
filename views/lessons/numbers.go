package lessons

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
)

// Short formats a value as views.Short does, but rounding errors as 0.
func Short(v float64) string { return views.Short(Flush(v, 1e-9)) }

// Brief formats a value as Short does, but a small one with a single digit, such as 2·10⁻⁷.
func Brief(v float64) string {
	if math.Abs(v) < 1e-3 {
		return param.Digits(v, 1)
	}
	return Short(v)
}

// Flush returns 0 for a value whose magnitude is below the tolerance, and v otherwise.
func Flush(v, tolerance float64) float64 {
	return lists.Either(math.Abs(v) < tolerance, 0, v)
}

// Percent formats a fraction as a percentage with one decimal.
func Percent(share float64) string {
	return param.Minus(strconv.FormatFloat(100*share, 'f', 1, 64)) + " %"
}

// power matches a number with an exponent as programs write it, and tied inserts no-break spaces
// before % and around ±, → and =.
var (
	power = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d+(?:\.\d+)?e[+−-]?\d+\b`) })
	tied  = strings.NewReplacer(" %", "\u00a0%", " ± ", "\u00a0±\u00a0", " → ", "\u00a0→\u00a0", " = ", "\u00a0=\u00a0")
)

// Typeset returns text as it is printed, with 2.3e−07 as 2.3·10⁻⁷ and no line break between a
// number and its unit. Text with formulas is unchanged.
func Typeset(s string) string {
	if strings.Contains(s, "$") {
		return s
	}
	return tied.Replace(power().ReplaceAllStringFunc(s, param.Typeset))
}

// Setting formats a number as the value of a parameter.
func Setting(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Signed formats a label, +1 or −1.
func Signed(y float64) string {
	return lists.Either(y > 0, "+1", "−1")
}

// Pair formats a point.
func Pair(p [2]float64) string { return Vector(p[:]...) }

// Vector formats the entries of a vector.
func Vector(v ...float64) string {
	return "(" + strings.Join(lists.Map(v, Short), ", ") + ")"
}

// Fixed formats a value with four decimals.
func Fixed(v float64) string {
	return param.Minus(strconv.FormatFloat(Flush(v, 5e-5), 'f', 4, 64))
}

// Subscript returns a digit as a subscript.
func Subscript(i int) string { return string(rune('₀' + i)) }

// Count returns a number with its noun: "1 pass", "2 passes".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// First returns the index of the first condition that holds, or the number of conditions: the
// answer to a question whose options are these and, last, none of them.
func First(conditions ...bool) float64 {
	if i := slices.Index(conditions, true); i >= 0 {
		return float64(i)
	}
	return float64(len(conditions))
}

// Norm returns the length of a vector.
func Norm(w [2]float64) float64 { return math.Hypot(w[0], w[1]) }

// Linspace returns n values from a to b at equal distances.
func Linspace(a, b float64, n int) []float64 {
	return lists.Make(n, func(i int) float64 { return a + (b-a)*float64(i)/float64(n-1) })
}

// Logspace returns n values from a to b at equal ratios.
func Logspace(a, b float64, n int) []float64 {
	return lists.Make(n, func(i int) float64 { return a * math.Pow(b/a, float64(i)/float64(n-1)) })
}

// Sign returns -1, 0 or 1.
func Sign(v float64) int {
	switch {
	case v > 1e-9:
		return 1
	case v < -1e-9:
		return -1
	}
	return 0
}

// Worth formats a bound, with a note if it is vacuous.
func Worth(b theory.Bound) string {
	return views.Short(b.Value) + lists.Either(b.Vacuous, " (vacuous)", "")
}
