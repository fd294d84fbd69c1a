package eval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
)

// A regression is judged by its mean squared error, fold by fold, and the setting with the
// least is the best.
func TestCrossValidateValues(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 60 {
		x := float64(i*37%60) / 10
		fmt.Fprintf(&b, "%g,%g\n", x, 3*math.Sin(x)+0.2*math.Cos(40*x))
	}
	d := require.Value(dataset.Read(strings.NewReader(b.String()), "wave.csv", dataset.Mapping{}, dataset.DefaultLimits))(t)
	spec := ml.DefaultSpec()
	for _, set := range [][2]string{{"target", "value"}, {"learner", "ridge"}, {"gamma", "2"}} {
		require.NoError(t, spec.Set(set[0], set[1]))
	}
	lambdas := []float64{1e3, 0.01, 30}
	res, err := eval.CrossValidate(t.Context(), d, spec, eval.Grid{"lambda": eval.Numbers(lambdas...)}, eval.Scheme{Folds: 4, Repeats: 2, Nested: true, Seed: 3}, nil)
	require.NoError(t, err)
	require.Check(t, res.Best == 1 && len(res.Nested.Chosen) == 8 && !slices.ContainsFunc(res.Nested.Chosen, func(c int) bool { return c != 1 }),
		"the best of %v is number %d, and nested %v", lambdas, res.Best, res.Nested.Chosen)
	got := res.Nested.MSE
	require.Check(t, got == res.Settings[1].MSE && res.Nested.Mean == nil, "nested: %g, want %g", got, res.Settings[1].MSE)
	values := require.Value(d.Values())(t)
	plan := require.Value(eval.NewPlan(d, spec, eval.Grid{"lambda": eval.Numbers(lambdas...)}, eval.Scheme{Folds: 4, Repeats: 2, Seed: 3}))(t)
	for i, s := range res.Settings {
		one := plan.Paths[i].Spec
		var sum float64
		for k, split := range plan.Splits {
			trained := require.Value(ml.Train(t.Context(), d.Subset(split.Train), one, nil))(t)
			var mse, mean, variance float64
			n := float64(len(split.Test))
			for _, r := range split.Test {
				miss := values[r] - trained.Model.Decision(d.X.RawRowView(r))
				mse, mean = mse+miss*miss/n, mean+values[r]/n
			}
			for _, r := range split.Test {
				variance += (values[r] - mean) * (values[r] - mean) / n
			}
			f := s.Folds[k]
			require.Check(t, f.Shares == nil && math.Abs(f.MSE-mse) <= 1e-9 && math.Abs(*f.R2-(1-mse/variance)) <= 1e-9 && f.TrainMSE == *trained.Report.MSE,
				"%s, fold %d: %+v, want %g", s.Values.Text("lambda"), k, *f.Errors, mse)
			sum += mse
		}
		require.Check(t, math.Abs(s.MSE-sum/8) <= 1e-9 && s.MSEDeviation > 0 && s.R2 != nil && s.Mean == nil,
			"%s: %+v, want %g", s.Values.Text("lambda"), s.MeanErrors, sum/8)
	}

	text := require.Value(json.Marshal(throughJSON(t, res)))(t)
	require.Check(t, !strings.Contains(string(text), "accuracy") && strings.Contains(string(text), `"mse":`),
		"%s", text)
	wrong, err := eval.LeaveOneOut(t.Context(), d, spec)
	require.Check(t, err != nil, "values are right or wrong: %v", wrong)
}
