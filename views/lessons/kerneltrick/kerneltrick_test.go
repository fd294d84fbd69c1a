package kerneltrick

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
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

// TestMaps: the inner product of the features equals the kernel.
func TestMaps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		m theory.FeatureMap
		k func(s float64) float64
	}{
		"plane": {theory.QuadraticPlane, func(s float64) float64 { return (1 + s) * (1 + s) }},
		"space": {theory.ProductsSpace, func(s float64) float64 { return s * s }},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 100 {
			x := mat.NewDense(2, c.m.Inputs, nil)
			for i := range 2 {
				for j := range c.m.Inputs {
					x.Set(i, j, 2*rng.NormFloat64())
				}
			}
			phi := require.Value(c.m.Rows(x))(t)
			want := c.k(floats.Dot(x.RawRowView(0), x.RawRowView(1)))
			got, direct := floats.Dot(phi.RawRowView(0), phi.RawRowView(1)), c.m.Kernel.Eval(x.RawRowView(0), x.RawRowView(1))
			require.Check(t, math.Abs(got-want) <= 1e-10*(1+want) && math.Abs(direct-want) <= 1e-10*(1+want),
				"%s: features %g, kernel %g, want %g", name, got, direct, want)
		}
	}
}

// TestBestLine compares with all thresholds in many directions.
func TestBestLine(t *testing.T) {
	t.Parallel()
	for _, o := range sets {
		points := toy(o.Name)
		w, b, errors, err := theory.BestLine(points.XY, points.Y)
		require.NoError(t, err)
		require.Equal(t, points.Errors(func(x, y float64) float64 { return w[0]*x + w[1]*y + b }), errors,
			"%s: errors of the line", o.Name)
		fewest := len(points.Y)
		for k := range 3600 {
			sin, cos := math.Sincos(float64(k) * math.Pi / 1800)
			order := dataset.Indices(len(points.Y))
			at := func(i int) float64 { return cos*points.XY[i][0] + sin*points.XY[i][1] }
			slices.SortFunc(order, func(i, j int) int { return int(math.Copysign(1, at(i)-at(j))) })
			wrong := 0 // for a threshold below all points, all are +1
			for _, y := range points.Y {
				if y < 0 {
					wrong++
				}
			}
			fewest = min(fewest, wrong)
			for n, i := range order {
				wrong += int(points.Y[i])
				if n+1 == len(order) || at(order[n+1])-at(i) > 1e-9 {
					fewest = min(fewest, wrong)
				}
			}
		}
		require.Check(t, errors == fewest, "%s: %d errors, but %d by trying directions", o.Name, errors, fewest)
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
