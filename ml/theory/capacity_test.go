package theory_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func TestCapacityOfTheToy(t *testing.T) {
	t.Parallel()
	x, y, u := toy()
	c := require.Value(theory.NewCapacity(gram(linear, x), u, 0, y))(t)
	// f = (x_1 + x_2)/2 is ±1 or ±1.5; |w|² = 1/2
	near(t, "h_MCM", c.HMCM, 1.5, 1e-14)
	near(t, "|w|", c.Norm, math.Sqrt(0.5), 1e-14)
	near(t, "Delta", c.Margin, math.Sqrt2, 1e-14)
	near(t, "R", c.Radius, math.Sqrt(6), 1e-14)
	near(t, "ball", c.Ball, math.Sqrt(5), 1e-9)
	require.Check(t, c.Separates, "the toy is separated")
	for i, s := range c.Slack {
		near(t, "slack", s, 0, 1e-14)
		require.Check(t, s >= 0, "slack %d is %g", i+1, s)
	}
	c, err := theory.NewCapacity(mat.NewSymDense(2, []float64{1, 0, 0, 1}), []float64{1, 0}, 0, []float64{1, -1})
	require.Check(t, err == nil && math.IsInf(c.HMCM, 1) && !c.Separates && c.Margin == 0,
		"a point on f = 0: %+v, %v", c, err)
	k := gram(linear, mat.NewDense(3, 2, []float64{3, 4, 0, 0, -1, 1}))
	near(t, "largest norm", theory.MaxNorm(k), 5, 1e-14)
	near(t, "diameter", theory.Diameter(k), 5, 1e-14)
}

// h_MCM <= R/Delta for every machine, by Cauchy-Schwarz.
func TestHMCMIsBelowRadiusOverMargin(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for seed := range uint64(40) {
		x := random(seed, 9, 3)
		k := gram(linear, x)
		if seed%2 == 0 {
			k = gram(rbf(0.3), x)
		}
		u, y := make([]float64, 9), make([]float64, 9)
		b := rng.NormFloat64()
		for i := range u {
			u[i], y[i] = rng.NormFloat64(), float64(2*rng.IntN(2)-1)
		}
		c := require.Value(theory.NewCapacity(k, u, b, y))(t)
		require.Check(t, c.HMCM >= 1 && c.HMCM <= c.Radius/c.Margin*(1+1e-12),
			"h_MCM = %g, R/Delta = %g", c.HMCM, c.Radius/c.Margin)
		right := true
		for i := range y {
			f := b
			for j := range u {
				f += k.At(i, j) * u[j]
			}
			right = right && y[i]*f > 0
			near(t, "slack", c.Slack[i], max(0, 1-y[i]*f), 1e-12)
		}
		require.Check(t, right == c.Separates, "Separates = %t", c.Separates)
	}
}

// The weights give the same result as the coefficients.
func TestLinearCapacity(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 5))
	for seed := range uint64(20) {
		x := random(seed, 7, 3)
		u, y, w := make([]float64, 7), make([]float64, 7), make([]float64, 3)
		b := rng.NormFloat64()
		for i := range u {
			u[i], y[i] = rng.NormFloat64(), float64(2*rng.IntN(2)-1)
			for j := range w {
				w[j] += u[i] * x.At(i, j)
			}
		}
		want := require.Value(theory.NewCapacity(gram(linear, x), u, b, y))(t)
		got := require.Value(theory.LinearCapacity(w, b, x, y))(t)
		near(t, "h_MCM", got.HMCM/want.HMCM, 1, 1e-10)
		near(t, "R", got.Radius, want.Radius, 1e-12)
		near(t, "Delta", got.Margin, want.Margin, 1e-12)
		near(t, "|w|", got.Norm, want.Norm, 1e-12)
		near(t, "ball", got.Ball, want.Ball, 1e-8)
		for i := range y {
			near(t, "slack", got.Slack[i], want.Slack[i], 1e-12)
		}
		require.Equal(t, got.Separates, want.Separates, "Separates")
	}
}

