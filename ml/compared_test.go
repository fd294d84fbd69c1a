package ml_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// Training keeps what the model tells of every row, so that no kernel value is needed any more.
func TestKeptScores(t *testing.T) {
	t.Parallel()
	two := spelt(clouds(40, 3, 4))
	three := spelt(clouds(45, 3, 5))
	for i := range three.Y {
		three.Y[i] = i % 3
	}
	three.Classes = []string{"a", "b", "c"}
	over := mltest.Ended()
	for _, set := range [][]string{
		{"learner", "svm"},
		{"learner", "svm", "test_fraction", "0.3"},
		{"learner", "ridge", "test_fraction", "0.3"},
		{"learner", "mcm", "rho", "0.1", "test_fraction", "0.3"},
		{"conformal", "eigen", "test_fraction", "0.3"},
		{"multiclass", "ovo", "test_fraction", "0.3"},
		{"multiclass", "ovr", "conformal", "amari", "test_fraction", "0.3"},
		{"multiclass", "ww"},
		{"multiclass", "cs", "conformal", "amari", "core_step", "5", "test_fraction", "0.3"},
	} {
		d := lists.Either(set[0] == "multiclass", three, two)
		s := spec(t, append([]string{"kernel", "spectrum", "k", "2", "normalize", "true"}, set...)...)
		res := train(t, d, s)
		require.Check(t, (res.Before == nil) == (res.ScoresBefore == nil),
			"%v: scores of the model before: %v", set, res.ScoresBefore)
		for m, kept := range map[*ml.Model]*mat.Dense{res.Model: res.Scores, res.Before: res.ScoresBefore} {
			if m == nil {
				continue
			}
			want, err := m.ScoresOf(t.Context(), d.Objects)
			require.Check(t, err == nil && mat.EqualApprox(kept, want, 1e-8),
				"%v: kept scores %v, the model tells %v, %v", set, mat.Formatted(kept), mat.Formatted(want), err)
			ps, err := res.Points(over, m, d, s)
			require.Check(t, err == nil && len(ps) == d.Len() && ps[7].Scores[0] == kept.At(7, 0), "%v: %v", set, err)
		}
		forgot := &ml.Result{Model: res.Model}
		require.Is(t, require.Err(forgot.Points(over, res.Model, d, s)), context.Canceled, "%v: noClass waits", set)
		ps, err := forgot.Points(t.Context(), res.Model, d, s)
		require.Check(t, err == nil && len(ps) == d.Len(), "%v: %v", set, err)
		require.Fails(t, require.Err(res.Points(t.Context(), res.Model, d.Subset([]int{0, 1, 2}), s)), "", "%v: points of other data", set)
	}
	require.Check(t, train(t, clouds(20, 2, 6), spec(t)).Scores == nil, "the scores of vectors are kept")
}

// TestCompare: of many objects some of every class, a class of one among them, each with the
// value of the kernel; and no more than can be waited for.
func TestCompare(t *testing.T) {
	t.Parallel()
	d := &dataset.Data{Label: "class", Classes: []string{"none", "many", "one", "some"}, Y: make([]int, 1000)}
	s := &dataset.Strings{Name: "text"}
	for i := range d.Y {
		d.Y[i] = 1 + 2*(i%10/9)
		s.Values = append(s.Values, strings.Repeat("ab", 1+i%7))
	}
	d.Y[500] = 2
	d.Objects = s
	k := kernel.Kernel{Name: "spectrum", Values: param.Values{"k": param.Of(2)}}
	c, err := ml.Compare(t.Context(), k, d)
	require.Must(t, err == nil && c.Of == 1000 && len(c.Rows) <= 300 && len(c.Rows) >= 290,
		"%d rows, %v", len(c.Rows), err)
	count := map[int]int{}
	for a, i := range c.Rows {
		count[d.Y[i]]++
		require.Must(t, a == 0 || d.Y[c.Rows[a-1]] <= d.Y[i] && (d.Y[c.Rows[a-1]] != d.Y[i] || c.Rows[a-1] < i),
			"rows %v are not class by class", c.Rows)
		n := float64(1 + i%7) // "ab" n times, "ba" n-1 times
		require.Equal(t, c.Values.At(a, a), n*n+(n-1)*(n-1), "row %d: k(x, x)", i)
	}
	require.Check(t, count[2] == 1 && count[1] >= 8*count[3] && count[3] >= 25, "objects by class: %v", count)

	c, err = ml.Compare(t.Context(), k, d.Subset([]int{3, 9, 500}))
	require.Check(t, err == nil && len(c.Rows) == 3, "%+v, %v", c, err)
	long := func(n int) *dataset.Data {
		x := &dataset.Strings{}
		x.Values = lists.Make(50, func(int) string { return strings.Repeat("é", n) })
		return &dataset.Data{Objects: x, Classes: []string{"a"}, Y: make([]int, 50)}
	}
	gaps := kernel.Kernel{Name: "gap-subsequence", Values: param.Values{"k": param.Of(3), "decay": param.Of(0.5)}}
	over := mltest.Ended()
	if _, err := ml.Compare(over, gaps, long(5000)); !errors.Is(err, context.Canceled) || ml.Comparable(gaps, long(5000)) != nil {
		t.Errorf("noClass waits: %v", err)
	}
	var refused *param.Refusal
	_, err = ml.Compare(t.Context(), gaps, long(100_000))
	require.Check(t, errors.As(err, &refused) && errors.As(ml.Comparable(gaps, long(100_000)), &refused), "%v", err)
	require.Near(t, kernel.Steps(gaps, long(1000).Objects), 3e6, 1, "steps")
	require.Fails(t, require.Err(ml.Compare(t.Context(), kernel.RBF(1), clouds(9, 2, 1))), "", "points are compared")
	require.Fails(t, require.Err(ml.Compare(t.Context(), kernel.RBF(1), d)), "", "the kernel takes strings")
}
