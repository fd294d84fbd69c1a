package lessons

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// texFraction writes a number in TeX, as a fraction where that is short.
func texFraction(v float64) string {
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
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// texTerm is one summand: a factor and what it multiplies, nothing for a number.
type texTerm struct {
	factor float64
	of     string
}

// texSum writes a sum in TeX, without summands that are 0.
func texSum(terms ...texTerm) string {
	var b strings.Builder
	for _, t := range terms {
		if t.factor == 0 {
			continue
		}
		sign := "+"
		if t.factor < 0 {
			sign = "-"
		}
		if b.Len() > 0 {
			b.WriteString(" " + sign + " ")
		} else if sign == "-" {
			b.WriteString(sign)
		}
		if size := math.Abs(t.factor); size != 1 || t.of == "" {
			b.WriteString(texFraction(size))
		}
		b.WriteString(t.of)
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}

// texPoint writes a place in TeX.
func texPoint(at [2]float64) string {
	return "(" + texFraction(at[0]) + ",\\ " + texFraction(at[1]) + ")"
}
