package lessons

import (
	"math"
	"strconv"
	"strings"

	"marginlab/ml/theory"
	"marginlab/views"
)

// short shows a value as views.Short does, and rounding errors as 0.
func short(v float64) string { return views.Short(flush(v, 1e-9)) }

// flush takes what is smaller than a tolerance for 0.
func flush(v, tolerance float64) float64 {
	if math.Abs(v) < tolerance {
		return 0
	}
	return v
}

// percent shows a share as a percentage with one digit.
func percent(share float64) string {
	return minus(strconv.FormatFloat(100*share, 'f', 1, 64)) + " %"
}

// setting is the text of a number as the value of a parameter.
func setting(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// signed shows a label, +1 or −1.
func signed(y float64) string {
	if y > 0 {
		return "+1"
	}
	return "−1"
}

// pair shows a place.
func pair(p [2]float64) string { return "(" + views.Short(p[0]) + ", " + views.Short(p[1]) + ")" }

// subscript shows a digit as an index below the line.
func subscript(i int) string { return string(rune('₀' + i)) }

// count shows how many there are of something: "1 pass", "2 passes".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// countTrue is how many are true.
func countTrue(all []bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// minus gives numbers as printed the sign that the pages use.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// column is one value of every row.
func column[R any](rows []R, value func(R) float64) []float64 {
	v := make([]float64, len(rows))
	for i, r := range rows {
		v[i] = value(r)
	}
	return v
}

// either is one of two texts.
func either(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// yes is 0 for true and 1 for false: the index of the answers "yes" and "no".
func yes(b bool) float64 {
	if b {
		return 0
	}
	return 1
}

// norm is the length of a vector.
func norm(w [2]float64) float64 { return math.Hypot(w[0], w[1]) }

// logspace are n values from a to b at equal ratios.
func logspace(a, b float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = a * math.Pow(b/a, float64(i)/float64(n-1))
	}
	return v
}

// sign is -1, 0 or 1.
func sign(v float64) int {
	switch {
	case v > 1e-9:
		return 1
	case v < -1e-9:
		return -1
	}
	return 0
}

// worth shows a bound, and says so when it is empty.
func worth(b theory.Bound) string {
	switch {
	case math.IsInf(b.Value, 1):
		return "∞ (vacuous)"
	case b.Vacuous:
		return views.Short(b.Value) + " (vacuous)"
	}
	return views.Short(b.Value)
}
