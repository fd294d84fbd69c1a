package ml_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

func TestConfusionByHand(t *testing.T) {
	t.Parallel()
	share := func(v float64) *float64 { return &v }
	got := ml.Confusion([]string{"a", "b", "c", "d"}, []int{0, 0, 0, 1, 1, 2, -1}, []int{0, 1, 0, 1, 0, 0, 1})
	want := []ml.ClassReport{
		{Class: "a", N: 3, Predicted: []int{2, 1, 0, 0}, Precision: share(0.5), Recall: share(2. / 3), F1: share(4. / 7)},
		{Class: "b", N: 2, Predicted: []int{1, 1, 0, 0}, Precision: share(1. / 3), Recall: share(0.5), F1: share(0.4)},
		{Class: "c", N: 1, Predicted: []int{1, 0, 0, 0}, Recall: share(0), F1: share(0)},
		{Class: "d", Predicted: []int{0, 0, 0, 0}},
	}
	require.Equal(t, cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)), "", "diff")
}

// The matrices of a report count what the points say of themselves.
func TestConfusionOfATraining(t *testing.T) {
	t.Parallel()
	d := three(90)
	for _, set := range [][]string{{"test_fraction", "0.3"}, {"multiclass", "ovr"}, {"positive", "elm", "test_fraction", "0.2"}, {"multiclass", "ww", "test_fraction", "0.2"}} {
		s := spec(t, set...)
		res := train(t, d, s)
		ps := require.Value(res.Model.Points(d, s))(t)
		for held, rows := range map[bool][]ml.ClassReport{false: res.Report.Confusion, true: res.Report.TestConfusion} {
			if held && s.TestFraction == 0 {
				require.Check(t, rows == nil, "%v: nothing is held out, and %+v", set, rows)
				continue
			}
			counts, vectors := map[[2]int]int{}, map[int]int{}
			for _, p := range ps {
				if p.Role != ml.None {
					vectors[res.Model.ClassOf(p.Label)]++
				}
				if p.HeldOut == held {
					predicted := res.Model.ClassOf(p.Predicted)
					counts[[2]int{res.Model.ClassOf(p.Label), predicted}]++
				}
			}
			all, right := 0, 0
			for c, r := range rows {
				require.Equal(t, r.Class, res.Model.Classes[c], "%v: class of the report", set)
				for p, n := range r.Predicted {
					require.Equal(t, n, counts[[2]int{c, p}], "%v: rows of %s predicted to be of class %d", set, r.Class, p)
				}
				if n := r.SupportVectors; held != (n == nil) || !held && *n != vectors[c] {
					t.Errorf("%v: support vectors of %s, held out %v: %v, counted %d", set, r.Class, held, n, vectors[c])
				}
				all += r.N
				right += r.Predicted[c]
			}
			accuracy := *res.Report.TrainAccuracy
			if held {
				accuracy = *res.Report.TestAccuracy
			}
			require.Near(t, accuracy, float64(right)/float64(all), 1e-12, "%v: %d of %d, accuracy", set, right, all)
		}
	}
}
