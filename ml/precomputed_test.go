package ml_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// given is the data with the values of a kernel in the place of points.
func given(d *dataset.Data, k kernel.Kernel) *dataset.Data {
	return asGiven(d, kernel.NewGram(k, d.X))
}

// asGiven is the data with the values of a kernel matrix in the place of its objects.
func asGiven(d *dataset.Data, g kernel.Matrix) *dataset.Data {
	n := d.Len()
	p := &dataset.Precomputed{K: mat.NewDense(n, n, nil)}
	for i := range n {
		g.Row(p.K.RawRowView(i), i)
		p.Number = append(p.Number, i+1)
	}
	return &dataset.Data{Objects: p, Label: d.Label, Classes: d.Classes, Y: d.Y}
}

// strangers are rows of a given kernel matrix that noClass owns; with self they bring k(x, x).
func strangers(d *dataset.Data, self bool, rows ...int) *dataset.Precomputed {
	p := d.Objects.Subset(rows).(*dataset.Precomputed)
	for i := range rows {
		if v, _ := p.Diag(i); self {
			p.Self = append(p.Self, v)
		}
		p.Number[i] = 0
	}
	return p
}

// near compares to nine digits.
func alike(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)) }

// Training on points, and on the values of the same kernel, gives the same machines.
func TestPrecomputedIsItsKernel(t *testing.T) {
	t.Parallel()
	points := clouds(60, 3, 4)
	for name, k := range map[string]struct {
		kernel kernel.Kernel
		set    []string
	}{
		"linear":  {kernel.Linear(), []string{"kernel", "linear"}},
		"rbf":     {kernel.RBF(0.02), []string{"kernel", "rbf", "gamma", "0.02"}},
		"sigmoid": {kernel.Sigmoid(0.001, -0.5), []string{"kernel", "sigmoid", "gamma", "0.001", "coef0", "-0.5"}},
	} {
		matrix := given(points, k.kernel)
		for _, set := range [][]string{
			{"learner", "svm", "C", "2", "tol", "1e-9"},
			{"learner", "svm", "C", "2", "tol", "1e-9", "test_fraction", "0.3"},
			{"learner", "mcm", "C", "1"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "eigen", "core_gamma", "0.01"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "amari", "core_gamma", "0.01", "core_step", "7", "test_fraction", "0.2"},
			{"learner", "mcm", "C", "1", "conformal", "gradient", "core_gamma", "0.01"},
		} {
			mapped := slices.Contains(set, "conformal")
			if mapped && name != "linear" {
				continue // the distances are others
			}
			at := name + ": " + strings.Join(set, " ")
			want := train(t, points, spec(t, append(append([]string{"standardize", "false"}, k.set...), set...)...))
			s := spec(t, append([]string{"kernel", "precomputed"}, set...)...)
			got := train(t, matrix, s)
			a, b := want.Report, got.Report
			require.Check(t, alike(*a.Objective, *b.Objective) && alike(*a.B, *b.B) && a.SupportVectors == b.SupportVectors && alike(*a.TrainAccuracy, *b.TrainAccuracy) && b.N == 60 && b.D == 0,
				"%s: objective %g, b %g, %d SVs; with points %g, %g, %d", at, *b.Objective, *b.B, b.SupportVectors, *a.Objective, *a.B, a.SupportVectors)
			require.Check(t, (a.TestAccuracy == nil) == (b.TestAccuracy == nil) && (a.TestAccuracy == nil || *a.TestAccuracy == *b.TestAccuracy),
				"%s: accuracy on held-out rows differs", at)
			require.Check(t, strings.Contains(b.Preprocessing, "none") && got.Model.Scaler == nil,
				"%s: preprocessing %q", at, b.Preprocessing)
			f := want.Model.Decisions(points.X)
			ps := require.Value(got.Model.Points(matrix, s))(t)
			scores := require.Value(got.Model.ScoresOf(t.Context(), strangers(matrix, true, 3, 59, 0)))(t)
			for i, p := range ps {
				require.Check(t, math.Abs(p.F-f[i]) <= 1e-6*(1+math.Abs(f[i])) && p.X == nil,
					"%s: row %d: f = %g, with points %g", at, i, p.F, f[i])
			}
			for a, i := range []int{3, 59, 0} {
				require.Equal(t, scores.At(a, 0), ps[i].F, "%s: f of row %d as a stranger", at, i)
			}
			if acc, err := got.Model.Accuracy(matrix); err != nil || acc < 0.5 {
				t.Errorf("%s: accuracy %g, %v", at, acc, err)
			}
			_, ok := got.Model.View()
			require.Check(t, !ok, "%s: a plane without coordinates", at)
			_, _, ok = got.Model.Linear()
			require.Check(t, !ok, "%s: weights without features", at)
			bare, err := got.Model.ScoresOf(t.Context(), strangers(matrix, false, 3))
			switch {
			case mapped && (err == nil || !strings.Contains(err.Error(), "row 1: the conformal map needs k(x, x)") || !strings.Contains(err.Error(), "called self")):
				t.Errorf("%s: a map without k(x, x): %v, %v", at, bare, err)
			case !mapped && (err != nil || bare.At(0, 0) != ps[3].F):
				t.Errorf("%s: f = %v, %v", at, bare, err)
			}
		}
	}
}

