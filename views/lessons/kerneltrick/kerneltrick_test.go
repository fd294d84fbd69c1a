package kerneltrick

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// TestXOR checks the solution by hand.
func TestXOR(t *testing.T) {
	t.Parallel()
	x := newXOR(t.Context())
	require.Check(t, floats.EqualApprox(x.alpha, []float64{0.125, 0.125, 0.125, 0.125}, 1e-8),
		"alpha %v, want 1/8 each", x.alpha)
	want := []float64{0, 0, 0, 0, 0, 1 / math.Sqrt2}
	require.Check(t, floats.EqualApprox(x.w, want, 1e-8), "w %v, want %v", x.w, want)
	require.Check(t, math.Abs(x.b) <= 1e-8 && math.Abs(x.quadratic()-32) <= 1e-12 && x.vectors == 4,
		"b %g, y'Ky %g, %d support vectors; want 0, 32, 4", x.b, x.quadratic(), x.vectors)
	for i := range 4 {
		for j := range 4 {
			want := 1.0
			if i == j {
				want = 9
			}
			if got := floats.Dot(x.phi.RawRowView(i), x.phi.RawRowView(j)); math.Abs(got-want) > 1e-12 || x.gram.At(i, j) != want {
				t.Errorf("K_%d%d: %g by features, %g by the kernel; want %g", i+1, j+1, got, x.gram.At(i, j), want)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		require.Near(t, x.model.Decision([]float64{a, b}), a*b, 1e-7*(1+a*a+b*b), "f(%g, %g)", a, b)
		require.Near(t, x.decision(a, b), a*b, 1e-7*(1+a*a+b*b), "by the features f(%g, %g)", a, b)
	}
}

// TestBestLine: the line makes the errors that are shown, and one on XOR.
func TestBestLine(t *testing.T) {
	t.Parallel()
	for _, o := range sets {
		points := toy(o.Name)
		w, b, errors, err := theory.BestLine(points.XY, points.Y)
		require.NoError(t, err)
		require.Equal(t, points.Errors(func(x, y float64) float64 { return w[0]*x + w[1]*y + b }), errors,
			"%s: errors of the line", o.Name)
	}
	_, _, errors, err := theory.BestLine(corners.XY, corners.Y)
	require.Check(t, err == nil && errors == 1, "XOR: %d errors, %v, want 1", errors, err)
}

// TestLift: each set needs its own coordinate, and a sum of the old ones does not help.
func TestLift(t *testing.T) {
	t.Parallel()
	for set, right := range map[string]string{"rings": "squares", "xor": "product"} {
		points := toy(set)
		_, _, line, err := theory.BestLine(points.XY, points.Y)
		require.NoError(t, err)
		for _, l := range lifts {
			_, _, errors := l.separate(t.Context(), points)
			require.Check(t, (errors == 0) == (l.name == right), "%s with %s: %d errors", set, l.name, errors)
			require.Check(t, l.name != "sum" || errors >= line,
				"%s: a plane over the sum makes %d errors, fewer than any line's %d", set, errors, line)
		}
	}
}
