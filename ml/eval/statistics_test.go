package eval_test

import (
	"math"
	"testing"

	"marginlab/ml/eval"
)

func TestSignTest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 0, 1}, {1, 0, 1}, {0, 5, 2. / 32}, {5, 1, 14. / 64}, {3, 3, 1}} {
		for _, got := range []float64{eval.SignTest(c.a, c.b), eval.SignTest(c.b, c.a)} {
			if math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%d to %d: %.12g, want %.12g", c.a, c.b, got, c.want)
			}
		}
	}
}

func TestMeanError(t *testing.T) {
	t.Parallel()
	mean, se := eval.MeanError([]float64{1, 2, 3, 6})
	if math.Abs(mean-3) > 1e-14 || math.Abs(se-math.Sqrt(14./3/4)) > 1e-14 {
		t.Errorf("%g ± %g", mean, se)
	}
	if mean, se := eval.MeanError([]float64{5}); mean != 5 || !math.IsNaN(se) {
		t.Errorf("one value: %g ± %g", mean, se)
	}
	if mean, se := eval.MeanError(nil); !math.IsNaN(mean) || !math.IsNaN(se) {
		t.Errorf("no value: %g ± %g", mean, se)
	}
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
			if got, err := eval.RankCorrelation(sides[0], sides[1]); err != nil || math.Abs(got-c.want) > 1e-6 {
				t.Errorf("%v: %g (%v), want %g", sides, got, err, c.want)
			}
		}
	}
	if r, err := eval.RankCorrelation([]float64{1, 2}, []float64{1}); err == nil {
		t.Errorf("two values and one: %g", r)
	}
}
