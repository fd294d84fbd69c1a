package ml_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// wave is a noisy function of one variable, or of two.
func wave(n, d int, seed uint64) *dataset.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	points, labels := make([][]float64, n), make([]string, n)
	for i := range points {
		v := 0.1 * rng.NormFloat64()
		for range d {
			points[i] = append(points[i], 6*rng.Float64())
			v += math.Sin(points[i][len(points[i])-1])
		}
		labels[i] = fmt.Sprint(v)
	}
	return data(points, labels...)
}

var regression = []string{"target", "value", "learner", "ridge", "lambda", "0.1"}

// The linear system is solved by another routine, and each point left out by training without it.
func TestRegressionSolvesTheSystem(t *testing.T) {
	t.Parallel()
	const lambda, gamma = 0.1, 0.7
	for n := 1; n <= 2; n++ {
		d := wave(40, n, uint64(n))
		res := train(t, d, spec(t, append(regression, "gamma", "0.7", "standardize", "false")...))
		y := require.Value(d.Values())(t)
		kernel := func(i, j int) float64 {
			var sum float64
			for c := range n {
				diff := d.X.At(i, c) - d.X.At(j, c)
				sum += diff * diff
			}
			return math.Exp(-gamma * sum)
		}
		solve := func(rows []int) *mat.VecDense {
			k := mat.NewDense(len(rows), len(rows), nil)
			own := mat.NewVecDense(len(rows), nil)
			for a, i := range rows {
				own.SetVec(a, y[i])
				for b, j := range rows {
					k.Set(a, b, kernel(i, j))
				}
				k.Set(a, a, k.At(a, a)+lambda)
			}
			var coef mat.VecDense
			require.NoError(t, coef.SolveVec(k, own))
			return &coef
		}
		at := func(coef *mat.VecDense, rows []int, i int) (f float64) {
			for a, j := range rows {
				f += coef.AtVec(a) * kernel(i, j)
			}
			return f
		}
		all := dataset.Indices(len(y))
		coef := solve(all)
		var mse, left float64
		for i := range y {
			f := at(coef, all, i)
			require.Near(t, res.Model.Decision(d.X.RawRowView(i)), f, 1e-9, "%d features, row %d: f", n, i)
			mse += (y[i] - f) * (y[i] - f) / float64(len(y))
			others := append(append([]int{}, all[:i]...), all[i+1:]...)
			miss := y[i] - at(solve(others), others, i)
			left += miss * miss / float64(len(y))
		}
		_, variance := stat.PopMeanVariance(y, nil)
		r := res.Report
		for name, pair := range map[string][2]float64{"mse": {*r.MSE, mse}, "loo_error": {*r.LOOError, left}, "r2": {*r.R2, 1 - mse/variance}, "b": {*r.B, 0}} {
			require.Near(t, pair[0], pair[1], 1e-9, "%d features: %s", n, name)
		}
		require.Check(t, res.Model.Rule == ml.Value && len(res.Model.Classes) == 0 && r.TestMSE == nil && r.LOOAccuracy == nil && r.Confusion == nil,
			"rule %s, classes %v, report %+v", res.Model.Rule, res.Model.Classes, r)
	}
}

