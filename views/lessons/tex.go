package lessons

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// TeX formats a number for a formula, with as many digits as views.Short and rounding errors as 0.
func TeX(v float64) string {
	if math.IsInf(v, 0) {
		return strings.TrimSuffix(strconv.FormatFloat(v, 'g', -1, 64)[:1], "+") + `\infty`
	}
	s := param.Rounded(Flush(v, 1e-9), 4)
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok {
		n, _ := strconv.Atoi(exponent)
		return mantissa + ` \cdot 10^{` + strconv.Itoa(n) + "}"
	}
	return s
}

// TeXFraction formats a number for a formula, as a fraction if that is short.
func TeXFraction(v float64) string {
	for q := 1.0; q <= 36; q++ {
		if n := math.Round(v * q); math.Abs(v*q-n) < 1e-9 {
			switch {
			case q == 1:
				return strconv.Itoa(int(n))
			case n < 0:
				return fmt.Sprintf(`-\tfrac{%d}{%d}`, int(-n), int(q))
			}
			return fmt.Sprintf(`\tfrac{%d}{%d}`, int(n), int(q))
		}
	}
	if math.Abs(v) >= 1e-9 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	}
	return TeX(v)
}

// TeXTerm is a summand: a factor and what it multiplies, empty for a number.
type TeXTerm struct {
	Factor float64
	Of     string
}

// TeXSum formats a sum for a formula, without summands that are 0.
func TeXSum(terms ...TeXTerm) string {
	var b strings.Builder
	for _, t := range terms {
		if t.Factor == 0 {
			continue
		}
		sign := lists.Either(t.Factor < 0, "-", "+")
		if b.Len() > 0 {
			b.WriteString(" " + sign + " ")
		} else if sign == "-" {
			b.WriteString(sign)
		}
		if size := math.Abs(t.Factor); size != 1 || t.Of == "" {
			b.WriteString(TeXFraction(size))
		}
		b.WriteString(t.Of)
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}

// TeXPoint formats a point for a formula.
func TeXPoint(at [2]float64) string {
	return "(" + TeXFraction(at[0]) + ",\\ " + TeXFraction(at[1]) + ")"
}
