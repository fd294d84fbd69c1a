package repeat_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/repeat"
)

// A comparison on held-out points and on folds is repeated: searches on folds hold nothing out,
// and the tests are between the runs only.
func TestComparison(t *testing.T) {
	t.Parallel()
	g := require.Value(dataset.FindGenerator("moons"))(t)
	d := require.Value(g.Generate(nil))(t)
	var comparison repeat.Task
	comparison.Title = "comparison"
	var points [][]ml.Point
	for _, kernel := range []string{"rbf", "linear"} {
		spec := ml.DefaultSpec()
		spec.TestFraction = 0.3
		require.NoError(t, spec.Set("kernel", kernel))
		res := require.Value(ml.Train(t.Context(), d, spec, nil))(t)
		points = append(points, require.Value(res.Points(t.Context(), res.Model, d, spec))(t))
		comparison.Runs = append(comparison.Runs, repeat.Task{Title: kernel, Points: d.Hash(), Spec: require.Value(json.Marshal(spec))(t), Numbers: repeat.OfRun(&res.Report)})
	}
	comparison.Numbers = repeat.OfHeldOut(require.Value(eval.OnHeldOut(points))(t))
	scheme := eval.Scheme{Folds: 3, Repeats: 1}
	folds := require.Value(eval.Refine(t.Context(), d, ml.DefaultSpec(), eval.Grid{}, scheme, 0, nil))(t)
	comparison.Runs = append(comparison.Runs, repeat.Task{Title: "folds", Points: d.Hash(), Spec: require.Value(json.Marshal(ml.DefaultSpec()))(t), Search: &repeat.Search{Scheme: scheme}, Numbers: repeat.OfSearch(folds[0])})

	data := map[string]string{d.Hash(): require.Written(t, d.Encode)}
	file := require.Value(json.Marshal(repeat.File{Format: 1, Tasks: []repeat.Task{comparison}, Points: data}))(t)
	f := require.Value(repeat.Read(strings.NewReader(string(file))))(t)
	all := f.Tasks[0].Compare(require.Value(f.Tasks[0].Run(t.Context(), f.Data))(t))
	seen := map[string]bool{}
	for _, c := range all {
		seen[c.Task] = true
		require.Check(t, c.Agrees(), "%+v", c)
	}
	require.Check(t, len(seen) == 4, "numbers of %v, want those of the comparison, its runs and its folds", seen)
}

// Reported numbers without a source differ.
func TestNoRuns(t *testing.T) {
	t.Parallel()
	f := require.Value(repeat.Read(strings.NewReader(`{"format":1,"tasks":[{"title":"t","runs":[],"numbers":[{"name":"p of runs 1 and 2","value":0.5}]}]}`)))(t)
	all := f.Tasks[0].Compare(require.Value(f.Tasks[0].Run(t.Context(), f.Data))(t))
	require.Check(t, len(all) == 1 && !all[0].Agrees(), "%+v", all)
}

func TestAgrees(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		was, is float64
		want    bool
	}{
		{0, 0, true},
		{0, 1e-16, true},
		{0.5, 0.5 + 1e-8, true},
		{1e6, 1e6 + 0.5, true},
		{1e6, 1e6 + 2, false},
		{0.001, 0.0010001, false},
		{1e-9, 9e-7, false},
		{0.5, math.NaN(), false},
	} {
		c := (repeat.Compared{Was: tc.was, Is: tc.is})
		require.Check(t, c.Agrees() == tc.want, "%g and %g: want %t", tc.was, tc.is, tc.want)
	}
}
