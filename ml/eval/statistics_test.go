package eval_test

import (
	"math"
	"testing"

	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
)

func TestMeanError(t *testing.T) {
	t.Parallel()
	mean, se := eval.MeanError([]float64{1, 2, 3, 6})
	require.Check(t, math.Abs(mean-3) <= 1e-14 && math.Abs(se-math.Sqrt(14./3/4)) <= 1e-14, "%g ± %g", mean, se)
	mean, se = eval.MeanError([]float64{5})
	require.Check(t, mean == 5 && math.IsNaN(se), "one value: %g ± %g", mean, se)
	mean, se = eval.MeanError(nil)
	require.Check(t, math.IsNaN(mean) && math.IsNaN(se), "no value: %g ± %g", mean, se)
}

func TestRankCorrelation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 400}, 1},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{[]float64{1, 2, 3}, []float64{5, 5, 5}, 0},
		{[]float64{1, 1, 2, 3}, []float64{1, 2, 3, 4}, 0.9486833}, // ties share their ranks
	} {
		for _, sides := range [][2][]float64{{c.a, c.b}, {c.b, c.a}} {
			got, err := eval.RankCorrelation(sides[0], sides[1])
			require.Check(t, err == nil && math.Abs(got-c.want) <= 1e-6, "%v: %g (%v), want %g", sides, got, err, c.want)
		}
	}
	r, err := eval.RankCorrelation([]float64{1, 2}, []float64{1})
	require.Check(t, err != nil, "two values and one: %g", r)
}
