package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mixture"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// Scores are derivatives of log p, responsibilities sum to 1, Fisher's diagonal is a mean square.
func TestScores(t *testing.T) {
	t.Parallel()
	m := mixture.Mixture{Weights: []float64{0.3, 0.7}, Means: [][]float64{{0, 1}, {2, -1}}, Variances: [][]float64{{0.5, 1}, {2, 0.3}}}
	x := mat.NewDense(3, 2, []float64{0.4, 0.8, 1, 0, 2.5, -1.2})
	u, r := theory.Scores(&m, x), theory.Responsibilities(&m, x)
	n, d := u.Dims()
	require.Must(t, n == 3 && d == 10, "%d scores of %d entries", n, d)
	for i := range 3 {
		require.Near(t, floats.Sum(r.RawRowView(i)), 1, 1e-12, "responsibilities of point %d sum to", i)
		const h = 1e-6
		share := make([]float64, 2)
		above, below := m, m
		above.Means, below.Means = [][]float64{{0, 1}, {2 + h, -1}}, [][]float64{{0, 1}, {2 - h, -1}}
		slope := (above.Density().At(share, x.RawRowView(i)) - below.Density().At(share, x.RawRowView(i))) / (2 * h)
		require.Near(t, u.At(i, 2+2), slope, 1e-6, "point %d: score and by differences", i)
	}
	mean, square := theory.ColumnMeans(u, false), theory.ColumnMeans(u, true)
	for j := range 10 {
		a, b, c := u.At(0, j), u.At(1, j), u.At(2, j)
		require.Check(t, math.Abs(mean[j]-(a+b+c)/3) <= 1e-12 && math.Abs(square[j]-(a*a+b*b+c*c)/3) <= 1e-9,
			"entry %d: mean %g, mean square %g", j, mean[j], square[j])
	}
}