// TestPrecomputedSubset trains on rows whose numbers are in no order.
func TestPrecomputedSubset(t *testing.T) {
	t.Parallel()
	all := given(clouds(40, 2, 9), kernel.RBF(0.05))
	some := []int{31, 2, 17, 8, 25, 12, 39, 0, 5, 6}
	s := spec(t, "kernel", "precomputed", "tol", "1e-9")
	part := train(t, all.Subset(some), s)
	m := part.Model
	numbers := m.Supports.Objects.(*dataset.Precomputed).Number
	require.Must(t, m.Columns() == 40 && len(numbers) == part.Report.SupportVectors, "%d columns, supports %v", m.Columns(), numbers)
	for a, number := range numbers {
		require.Equal(t, number-1, some[m.Supports.Rows[a]], "object of row %d of the data", m.Supports.Rows[a])
	}
	// In order, it is the same machine.
	sorted := slices.Sorted(slices.Values(some))
	again := train(t, all.Subset(sorted), s)
	require.Check(t, alike(*part.Report.Objective, *again.Report.Objective),
		"objective %g, in order %g", *part.Report.Objective, *again.Report.Objective)
}

// TestPrecomputedIndefinite has eigenvalues below zero, and noClass claims otherwise.
func TestPrecomputedIndefinite(t *testing.T) {
	t.Parallel()
	d := given(clouds(50, 2, 3), kernel.Sigmoid(3, 1))
	row, err := kernel.Lookup("precomputed")
	require.Must(t, err == nil && !row.PSD, "%+v, %v", row, err)
	for _, set := range [][]string{{}, {"learner", "mcm"}, {"conformal", "amari"}, {"conformal", "gradient"}} {
		res, err := ml.Train(t.Context(), d, spec(t, append([]string{"kernel", "precomputed"}, set...)...), nil)
		if err != nil {
			t.Logf("%v: %v", set, err) // an error is an answer
			continue
		}
		r := res.Report
		require.Check(t, isFinite(*r.Objective) && isFinite(*r.B), "%v: objective %g, b %g", set, *r.Objective, *r.B)
	}
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func TestKernelsTakeTheirObjects(t *testing.T) {
	t.Parallel()
	points := clouds(20, 2, 1)
	matrix := given(points, kernel.Linear())
	for _, c := range []struct {
		d           *dataset.Data
		kernel, say string
	}{
		{matrix, "rbf", "kernel: rbf compares points with features, but these data are a kernel matrix, values k(x, z) instead of points; use precomputed"},
		{points, "precomputed", "kernel: precomputed compares a kernel matrix, values k(x, z) instead of points, but these data are points with features; use linear, poly, rbf"},
	} {
		for _, err := range []error{ml.Check(c.d, spec(t, "kernel", c.kernel)), func() error {
			_, err := ml.Train(t.Context(), c.d, spec(t, "kernel", c.kernel), nil)
			return err
		}()} {
			var ps param.Problems
			require.Check(t, errors.As(err, &ps) && ps[0].Field == "kernel" && strings.Contains(ps[0].Message, c.say),
				"%s: %v", c.kernel, err)
		}
	}
	s := spec(t, "kernel", "precomputed")
	for _, name := range []string{"standardize", "features", "project", "gamma", "degree"} {
		require.Check(t, !s.Applies(name), "%s applies to a kernel matrix", name)
	}
	m := train(t, matrix, s).Model
	require.Fails(t, require.Err(m.Accuracy(points)), "precomputed", "accuracy on points")
	require.Fails(t, require.Err(train(t, points, spec(t)).Model.Points(matrix, s)), "", "points of a model that takes points, on a kernel matrix")
	few := strangers(given(clouds(19, 2, 1), kernel.Linear()), false, 0)
	require.Fails(t, require.Err(m.ScoresOf(t.Context(), few)), "needs 20 kernel values in each row, not 19",
		"rows of another matrix")
}

func TestPrecomputedModelRoundTrips(t *testing.T) {
	t.Parallel()
	d := given(clouds(30, 2, 5), kernel.RBF(0.1))
	m := train(t, d, spec(t, "kernel", "precomputed", "conformal", "eigen")).Model
	text := asJSON(t, m)
	back := require.Value(ml.ReadModel(strings.NewReader(text)))(t)
	again := asJSON(t, back)
	require.Check(t, again == text && strings.Contains(text, `"objects":"precomputed","columns":30`) && !strings.Contains(text, "vectors"), "%s\n%s", text, again)
	a := require.Value(m.ScoresOf(t.Context(), d.Objects))(t)
	b := require.Value(back.ScoresOf(t.Context(), d.Objects))(t)
	require.Equal(t, cmp.Diff(a.RawMatrix().Data, b.RawMatrix().Data), "", "diff")
	numbers := func(o dataset.Objects) *dataset.Precomputed { return o.(*dataset.Precomputed) }
	for says, change := range map[string]func(m *ml.Model){
		"takes precomputed, not":      func(m *ml.Model) { m.Objects = dataset.KindVectors; m.Features = []string{"x"} },
		"no features":                 func(m *ml.Model) { m.Objects = "" },
		"supports: expected":          func(m *ml.Model) { numbers(m.Supports.Objects).Number = numbers(m.Supports.Objects).Number[1:] },
		"from 1 to 30, found 31":      func(m *ml.Model) { numbers(m.Supports.Objects).Number[0] = 31 },
		"from 1 to 30, found 0":       func(m *ml.Model) { numbers(m.Machines[0].Cores).Number[0] = 0 },
		"conformal coefficients":      func(m *ml.Model) { m.Machines[0].Map.Self = nil },
		"factors":                     func(m *ml.Model) { m.Machines[0].Factors = nil },
		"no features, scaler":         func(m *ml.Model) { m.Features = []string{"x"} },
		"from 1 to 2, found":          func(m *ml.Model) { numbers(m.Supports.Objects).Among = 2 },
		"coefficients: expected":      func(m *ml.Model) { m.Machines[0].Coef = nil },
		"no features, scaler, projec": func(m *ml.Model) { m.Scaler = &dataset.Scaler{} },
	} {
		spoilt := require.JSON[ml.Model](t, text)
		change(&spoilt)
		require.Fails(t, require.Err(ml.ReadModel(strings.NewReader(asJSON(t, spoilt)))), says, "the error")
	}
}
