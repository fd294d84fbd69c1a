package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// Both points lie on the margin, half their distance; the dual's maximum, at alpha, is the primal.
func TestPairMachine(t *testing.T) {
	t.Parallel()
	x := random(5, 12, 3)
	for i := 0; i < 12; i += 2 {
		pair := x.Slice(i, i+2, 0, 3).(*mat.Dense)
		p := require.Value(theory.NewPairMachine(pair.RawRowView(0), pair.RawRowView(1)))(t)
		m := require.Value(theory.LinearMargins(p.W, p.B, pair, []float64{-1, 1}))(t)
		near(t, "margin of the negative point", m.Functional[0], 1, 1e-12)
		near(t, "margin of the positive point", m.Functional[1], 1, 1e-12)
		near(t, "geometric margin", m.GeometricMargin(), floats.Distance(pair.RawRowView(0), pair.RawRowView(1), 2)/2, 1e-12)
		near(t, "W(alpha)", p.Dual(p.Alpha), floats.Dot(p.W, p.W)/2, 1e-12)
		for _, a := range []float64{0, 0.9 * p.Alpha, 1.1 * p.Alpha, 2 * p.Alpha} {
			require.Check(t, p.Dual(a) < p.Dual(p.Alpha),
				"W(%g) = %g, at alpha %g only %g", a, p.Dual(a), p.Alpha, p.Dual(p.Alpha))
		}
	}
	for name, q := range map[string][]float64{"itself": {1, 2}, "a point in space": {1, 2, 3}, "a point at no place": {math.NaN(), 0}} {
		require.Fails(t, require.Err(theory.NewPairMachine([]float64{1, 2}, q)), "", "a machine of a point and %s", name)
	}
}

// No w has a ceiling below the optimum 1/4; length does not matter, the best bias attains the margin.
func TestHardCeiling(t *testing.T) {
	t.Parallel()
	x, y, _ := toy()
	separating := 0
	for k := range 360 {
		sin, cos := math.Sincos(float64(k) * math.Pi / 180)
		w := []float64{3 * cos, 3 * sin}
		got := require.Value(theory.HardCeiling(w, x, y))(t)
		longer := require.Value(theory.HardCeiling([]float64{70 * cos, 70 * sin}, x, y))(t)
		if math.IsInf(got, 1) {
			require.Check(t, math.IsInf(longer, 1), "at %d degrees: none, but %g for a longer w", k, longer)
			continue
		}
		separating++
		near(t, "ceiling of a longer w", longer, got, 1e-9*got)
		require.Check(t, got >= 0.25-1e-12, "at %d degrees: %g, below the optimum", k, got)
		b := require.Value(theory.NewBiases(w, x, y, y))(t)
		m := require.Value(theory.LinearMargins(w, b.Midpoint, x, y))(t)
		near(t, "|w|²/2 by the margin", 1/(2*m.GeometricMargin()*m.GeometricMargin()), got, 1e-9*got)
	}
	require.Check(t, separating != 0 && separating != 360, "%d of 360 directions separate", separating)
	near(t, "ceiling of the solution", require.Value(theory.HardCeiling([]float64{1, 1}, x, y))(t), 0.25, 1e-15)
	got, err := theory.HardCeiling([]float64{0, 0}, x, y)
	require.Check(t, err == nil && math.IsInf(got, 1), "w = 0 has the ceiling %g, %v", got, err)
}

// At the solution all formulas give its bias; for a shorter w those from single points do not.
func TestBiases(t *testing.T) {
	t.Parallel()
	x, y, u := toy()
	for i := range y { // away from the origin, so that b is not 0
		x.Set(i, 0, x.At(i, 0)+3)
	}
	b, err := theory.NewBiases([]float64{0.5, 0.5}, x, y, u)
	require.NoError(t, err)
	for name, got := range map[string]float64{"midpoint": b.Midpoint, "heaviest": b.Heaviest, "low": b.Low, "high": b.High} {
		near(t, name, got, -1.5, 1e-14)
	}
	b, err = theory.NewBiases([]float64{0.25, 0.25}, x, y, u)
	require.NoError(t, err)
	near(t, "midpoint, short w", b.Midpoint, -0.75, 1e-14)
	near(t, "heaviest, short w", b.Heaviest, -0.25, 1e-14)
	near(t, "low, short w", b.Low, -1.25, 1e-14)
	near(t, "high, short w", b.High, -0.25, 1e-14)

	one := make([]float64, len(y))
	one[1] = -1
	b, err = theory.NewBiases([]float64{0.5, 0.5}, x, y, one)
	require.Check(t, err == nil && math.IsNaN(b.Heaviest) && b.Low == b.High, "one negative support vector: %+v, %v", b, err)
}

// The interval holds the b with the least total slack, found by trying all: an interval if all
// support vectors are at the bound, a point if one is free.
func TestBiasInterval(t *testing.T) {
	t.Parallel()
	x, y, u := toy()
	for name, c := range map[string]struct {
		w         []float64
		u         []float64
		c         float64
		low, high float64
	}{
		"hard":  {[]float64{0.5, 0.5}, u, math.Inf(1), 0, 0},
		"free":  {[]float64{0.5, 0.5}, u, 1, 0, 0},
		"bound": {[]float64{0.08, 0.08}, []float64{-0.01, -0.01, -0.01, 0.01, 0.01, 0.01}, 0.01, -0.76, 0.76},
	} {
		low, high, err := theory.BiasInterval(c.w, x, y, c.u, c.c)
		require.NoError(t, err)
		near(t, name+": low", low, c.low, 1e-12)
		near(t, name+": high", high, c.high, 1e-12)
		slack := func(b float64) (sum float64) {
			for i := range y {
				sum += max(0, 1-y[i]*(floats.Dot(c.w, x.RawRowView(i))+b))
			}
			return sum
		}
		for b := -2.0; b <= 2; b += 0.01 {
			require.Check(t, (b >= low-1e-9 && b <= high+1e-9) == (slack(b) < slack((low+high)/2)+1e-9),
				"%s: slack %g at b = %g, %g in the middle of %g to %g", name, slack(b), b, slack((low+high)/2), low, high)
		}
	}
}
