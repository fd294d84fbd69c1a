package lessons

import (
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// More rows than the lesson takes are thinned, by class and always alike.
func TestConformalThin(t *testing.T) {
	t.Parallel()
	d := mltest.Builtin(t, "checkerboard")
	thin, notes := Thin(d)
	n := len(thin.Y)
	positive := lists.Count(thin.Y, func(c int) bool { return c == 1 })
	require.Check(t, n == mostRows && positive == n/2 && len(notes) == 1,
		"%d rows, %d of the positive class, notes %q", n, positive, notes)
	again, _ := Thin(d)
	require.Check(t, again.Hash() == thin.Hash(), "a second time other rows are taken")
	// A picture of iris has the columns of the petal, which tell virginica from the others.
	d = mltest.Builtin(t, "iris")
	require.Slices(t, TellingColumns(d, "virginica"), []int{2, 3}, "columns of %v", d.Features)
}
