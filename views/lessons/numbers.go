package lessons

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"marginlab/ml/lists"
	"marginlab/ml/theory"
	"marginlab/views"
)

// Short formats a value as views.Short does, but rounding errors as 0.
func Short(v float64) string { return views.Short(Flush(v, 1e-9)) }

// Brief formats a value with two digits, such as 2.0e−07.
func Brief(v float64) string {
	if math.Abs(v) < 1e-3 && v != 0 {
		return views.Minus(strconv.FormatFloat(v, 'e', 0, 64))
	}
	return Short(v)
}

// plain formats a value to the given number of significant digits as one writes it by hand: 10000,
// not 1e+04, and 0.5, not 0.50.
func plain(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'g', digits, 64)
	switch a := math.Abs(v); {
	case a == 0: // also -0
		return "0"
	case a < 1e-4 || a >= 1e6:
		return Typeset(views.Minus(text))
	}
	if rounded, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return views.Minus(text)
}

// Flush returns 0 for a value whose magnitude is below the tolerance, and v otherwise.
func Flush(v, tolerance float64) float64 {
	if math.Abs(v) < tolerance {
		return 0
	}
	return v
}

// Percent formats a fraction as a percentage with one decimal.
func Percent(share float64) string {
	return views.Minus(strconv.FormatFloat(100*share, 'f', 1, 64)) + " %"
}

// power matches a number with an exponent as programs write it, raised turns an exponent into
// superscripts, and tied inserts no-break spaces before % and around ±, → and =.
var (
	power  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d+(?:\.\d+)?)e([+−-]?)0*(\d+)\b`) })
	raised = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "+", "", "-", "⁻", "−", "⁻")
	tied   = strings.NewReplacer(" %", "\u00a0%", " ± ", "\u00a0±\u00a0", " → ", "\u00a0→\u00a0", " = ", "\u00a0=\u00a0")
)

// Typeset returns text as it is printed, with 2.3e−07 as 2.3·10⁻⁷ and no line break between a
// number and its unit. Text with formulas is unchanged.
func Typeset(s string) string {
	if strings.Contains(s, "$") {
		return s
	}
	return tied.Replace(power().ReplaceAllStringFunc(s, func(n string) string {
		at := power().FindStringSubmatch(n)
		return at[1] + "·10" + raised.Replace(at[2]+at[3])
	}))
}

// Setting formats a number as the value of a parameter.
func Setting(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Signed formats a label, +1 or −1.
func Signed(y float64) string {
	if y > 0 {
		return "+1"
	}
	return "−1"
}

// Pair formats a point.
func Pair(p [2]float64) string { return Vector(p[:]...) }

// Vector formats the entries of a vector.
func Vector(v ...float64) string {
	return "(" + strings.Join(lists.Map(v, Short), ", ") + ")"
}

// Fixed formats a value with four decimals.
func Fixed(v float64) string {
	return views.Minus(strconv.FormatFloat(Flush(v, 5e-5), 'f', 4, 64))
}

// OrInfinite formats a value that may be infinite.
func OrInfinite(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return views.Short(v)
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

// Either returns one of two values.
func Either[T any](b bool, yes, no T) T {
	if b {
		return yes
	}
	return no
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
	return OrInfinite(b.Value) + Either(b.Vacuous, " (vacuous)", "")
}