// A regression's report holds no accuracy, also read again; one of accuracy 0 keeps it.
func TestRegressionReports(t *testing.T) {
	t.Parallel()
	d := wave(60, 2, 3)
	res := train(t, d, spec(t, append(regression, "test_fraction", "0.25", "seed", "7")...))
	text := asJSON(t, res.Report)
	all := require.JSON[map[string]any](t, text)
	for _, name := range []string{"train_accuracy", "test_accuracy", "classes", "positive", "confusion", "loo_accuracy", "C"} {
		v, ok := all[name]
		require.Check(t, !ok, "%s is %v in %s", name, v, text)
	}
	for _, name := range []string{"mse", "r2", "test_mse", "test_r2", "loo_error", "lambda"} {
		_, ok := all[name]
		require.Check(t, ok, "%s is not in %s", name, text)
	}
	require.Check(t, all["test_n"] == 15. && all["train_n"] == 45. && all["rule"] == "value", "%s", text)
	require.Equal(t, asJSON(t, require.JSON[ml.Report](t, text)), text, "written again")
	text = asJSON(t, ml.Report{Rule: ml.Sign, TrainAccuracy: new(float64)})
	require.Check(t, strings.Contains(text, `"train_accuracy":0`), "%s: the accuracy is missing", text)

	// The held-out numbers come from the model on the rows held out.
	points := require.Value(res.Model.Points(d, spec(t, append(regression, "test_fraction", "0.25", "seed", "7")...)))(t)
	var mse, fitted float64
	for _, p := range points {
		if p.HeldOut {
			mse += (p.Y - p.F) * (p.Y - p.F) / 15
		} else {
			fitted += (p.Y - p.F) * (p.Y - p.F) / 45
		}
		require.Check(t, p.Predicted == "" && !p.Wrong && p.Margin == 0 && p.Slack == 0, "row %d: %+v", p.Row, p)
	}
	require.Check(t, math.Abs(mse-*res.Report.TestMSE) <= 1e-12 && math.Abs(fitted-*res.Report.MSE) <= 1e-12,
		"held out %g, training %g; want %g and %g", *res.Report.TestMSE, *res.Report.MSE, mse, fitted)
	var b bytes.Buffer
	require.NoError(t, res.Model.WritePoints(&b, points))
	lines, err := csv.NewReader(&b).ReadAll()
	require.Must(t, err == nil && len(lines) == 61 && strings.Join(lines[0], " ") == "row label f residual held_out role weight",
		"%v, %d lines, %v", err, len(lines), lines[0])
}

// A model of values is the same after a file, and predicts values.
func TestRegressionModelsAreFiles(t *testing.T) {
	t.Parallel()
	d := wave(30, 2, 5)
	for _, set := range [][]string{nil, {"kernel", "linear"}, {"project", "pca"}} {
		res := train(t, d, spec(t, append(set, regression...)...))
		back := require.Value(ml.ReadModel(strings.NewReader(asJSON(t, res.Model))))(t)
		table := require.Value(dataset.ParseTable(strings.NewReader("x2,x1,label\n1,2,3\n4,5,6\n"), "new.csv", dataset.DefaultLimits))(t)
		p := require.Value(back.PredictTable(t.Context(), table))(t)
		var b bytes.Buffer
		require.NoError(t, p.WriteCSV(&b, false))
		want := fmt.Sprintf("row,f,true\n1,%v,3\n2,%v,6\n", res.Model.Decision([]float64{2, 1}), res.Model.Decision([]float64{5, 4}))
		require.Equal(t, b.String(), want, "%v", set)
		off, err := p.Errors()
		f, g := res.Model.Decision([]float64{2, 1})-3, res.Model.Decision([]float64{5, 4})-6
		require.Check(t, err == nil && math.Abs(off.MSE-(f*f+g*g)/2) <= 1e-12, "%v: %+v, %v", set, off, err)
		require.Fails(t, require.Err(back.Accuracy(d)), "", "a model of values has an accuracy")
	}
}

// What cannot be fitted to values says so and names the remedy.
func TestRegressionIsRefused(t *testing.T) {
	t.Parallel()
	values := wave(120, 1, 9)
	named := data([][]float64{{1}, {2}, {3}}, "a", "b", "1")
	for _, c := range []struct {
		d           *dataset.Data
		set         []string
		field, says string
	}{
		{values, nil, "target", "target value with the learner ridge"},
		{values, []string{"target", "value"}, "learner", "use ridge"},
		{values, append(regression, "conformal", "eigen"), "conformal", "use none"},
		{named, regression, "target", `"a" is not a number`},
		{values, []string{"target", "value", "learner", "mcm"}, "learner", "use ridge"},
	} {
		_, err := ml.Train(t.Context(), c.d, spec(t, c.set...), nil)
		require.Check(t, err != nil && strings.Contains(problemFor(err, c.field), c.says),
			"%v: %v, want something about %q", c.set, err, c.says)
	}
	for _, huge := range []string{"1e200", "1e155"} {
		d := data([][]float64{{1}, {2}, {3}}, "1", huge, "-"+huge)
		var refusal *param.Refusal
		_, err := ml.Train(t.Context(), d, spec(t, regression...), nil)
		require.Check(t, errors.As(err, &refusal), "%s: %v", huge, err)
	}
	r := train(t, data([][]float64{{1}, {2}, {3}}, "4", "4", "4"), spec(t, regression...)).Report
	require.Check(t, r.R2 == nil && r.MSE != nil, "values that are all the same: R² %v, mse %v", r.R2, r.MSE)
}
