package ml_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// gappy are clouds of which every fourth row lacks one of its values.
func gappy(n, d int, seed uint64) *dataset.Data {
	whole := clouds(n, d, seed)
	whole.Given = mat.DenseCopyOf(whole.X)
	rows := make([]int, n)
	for i := range n {
		if rows[i] = i; i%4 == 1 {
			whole.Given.Set(i, (i/4)%d, math.NaN())
		}
	}
	return whole.Filled(whole.FitFill(rows))
}

// TestFillIsFitted: a training is that on data in which the medians of its training rows stand
// where values were missing, the model keeps these, and what is held out has no share in them.
func TestFillIsFitted(t *testing.T) {
	t.Parallel()
	for _, set := range [][]string{
		{},
		{"standardize", "false", "learner", "mcm"},
		{"learner", "ridge", "project", "pca"},
		{"conformal", "eigen"},
		{"calibration", "platt", "features", "x3,x1"},
	} {
		d := gappy(80, 3, 5)
		s := spec(t, append(set, "test_fraction", "0.3", "seed", "4")...)
		res := train(t, d, s)
		points := require.Value(res.Model.Points(d, s))(t)
		in := lists.Filter(points, func(p ml.Point) bool { return !p.HeldOut })
		fill := d.FitFill(lists.Map(in, func(p ml.Point) int { return p.Row }))
		by := d.Filled(fill)
		by.Given = nil
		want := train(t, by, s)
		if len(set) == 4 && set[0] == "calibration" {
			fill = dataset.Fill{fill[2], fill[0]}
		} else if diff := cmp.Diff(want.Report.TrainAccuracy, res.Report.TrainAccuracy); diff != "" || *want.Report.TestAccuracy != *res.Report.TestAccuracy {
			t.Errorf("%v: %s", set, diff)
		}
		require.Equal(t, cmp.Diff(fill, res.Model.Fill), "", "%v: fill (-want +got)", set)
		require.Equal(t, cmp.Diff(want.Model.Supports, res.Model.Supports), "", "%v: supports (-want +got)", set)
		require.Check(t, strings.HasPrefix(res.Report.Preprocessing, "missing values filled with the median") && !strings.Contains(want.Report.Preprocessing, "median"),
			"%q and %q", res.Report.Preprocessing, want.Report.Preprocessing)
		// The model, whole and after a journey, says of a missing value what it says of its median.
		text := asJSON(t, res.Model)
		back, err := ml.ReadModel(strings.NewReader(text))
		require.Must(t, err == nil && asJSON(t, back) == text && strings.Contains(text, `"format":4`),
			"%v: %v", set, err)
		x := make([]float64, len(fill))
		x[0], x[1] = math.NaN(), 0.4
		a := back.Decision(x)
		x[0] = fill[0]
		b := res.Model.Decision(x)
		require.Check(t, a == b && !math.IsNaN(b), "%v: f is %g with a missing value, %g with the fill", set, a, b)
		for _, p := range points {
			require.Near(t, back.Decision(p.X), p.F, 1e-12, "%v, row %d: f of the coordinates", set, p.Row)
		}
		// Rows held out go elsewhere.
		far := *d
		far.Given = mat.DenseCopyOf(d.Given)
		for _, p := range points {
			if p.HeldOut {
				for j, v := range far.Given.RawRowView(p.Row) {
					far.Given.Set(p.Row, j, 50-7*v)
				}
			}
		}
		require.Check(t, asJSON(t, train(t, &far, s).Model) == text, "%v: what is held out changes the model", set)
	}
}

// Rows with gaps are predicted by a model that was trained on such, and refused by others.
func TestFillOfAFile(t *testing.T) {
	t.Parallel()
	const file = "sex,x1,x2\nf,1,\nm,,0.5\n,0.2,0.1\nm,0.2,0.1\n"
	read := func(text string) *dataset.Data {
		return require.Value(dataset.Read(strings.NewReader(text), "f", dataset.Mapping{Features: []string{"x1", "x2", "sex"}, Missing: dataset.MissingMedian}, dataset.Limits{}))(t)
	}
	predict := func(d *dataset.Data) (*ml.Predictions, *ml.Model, error) {
		res := train(t, d, spec(t, "gamma", "0.5"))
		table := require.Value(dataset.ParseTable(strings.NewReader(file), "new", dataset.Limits{}))(t)
		p, err := res.Model.PredictTable(t.Context(), table)
		return p, res.Model, err
	}
	const whole = "x1,x2,sex,label\n1,1,f,A\n0,0.5,m,B\n0.1,1,m,A\n1,0,f,B\n0.3,0.2,m,B\n"
	p, m, err := predict(read(whole + "0.4,,m,A\n"))
	require.NoError(t, err)
	want := (dataset.Fill{0.35, 0.5, 1})
	require.Check(t, cmp.Equal(want, m.Fill), "fill %v, want %v", m.Fill, want)
	for i, x := range [][]float64{{1, 0.5, 0}, {0.35, 0.5, 1}, {0.2, 0.1, 1}, {0.2, 0.1, 1}} {
		require.Equal(t, m.Decision(x), p.Scores.At(i, 0), "row %d: f", i+1)
	}
	require.Equal(t, strings.Join(p.Notes, "; "), "3 rows with missing values, filled as in training", "notes")
	require.Fails(t, require.Err3(predict(read(whole))), "new, line 2, column 3 (x2): expected a value, found nothing: remove the row, or train a model that fills", "a model without a fill")
}
