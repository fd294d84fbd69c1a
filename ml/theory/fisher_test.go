package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// For the linear kernel the points are their own images, so both computations of J must agree.
func TestScatterTracesAndRidgedJ(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 14))
	x, y := mat.NewDense(9, 2, nil), make([]float64, 9)
	ones := make([]float64, 9)
	for i := range y {
		y[i], ones[i] = float64(2*(i%3/2)-1), 1
		x.SetRow(i, []float64{rng.NormFloat64() + y[i], rng.NormFloat64()})
	}
	k := kernel.NewGram(linear, x)
	between, within, err := theory.ScatterTraces(x, y)
	require.NoError(t, err)
	for _, ridge := range []float64{0, 0.5} {
		j := require.Value(theory.RidgedJ(t.Context(), k, y, ones, ridge))(t)
		near(t, "J", j, between/(within+ridge), 1e-12)
	}
	require.Fails(t, require.Err3(theory.ScatterTraces(x, y[:8])), "", "traces of 9 rows with 8 labels")
	require.Fails(t, require.Err(theory.RidgedJ(t.Context(), k, y, ones[:8], 0)), "", "J of 8 factors for 9 rows")
	// A repeated core gives an eigenvalue of 0 for every ridge.
	for _, ridge := range []float64{0, 1, 1e3} {
		v := require.Value(theory.RidgeSpectrum(t.Context(), k, x, y, [][]float64{{0, 1}, {0, 1}}, 1, ridge))(t)
		require.Check(t, len(v) == 3 && math.Abs(v[0]) <= 1e-12*v[2] && v[1] <= v[2] && v[1] >= 1e-6*v[2],
			"ridge %g: eigenvalues %v", ridge, v)
	}
	require.Fails(t, require.Err(theory.RidgeSpectrum(t.Context(), k, x, y, [][]float64{{0}}, 1, 1)), "", "a core of the line in the plane")
}

func TestAxes(t *testing.T) {
	t.Parallel()
	half, directions, err := theory.Axes(mat.NewSymDense(2, []float64{9, 0, 0, 4}))
	require.NoError(t, err)
	near(t, "short", half[0], 2, 1e-12)
	near(t, "long", half[1], 3, 1e-12)
	near(t, "direction of the long axis", math.Abs(directions.At(0, 1)), 1, 1e-12)
	half, _, err = theory.Axes(mat.NewSymDense(2, []float64{1, 2, 2, 1}))
	require.Check(t, err == nil && half[0] == 0, "an indefinite metric has the short axis %g, %v", half[0], err)
	require.Fails(t, require.Err3(theory.Axes(mat.NewSymDense(3, nil))), "", "axes of a metric of three dimensions")
}

func TestBend(t *testing.T) {
	t.Parallel()
	for _, s := range []float64{0, 0.5, 3} {
		f := theory.Bend(s, 0.7, 2)
		near(t, "left end", f(-2), -2, 1e-12)
		near(t, "right end", f(2), 2, 1e-12)
		slope := func(x float64) float64 { return (f(x+1e-4) - f(x-1e-4)) / 2e-4 }
		require.Check(t, s <= 0 || slope(0.7) > slope(0.3) && slope(0.7) > slope(1.1) && slope(-1.9) > 0,
			"steepness %g: slopes %g, %g, %g", s, slope(0.3), slope(0.7), slope(1.1))
	}
}

func TestMeanEntries(t *testing.T) {
	t.Parallel()
	k := mat.NewSymDense(4, []float64{9, 1, 2, 3, 1, 9, 4, 5, 2, 4, 9, 6, 3, 5, 6, 9})
	for _, c := range []struct {
		y               []float64
		within, between float64
	}{
		{[]float64{-1, -1, 1, 1}, 3.5, 3.5}, // 1 and 6; 2, 3, 4 and 5
		{[]float64{-1, 1, -1, 1}, 3.5, 3.5}, // 2 and 5; 1, 3, 4 and 6
		{[]float64{1, -1, 1, 1}, 11. / 3, 10. / 3},
		{[]float64{1, 1, 1, 1}, 3.5, math.NaN()},
	} {
		within, between, err := theory.MeanEntries(k, c.y)
		require.NoError(t, err)
		near(t, "within", within, c.within, 1e-14)
		if math.IsNaN(c.between) {
			require.Check(t, math.IsNaN(between), "between = %g without a second class", between)
			continue
		}
		near(t, "between", between, c.between, 1e-14)
	}
	require.Fails(t, require.Err3(theory.MeanEntries(k, []float64{1, -1})), "", "two labels for four points")
	require.Fails(t, require.Err3(theory.MeanEntries(new(mat.SymDense), nil)), "", "the means of no entries")
}
