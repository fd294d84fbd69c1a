package eval_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// result is a cross-validation with these accuracies and support vectors by setting and fold.
func result(best int, accuracies [][]float64, vectors ...int) *eval.Result {
	r := &eval.Result{Best: best}
	for i, folds := range accuracies {
		var s eval.Setting
		for _, a := range folds {
			s.Folds = append(s.Folds, eval.Fold{Shares: &eval.Shares{Accuracy: a}, SupportVectors: vectors[i]})
		}
		r.Settings = append(r.Settings, s)
	}
	return r
}

// The simplest within one standard error of the best has the fewest support vectors of those.
func TestWithinOneError(t *testing.T) {
	t.Parallel()
	best := []float64{0.9, 1, 0.9, 1} // standard error 0.0289 about 0.95
	for name, c := range map[string]struct {
		r    *eval.Result
		want int
	}{
		"fewer vectors":  {result(0, [][]float64{best, {0.93, 0.93, 0.93, 0.93}}, 20, 10), 1},
		"too bad":        {result(0, [][]float64{best, {0.92, 0.92, 0.92, 0.92}}, 20, 10), 0},
		"more vectors":   {result(0, [][]float64{best, {0.94, 0.94, 0.94, 0.94}}, 20, 21), 0},
		"the better one": {result(0, [][]float64{best, {0.93, 0.93, 0.93, 0.93}, {0.94, 0.94, 0.94, 0.94}}, 20, 10, 10), 2},
		"the first":      {result(0, [][]float64{best, {0.94, 0.94, 0.94, 0.94}, {0.94, 0.94, 0.94, 0.94}}, 20, 10, 10), 1},
		"no spread":      {result(1, [][]float64{{0.9, 0.9}, {1, 1}, {1, 1}}, 1, 9, 5), 2},
		"alone":          {result(0, [][]float64{{1, 0}}, 3), 0},
	} {
		require.Equal(t, c.r.WithinOneError(), c.want, "%s: setting", name)
	}
	values := &eval.Result{}
	for i, mse := range []float64{3, 1, 1.2} {
		for _, d := range []float64{-0.3, 0.3} {
			if len(values.Settings) <= i {
				values.Settings = append(values.Settings, eval.Setting{})
			}
			values.Settings[i].Folds = append(values.Settings[i].Folds, eval.Fold{Errors: &eval.Errors{Errors: ml.Errors{MSE: mse + d}}, SupportVectors: 9 - i})
		}
	}
	values.Best = 1
	require.Check(t, values.WithinOneError() == 2, "of errors setting %d", values.WithinOneError())
}

// What a search begins with, and goes on with, are values of the parameter that rise.
func TestTriesAndAround(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]float64{
		"C":      {0.01, 0.1, 1, 10, 100, 1000, 10000},
		"gamma":  {0.001, 0.01, 0.1, 1, 10, 100, 1000},
		"degree": {1, 2, 3, 4, 5, 6, 7},
		"kernel": nil, "features": nil, "hard_margin": nil,
	} {
		p, _ := ml.Param(name)
		require.Slices(t, eval.Tries(p), eval.Numbers(want...), "%s", name)
	}
	for _, c := range []struct {
		name  string
		tried []param.Value
		best  param.Value
		want  []param.Value
	}{
		{"C", eval.Numbers(1, 10, 100), param.Of(10), eval.Numbers(1, 2.15, 4.64, 10, 21.5, 46.4, 100)},
		{"C", eval.Numbers(100, 1, 10), param.Of(100), eval.Numbers(10, 21.5, 46.4, 100, 215, 464, 1000)},
		{"C", eval.Numbers(5), param.Of(5), eval.Numbers(5)},
		{"gamma", []param.Value{param.Of("auto"), param.Of(1)}, param.Of("auto"), []param.Value{param.Of("auto")}},
		{"degree", eval.Numbers(1, 2, 3), param.Of(1), eval.Numbers(1)},
		{"degree", eval.Numbers(1, 2, 3), param.Of(3), eval.Numbers(2, 3, 4)},
		{"degree", eval.Numbers(2, 6, 10), param.Of(6), eval.Numbers(2, 3, 5, 6, 7, 9, 10)},
		{"coef0", eval.Numbers(0, 3), param.Of(0), eval.Numbers(-3, -2, -1, 0, 1, 2, 3)},
	} {
		p, _ := ml.Param(c.name)
		require.Slices(t, eval.Around(p, c.tried, c.best), c.want, "%s around %v of %v", c.name, c.best, c.tried)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(ml.Params).Draw(t, "parameter")
		tries := eval.Tries(p)
		if len(tries) == 0 {
			return
		}
		best := rapid.SampledFrom(tries).Draw(t, "best")
		around := eval.Around(p, tries, best)
		require.Must(t, slices.Contains(around, best), "%s: %v is not among %v", p.Name, best, around)
		for _, values := range [][]param.Value{tries, around} {
			last := math.Inf(-1)
			for _, v := range values {
				err := p.Verify(v)
				require.Must(t, err == nil && v.Number() > last, "%s: %v in %v, %v", p.Name, v, values, err)
				last = v.Number()
			}
		}
	})
}
