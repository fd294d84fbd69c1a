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

// SignTest returns the probability that a + b throws of a fair coin fall at least as
// unevenly as a to b, either way: the sign test of two classifiers of which, on the
// points that only one gets right, the first gets a and the second b (exact McNemar
// test). 1 for no throws. a and b are at least 0.
func SignTest(a, b int) float64 {
	coin := distuv.Binomial{N: float64(a + b), P: 0.5}
	return min(1, 2*coin.CDF(float64(min(a, b))))
}

// MeanError returns the mean of values and its standard error, the sample deviation
// over the root of their number: NaN for one value, both NaN for none. It presupposes
// values that do not depend on each other; over folds, which share training rows, it is
// rough.
func MeanError(values []float64) (mean, standardError float64) {
	if len(values) < 2 {
		return stat.Mean(values, nil), math.NaN()
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	return mean, deviation / math.Sqrt(float64(len(values)))
}

// RankCorrelation returns Spearman's rank correlation of two quantities of the same
// things, from -1 to 1: whether more of one goes with more of the other, by whatever
// rule. Equal values share the mean of their ranks. It is 0 where one side is constant,
// and an error where the lengths differ.
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

// ranks are the places of the values in ascending order, from 1, equal ones sharing the
// mean of theirs.
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
