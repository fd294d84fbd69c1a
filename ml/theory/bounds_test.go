package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func TestVapnikBound(t *testing.T) {
	t.Parallel()
	// h = 3, M = 100 000, eta = 0.05: eps = 4 (3 (ln(200000/3) + 1) + ln 20)/100000
	eps := 4 * (3*(math.Log(200000.0/3)+1) + math.Log(20)) / 1e5
	near(t, "eps", theory.VapnikEpsilon(3, 1e5, 0.05), eps, 1e-14)
	b := theory.VapnikBound(0.1, 1, 3, 1e5, 0.05)
	near(t, "R", b.Value, 0.1+eps/2*(1+math.Sqrt(1+0.4/eps)), 1e-14)
	require.Check(t, !b.Vacuous, "%+v is not vacuous", b)
	// without errors the bound is B eps; without capacity and with eta = 1, R_emp
	near(t, "R without errors", theory.VapnikBound(0, 2, 3, 1e5, 0.05).Value, 2*eps, 1e-14)
	near(t, "R without capacity", theory.VapnikBound(0.25, 1, 0, 10, 1).Value, 0.25, 0)
	b = theory.VapnikBound(0, 1, 3, 60, 0.05)
	require.Check(t, b.Vacuous && b.Value >= 1, "60 points and 3 parameters: %+v", b)
	near(t, "eps beyond h = 2M", theory.VapnikEpsilon(math.Inf(1), 7, 1), theory.VapnikEpsilon(14, 7, 1), 0)
	near(t, "VC form beyond h = 2M", theory.VCBound(0.05, math.Inf(1), 90, 0.05).Value, theory.VCBound(0.05, 180, 90, 0.05).Value, 0)
	near(t, "VC form", theory.VCBound(0.1, 3, 1e5, 0.05).Value, 0.1+math.Sqrt((3*(1+math.Log(200000.0/3))-math.Log(0.0125))/1e5), 1e-14)
	// The bound is the largest R with (R - R_emp)² <= B eps R, so it must solve the equation.
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		top := 0.5 + 3*rng.Float64()
		emp, h, m, eta := top*rng.Float64(), 50*rng.Float64(), 1+rng.IntN(100000), rng.Float64()
		b := theory.VapnikBound(emp, top, h, m, eta)
		be := top * theory.VapnikEpsilon(h, m, eta)
		near(t, "(R-R_emp)² against B eps R", (b.Value-emp)*(b.Value-emp), be*b.Value, 1e-9)
		require.Must(t, b.Value >= emp && b.Vacuous == (b.Value >= top),
			"bound %+v above empirical risk %g with loss up to %g", b, emp, top)
	}
}

// The capacity term must bound the logarithm of the number of dichotomies, sum_{i<=h} C(2M, i) by
// Sauer's lemma, and be monotone in h: the printed formula does so only up to h = 2M.
func TestVapnikEpsilonBoundsTheDichotomies(t *testing.T) {
	t.Parallel()
	for _, m := range []int{1, 2, 5, 20} {
		last, sum := 0.0, 0.0
		for h := range 12 * m {
			if h <= 2*m {
				sum += choose(2*m, h)
			}
			log := theory.VapnikEpsilon(float64(h), m, 1) * float64(m) / 4
			require.Must(t, log >= math.Log(sum)-1e-12 && log >= last,
				"M = %d, h = %d: %g, but ln of the dichotomies is %g, and %g for h - 1", m, h, log, math.Log(sum), last)
			last = log
		}
	}
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}

func TestOtherBounds(t *testing.T) {
	t.Parallel()
	// The compression bound with the exact number of subsets, ln C(N, N_SV) instead of N_SV
	// (1 - ln(N_SV/N)), is smaller.
	for _, n := range []int{1, 10, 200} {
		for s := range n {
			got := theory.SparseBound(s, n, 0.05)
			exact := (math.Log(choose(n, s)) + math.Log(float64(n)/0.05)) / float64(n-s)
			require.Check(t, got.Value >= exact && got.Vacuous == (got.Value >= 1),
				"N_SV = %d of %d: %+v, exact count %g", s, n, got, exact)
		}
		got := theory.SparseBound(n, n, 0.05)
		require.Check(t, math.IsInf(got.Value, 1) && got.Vacuous, "all %d points support vectors: %+v", n, got)
	}
	near(t, "10 of 1000", theory.SparseBound(10, 1000, 0.05).Value, (10*(1-math.Log(0.01))+math.Log(20000))/990, 1e-14)
	require.Equal(t, theory.LeaveOneOutBound(3, 12), theory.Bound{Value: 0.25}, "3 of 12")
	require.Equal(t, theory.LeaveOneOutBound(12, 12), theory.Bound{Value: 1, Vacuous: true}, "12 of 12")
	for _, c := range []struct{ radius, margin, want float64 }{
		{3, 0.5, 36}, {30, 5, 36}, {0, 1, 0}, {1, 0, math.Inf(1)}, {1, -2, math.Inf(1)}, {-1, 1, math.NaN()}, {math.NaN(), 1, math.NaN()}, {1, math.NaN(), math.NaN()},
	} {
		got := theory.MistakeBound(c.radius, c.margin)
		require.Check(t, got == c.want || math.IsNaN(got) && math.IsNaN(c.want), "radius %g, margin %g: %g, want %g", c.radius, c.margin, got, c.want)
	}
}

func TestSparseBoundPoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nsv          int
		delta, share float64
	}{{0, 0.05, 0.1}, {3, 0.05, 0.1}, {3, 0.05, 0.9}, {40, 0.01, 0.02}, {1, 1, 5}} {
		n := theory.SparseBoundPoints(c.nsv, c.delta, c.share)
		at := theory.SparseBound(c.nsv, n, c.delta).Value
		require.Check(t, at < c.share, "%+v: %g at %d points", c, at, n)
		before := theory.SparseBound(c.nsv, n-1, c.delta).Value
		require.Check(t, n <= c.nsv+1 || before >= c.share, "%+v: %g at %d points already", c, before, n-1)
		// It must decrease with every point.
		for m := c.nsv + 1; m < 2000; m++ {
			a, b := theory.SparseBound(c.nsv, m, c.delta).Value, theory.SparseBound(c.nsv, m+1, c.delta).Value
			require.Must(t, b < a, "%+v: %g at %d points, then %g", c, a, m, b)
		}
	}
	for i, n := range []int{
		theory.SparseBoundPoints(-1, 0.05, 0.1), theory.SparseBoundPoints(3, 0, 0.1), theory.SparseBoundPoints(3, 2, 0.1),
		theory.SparseBoundPoints(3, 0.05, 0), theory.SparseBoundPoints(3, 0.05, math.NaN()), theory.SparseBoundPoints(3, 0.05, 1e-12),
	} {
		require.Equal(t, n, 0, "row %d", i)
	}
}

func TestBoundsOutOfRange(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for i, b := range []theory.Bound{
		theory.VapnikBound(-0.1, 1, 3, 100, 0.05), theory.VapnikBound(1.1, 1, 3, 100, 0.05), theory.VapnikBound(0, 0, 3, 100, 0.05),
		theory.VapnikBound(0, 1, -1, 100, 0.05), theory.VapnikBound(0, 1, 3, 0, 0.05), theory.VapnikBound(0, 1, 3, 100, 0),
		theory.VapnikBound(nan, 1, 3, 100, 0.05), theory.VapnikBound(0, 1, nan, 100, 0.05), theory.VapnikBound(0, 1, 3, 100, 2),
		theory.VCBound(2, 3, 100, 0.05), theory.VCBound(0, -3, 100, 0.05), theory.VCBound(0, 3, 0, 0.05), theory.VCBound(0, 3, 100, nan),
		theory.SparseBound(-1, 100, 0.05), theory.SparseBound(101, 100, 0.05), theory.SparseBound(1, 100, 0), theory.SparseBound(0, 0, 0.05),
		theory.LeaveOneOutBound(-1, 100), theory.LeaveOneOutBound(101, 100), theory.LeaveOneOutBound(0, 0),
	} {
		require.Check(t, math.IsNaN(b.Value) && b.Vacuous, "row %d: %+v", i, b)
	}
	for i, v := range []float64{
		theory.MarginVCDim(-1, 1, 2), theory.MarginVCDim(1, nan, 2), theory.MarginVCDim(1, 1, -2), theory.MarginVCDim(nan, 1, 2),
		theory.SlideVCDim(-1, 1, 2), theory.SlideVCDim(1, nan, 2), theory.SlideVCDim(1, 1, nan),
	} {
		require.Check(t, math.IsNaN(v), "VC dimension, row %d: %g", i, v)
	}
}

func TestMarginVCDim(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for _, c := range []struct{ radius, margin, dim, want float64 }{
		{2, 1, 10, 5},
		{1.9, 1, 10, 5}, // ceil(3.61), not floor(1.9)²
		{2, 1, 2, 3},
		{2, 1.45, 2, 3}, // an equilateral triangle of height 3 is shattered
		{1, 2, 10, 2},
		{100, 1, inf, 10001},
		{1, 0, 7, 8},
		{1, -0.5, 7, 8},
		{1, 0, inf, inf},
		{0, 1, 7, 1},
	} {
		require.Equal(t, theory.MarginVCDim(c.radius, c.margin, c.dim), c.want, "MarginVCDim(%g, %g, %g)", c.radius, c.margin, c.dim)
	}
}

// What a machine can shatter does not depend on units. The formula of the slides does; with the
// margin squared it does not, and it is a bound by Jung's theorem.
func TestSlideVCDimDependsOnUnits(t *testing.T) {
	t.Parallel()
	const diameter, margin, unit = 4.1, 0.6, 2.54
	inf := math.Inf(1)
	require.Check(t, theory.SlideVCDim(diameter, margin, inf) == 16 && theory.SlideVCDim(unit*diameter, unit*margin, inf) == 37,
		"the slides' formula gives %g and %g", theory.SlideVCDim(diameter, margin, inf), theory.SlideVCDim(unit*diameter, unit*margin, inf))
	a, b := theory.DiameterVCDim(diameter, margin, inf), theory.DiameterVCDim(unit*diameter, unit*margin, inf)
	require.Check(t, a == 24 && b == 24, "DiameterVCDim = %g and %g, want 24", a, b)
	for seed := range uint64(20) {
		k := gram(linear, random(seed, 12, 5))
		ball := require.Value(theory.EnclosingBall(k))(t)
		d := theory.Diameter(k)
		require.Check(t, ball.Radius <= d/math.Sqrt2 && ball.Radius >= d/2, "ball %g around points of diameter %g", ball.Radius, d)
	}
}
