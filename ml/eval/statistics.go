package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"marginlab/ml/dataset"
)

// SignTest returns the two-sided p-value of the sign test for a wins and b losses, both at least 0:
// the probability that a + b tosses of a fair coin split at least as unevenly. For the points that
// only the first or only the second of two classifiers gets right, it is McNemar's exact test. It is
// 1 if a and b are 0.
func SignTest(a, b int) float64 {
	return min(1, 2*distuv.Binomial{N: float64(a + b), P: 0.5}.CDF(float64(min(a, b))))
}

// MeanError returns the mean of values and its standard error, the sample standard deviation over
// the square root of their number. The standard error is NaN for one value, and both are NaN for
// none. It assumes independent values, so for folds, which share training rows, it is rough.
func MeanError(values []float64) (mean, standardError float64) {
	if len(values) < 2 {
		return stat.Mean(values, nil), math.NaN()
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	return mean, deviation / math.Sqrt(float64(len(values)))
}

// RankCorrelation returns Spearman's rank correlation of two lists of equal length, from -1 to 1.
// Ties get mean ranks. It returns 0 if one list is constant, and an error if the lengths differ.
func RankCorrelation(a, b []float64) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("eval: no rank correlation of %d and %d values", len(a), len(b))
	}
	r := stat.Correlation(ranks(a), ranks(b), nil)
	if math.IsNaN(r) {
		return 0, nil
	}
	return r, nil
}

// ranks returns the ranks of the values in ascending order, from 1. Ties get mean ranks.
func ranks(v []float64) []float64 {
	order := dataset.Indices(len(v))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out := make([]float64, len(v))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return out
}
