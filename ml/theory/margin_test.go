package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// The geometric margin is the distance to the line, here to the nearest of many of its points.
func TestGeometricMarginIsADistance(t *testing.T) {
	t.Parallel()
	w, b := []float64{0.6, -1.4}, 0.5
	x := random(17, 10, 2)
	y := []float64{1, -1, 1, -1, 1, -1, 1, -1, 1, -1}
	m := require.Value(theory.LinearMargins(w, b, x, y))(t)
	norm := math.Hypot(w[0], w[1])
	right := true
	for i := range y {
		px, py := x.At(i, 0), x.At(i, 1)
		near(t, "functional margin", m.Functional[i], y[i]*(0.6*px-1.4*py+0.5), 1e-14)
		nearest := math.Inf(1)
		for s := -8.0; s <= 8; s += 1e-4 {
			lx, ly := -b*w[0]/norm/norm-s*w[1]/norm, -b*w[1]/norm/norm+s*w[0]/norm
			nearest = min(nearest, math.Hypot(px-lx, py-ly))
		}
		near(t, "distance", math.Abs(m.Geometric[i]), nearest, 1e-6)
		require.Check(t, m.Functional[i] >= m.FunctionalMargin() && math.Signbit(m.Functional[i]) == math.Signbit(m.Geometric[i]),
			"point %d: margins %g and %g, smallest %g", i+1, m.Functional[i], m.Geometric[i], m.FunctionalMargin())
		right = right && m.Functional[i] > 0
	}
	require.Check(t, m.Separates == right && !right, "Separates = %t", m.Separates)
	near(t, "|w|", m.Norm, norm, 1e-15)
}

func TestMarginsOfTheToy(t *testing.T) {
	t.Parallel()
	x, y, _ := toy()
	m := require.Value(theory.LinearMargins([]float64{0.5, 0.5}, 0, x, y))(t)
	require.Check(t, m.Worst == 1 && m.Separates, "worst point %d, separates %t", m.Worst, m.Separates)
	near(t, "functional margin", m.FunctionalMargin(), 1, 1e-15)
	near(t, "geometric margin", m.GeometricMargin(), math.Sqrt2, 1e-15)
	// Scaling changes only the functional margins, and Canonical undoes it.
	scaled := require.Value(theory.LinearMargins([]float64{5, 5}, 0, x, y))(t)
	near(t, "functional margin, scaled", scaled.FunctionalMargin(), 10, 1e-14)
	near(t, "geometric margin, scaled", scaled.GeometricMargin(), math.Sqrt2, 1e-14)
	w, b, err := theory.Canonical([]float64{5, 5}, 1, x, y)
	require.NoError(t, err)
	// f = 5 (x_1 + x_2) + 1 is closest to 0 at (-1, -1): -9
	require.Check(t, floats.EqualApprox(w, []float64{5.0 / 9, 5.0 / 9}, 1e-15) && math.Abs(b-1.0/9) <= 1e-15,
		"canonical (%v, %g)", w, b)
	// a point exactly on f = 0 is predicted +1, but not separated
	m, err = theory.LinearMargins([]float64{1}, 0, mat.NewDense(2, 1, []float64{0, -1}), []float64{1, -1})
	require.Check(t, err == nil && !m.Separates && m.Worst == 0, "a point on f = 0: %+v, %v", m, err)
}
