package ml_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

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
