package ml_test

import (
	"math"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
)

// TestObjectsAreTheirKernel trains on strings and on graphs, and on the values of their kernel: the
// machines are the same, with a conformal map as without, and so are those that come back from JSON.
func TestObjectsAreTheirKernel(t *testing.T) {
	t.Parallel()
	texts, graphs := spelt(clouds(40, 3, 4)), joined(clouds(40, 3, 4))
	for _, kern := range [][]string{
		{"kernel", "spectrum", "k", "2"},
		{"kernel", "spectrum", "k", "2", "normalize", "true"},
		{"kernel", "gap-subsequence", "k", "2", "decay", "0.7", "normalize", "true"},
		{"kernel", "wl", "rounds", "2"},
		{"kernel", "random-walk", "walk_weight", "0.02", "labelled", "true", "normalize", "true"},
	} {
		k := spec(t, kern...)
		d, kind, column := texts, "strings", "text"
		if k.Kernel == "wl" || k.Kernel == "random-walk" {
			d, kind, column = graphs, "graphs", "graph"
		}
		values := asGiven(d, require.Value(kernel.GramOf(t.Context(), kernel.New(k.Kernel, k.Values, nil), d.Objects, nil))(t))
		for _, set := range [][]string{
			{"learner", "svm", "C", "2", "tol", "1e-9"},
			{"learner", "svm", "C", "2", "tol", "1e-9", "test_fraction", "0.3"},
			{"learner", "mcm", "C", "1", "rho", "0.1"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "amari", "core_step", "7", "test_fraction", "0.2"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "eigen"},
		} {
			at := strings.Join(append(kern, set...), " ")
			s, given := spec(t, append(kern, set...)...), spec(t, append([]string{"kernel", "precomputed"}, set...)...)
			got, want := train(t, d, s), train(t, values, given)
			a, b := got.Report, want.Report
			require.Near(t, *a.Objective, *b.Objective, 1e-6*(1+math.Abs(*b.Objective)), "%s: objective and by its values", at)
			require.Check(t, *a.TrainAccuracy == *b.TrainAccuracy && a.N == 40 && a.D == 0, "%s: %+v, by its values %+v", at, a, b)
			require.Check(t, (a.TestAccuracy == nil) == (b.TestAccuracy == nil) && (a.TestAccuracy == nil || *a.TestAccuracy == *b.TestAccuracy),
				"%s: accuracy on held-out rows differs", at)
			require.Check(t, a.Local == nil && a.Preprocessing == "none: "+kind+" as given", "%s: local %v, preprocessing %q", at, a.Local, a.Preprocessing)
			text := asJSON(t, got.Model)
			back := require.Value(ml.ReadModel(strings.NewReader(text)))(t)
			require.Equal(t, asJSON(t, back), text, "%s: written again", at)
			require.Says(t, text, `"objects":"`+kind+`","column":"`+column+`"`, "%s", at)
			f := require.Value(back.ScoresOf(t.Context(), d.Objects))(t)
			ps, qs := require.Value(got.Model.Points(d, s))(t), require.Value(want.Model.Points(values, given))(t)
			for i, p := range ps {
				require.Check(t, p.X == nil && p.F == f.At(i, 0), "%s: row %d: f = %g, read again %g", at, i, p.F, f.At(i, 0))
				require.Near(t, p.F, qs[i].F, 1e-4*(1+math.Abs(p.F)), "%s: row %d: f and by its values", at, i)
			}
		}
	}
}
