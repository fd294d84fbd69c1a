package svm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

func relative(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	require.Check(t, math.Abs(got-want) <= tol*math.Abs(want),
		"%s %.12g, want %.12g (off by %.2g)", name, got, want, math.Abs(got-want)/math.Abs(want))
}

func train(t testing.TB, k Matrix, y []float64, s Settings) *Result {
	t.Helper()
	r := require.Value(Train(t.Context(), k, y, s))(t)
	require.Must(t, r.Status == trace.Converged,
		"status %s after %d iterations, violation %g", r.Status, r.Iterations, r.KKTViolation)
	return r
}

// TestToy solves the example in scikit-learn's documentation of SVC.
func TestToy(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(6, 2, []float64{-2, -1, -1, -1, -1, -2, 1, 1, 1, 2, 2, 1})
	y := []float64{-1, -1, -1, 1, 1, 1}
	r := train(t, kernel.NewGram(kernel.Linear(), x), y, Settings{C: 1})
	for i, want := range []float64{0, 0.25, 0, 0.25, 0, 0} {
		require.Near(t, r.Alpha[i], want, 1e-12, "alpha[%d]", i)
	}
	require.Check(t, math.Abs(r.B) <= 1e-12, "b = %g, want 0", r.B)
}