// The smallest circle has two points as diameter or passes through three; all are tried.
func TestEnclosingBallInThePlane(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		x := random(seed, 3+int(seed), 2)
		got := require.Value(theory.EnclosingBall(gram(linear, x)))(t)
		near(t, "radius", got.Radius, smallestCircle(x), 1e-8)
		require.Check(t, got.Gap <= 1e-9, "gap %g", got.Gap)
		sum := 0.0
		for _, a := range got.Weights {
			sum += a
			require.Check(t, a >= 0, "weight %g", a)
		}
		near(t, "sum of weights", sum, 1, 1e-12)
		// the centre given by the weights must be within the ball's distance of all points
		var centre mat.Dense
		centre.Mul(mat.NewDense(1, len(got.Weights), got.Weights), x)
		near(t, "distance of the farthest point", farthest(x, centre.At(0, 0), centre.At(0, 1)), got.Radius, 1e-9)
	}
}

// farthest returns the distance from (cx, cy) to the farthest row of x.
func farthest(x *mat.Dense, cx, cy float64) float64 {
	n, _ := x.Dims()
	return slices.Max(lists.Make(n, func(i int) float64 { return math.Hypot(x.At(i, 0)-cx, x.At(i, 1)-cy) }))
}

func smallestCircle(x *mat.Dense) float64 {
	n, _ := x.Dims()
	best := math.Inf(1)
	try := func(cx, cy float64) { best = min(best, farthest(x, cx, cy)) }
	for i := range n {
		for j := range i {
			try((x.At(i, 0)+x.At(j, 0))/2, (x.At(i, 1)+x.At(j, 1))/2)
			for k := range j {
				ax, ay := x.At(i, 0)-x.At(k, 0), x.At(i, 1)-x.At(k, 1)
				bx, by := x.At(j, 0)-x.At(k, 0), x.At(j, 1)-x.At(k, 1)
				a2, b2, d := ax*ax+ay*ay, bx*bx+by*by, 2*(ax*by-ay*bx)
				try(x.At(k, 0)+(by*a2-ay*b2)/d, x.At(k, 1)+(ax*b2-bx*a2)/d)
			}
		}
	}
	return best
}

func TestEnclosingBallInFeatureSpace(t *testing.T) {
	t.Parallel()
	// For orthonormal images the centre is their mean, R² = 1 - 1/M.
	const m = 8
	eye := mat.NewSymDense(m, nil)
	for i := range m {
		eye.SetSym(i, i, 1)
	}
	for _, c := range []struct {
		name string
		k    *mat.SymDense
		want float64
	}{
		{"identity", eye, math.Sqrt(1 - 1.0/m)},
		{"one point", mat.NewSymDense(1, []float64{4}), 0},
		{"all points the same", mat.NewSymDense(3, []float64{2, 2, 2, 2, 2, 2, 2, 2, 2}), 0},
		{"all at the origin", mat.NewSymDense(2, nil), 0},
		{"two points at distance 3", mat.NewSymDense(2, []float64{0, 0, 0, 9}), 1.5},
	} {
		near(t, c.name, require.Value(theory.EnclosingBall(c.k))(t, "%s", c.name).Radius, c.want, 1e-9)
	}
	// In any feature space no ball is smaller than certified.
	for seed := range uint64(10) {
		k := gram(rbf(0.7), random(seed, 60, 2))
		got := require.Value(theory.EnclosingBall(k))(t)
		if d := theory.Diameter(k); got.Gap > 1e-9 || got.Radius > min(1, d/math.Sqrt2) || got.Radius < d/2 {
			t.Errorf("ball %+v around points of diameter %g on the unit sphere", got.Radius, d)
		}
	}
	require.Fails(t, require.Err(theory.EnclosingBall(mat.NewSymDense(2, []float64{1, 2, 2, 1}))), "", "a ball without a feature space")
}
