package ml

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"marginlab/ml/param"
)

// Interval is a confidence interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Wilson returns Wilson's score interval of a proportion after right successes in n independent
// trials: all proportions not rejected at significance 1 − level. It lies within [0, 1] and has
// positive width even if all or none succeed; for n = 0 it is [0, 1]. It returns an error if right
// is not in [0, n] or level, such as 0.95, not in (0, 1). (Wilson: "Probable inference, the law of
// succession, and statistical inference", JASA 22, 1927; Newcombe: "Two-sided confidence intervals
// for the single proportion", Statistics in Medicine 17, 1998, method 3.)
func Wilson(right, n int, level float64) (Interval, error) {
	if right < 0 || right > n {
		return Interval{}, fmt.Errorf("no interval for %d correct of %d points", right, n)
	}
	if !(level > 0 && level < 1) {
		return Interval{}, param.Refuse("choose a level between 0 and 1, such as 0.95", "the confidence level is %g", level)
	}
	if n == 0 {
		return Interval{0, 1}, nil
	}
	z, m, p := distuv.UnitNormal.Quantile((1+level)/2), float64(n), float64(right)/float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	in := Interval{max(0, middle-half), min(1, middle+half)}
	if right == 0 {
		in.Low = 0 // exactly, despite rounding
	}
	if right == n {
		in.High = 1
	}
	return in, nil
}
