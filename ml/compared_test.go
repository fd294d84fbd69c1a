package ml_test

import (
	"context"
	"errors"
	"math"
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

// TestKeptScores: what training keeps is what the model tells of every row, and points of a
// result need no value of the kernel any more.
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
		d := two
		if set[0] == "multiclass" {
			d = three
		}
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

	few := d.Subset([]int{3, 9, 500})
	c, err = ml.Compare(t.Context(), k, few)
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

// TestNearest finds the neighbours of points that are given by their inner products.
func TestNearest(t *testing.T) {
	t.Parallel()
	points := clouds(30, 3, 8)
	points.X.SetRow(11, points.X.RawRowView(4)) // copies
	points.X.SetRow(2, points.X.RawRowView(4))
	d := asGiven(points, kernel.NewGram(kernel.Kernel{Name: "linear"}, points.X))
	k := kernel.Kernel{Name: "precomputed"}
	for _, row := range []int{0, 4, 29} {
		near, among, err := ml.Nearest(t.Context(), k, d, row, 7)
		require.Must(t, err == nil && among == 29 && len(near) == 7, "%v among %d, %v", near, among, err)
		distance := func(i int) (sum float64) {
			for j := range 3 {
				sum += math.Pow(points.X.At(row, j)-points.X.At(i, j), 2)
			}
			return math.Sqrt(sum)
		}
		taken := map[int]bool{row: true}
		for a, n := range near {
			require.Check(t, math.Abs(n.Distance-distance(n.Row)) <= 1e-6 && !taken[n.Row] && (a <= 0 || n.Distance >= near[a-1].Distance),
				"row %d: %+v, the distance is %g", row, n, distance(n.Row))
			taken[n.Row] = true
		}
		for i := range d.Len() {
			require.Check(t, taken[i] || distance(i) >= near[6].Distance-1e-9,
				"row %d: row %d is nearer than the last of %v", row, i, near)
		}
	}
	near, _, _ := ml.Nearest(t.Context(), k, d, 4, 2)
	require.Check(t, near[0].Row == 2 && near[1].Row == 11, "copies: %v", near)
	near, among, err := ml.Nearest(t.Context(), k, d.Subset([]int{3}), 0, 5)
	require.Check(t, err == nil && len(near)+among == 0, "alone: %v, %v", near, err)
	for _, row := range []int{-1, 30} {
		require.Fails(t, require.Err3(ml.Nearest(t.Context(), k, d, row, 5)), "", "row %d has neighbours", row)
	}
	require.Fails(t, require.Err3(ml.Nearest(t.Context(), kernel.RBF(1), points, 0, 5)), "", "points have objects near them")

	long := &dataset.Data{Objects: &dataset.Strings{}, Classes: []string{"a"}, Y: make([]int, 400)}
	for range long.Y {
		long.Objects.(*dataset.Strings).Values = append(long.Objects.(*dataset.Strings).Values, strings.Repeat("ab", 4000))
	}
	over := mltest.Ended()
	_, _, err = ml.Nearest(over, kernel.Kernel{Name: "gap-subsequence", Values: param.Values{"k": param.Of(2), "decay": param.Of(0.5)}}, long, 0, 5)
	require.Check(t, errors.Is(err, context.Canceled), "noClass waits: %v", err)
}
