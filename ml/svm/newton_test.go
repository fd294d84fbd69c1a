package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// TestNewton makes Newton steps near the solution: the objective rises by their stated gain, u
// stays feasible, g matches u, and they reach the solution for the free points, whether or not the
// rows of these fit in memory.
func TestNewton(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int64{1 << 20, 1 << 14} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) { testNewton(t, bytes) })
	}
}

func testNewton(t *testing.T, bytes int64) {
	x, y := moons(300, 0.3)
	k := kernel.NewGram(kernel.RBF(2), x)
	o := newState(k, y, 100, &monitor{Monitor: trace.Monitor{Context: t.Context(), Limit: 1 << 30}, total: len(y)})
	s := newSMO(k, o, rows.NewMemory[float64](nil, len(y), bytes))
	require.Value(s.climb(0.1, 1<<20))(t)
	spread := func() float64 {
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range s.free() {
			low, high = min(low, s.g[i]), max(high, s.g[i])
		}
		return high - low
	}
	require.Equal(t, s.rows.Hold(len(s.free())), bytes == 1<<20, "rows of the free points fit in memory")
	for range 20 {
		before, said := s.Objective, s.free()
		require.NoError(t, s.newton(s.free()))
		sum, square := s.dual()
		if got := sum - square/2; math.Abs(got-s.Objective) > 1e-9*got || s.Objective < before {
			t.Fatalf("objective %g, said to be %g, before %g with %d free", got, s.Objective, before, len(said))
		}
		total := 0.0
		for i, u := range s.u {
			require.Must(t, u >= s.lo(i) && u <= s.hi(i), "u[%d] = %g is out of bounds", i, u)
			total += u
		}
		require.Must(t, math.Abs(total) <= 1e-9, "sum of u is %g", total)
	}
	g := append([]float64{}, s.g...)
	require.Value(s.refresh())(t)
	for i, v := range g[:s.m] {
		require.Must(t, math.Abs(v-s.g[i]) <= 1e-8, "g[%d] = %g, from u %g", i, v, s.g[i])
	}
	v := spread()
	require.Check(t, v <= 0.01, "g differs by %g among the free points", v)
}

// TestNewtonMemory makes two Newton steps: the second allocates less than half a square of the
// free points. It is not parallel, as allocations are counted for the whole process.
func TestNewtonMemory(t *testing.T) {
	const n = 600
	x, y := moons(n, 0.3)
	k := kernel.NewGram(kernel.RBF(50), x)
	s := newSMO(k, newState(k, y, 1e6, newMonitor(t.Context(), n, Settings{MaxIter: 1 << 30})), rows.NewMemory[float64](nil, n, 1<<22))
	step := func() uint64 {
		for i, y := range y {
			s.place(i, y/10)
		}
		_ = require.Value(s.refresh())(t)
		require.Equal(t, len(s.free()), n, "free points")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, s.newton(s.free()))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	step()
	bytes := step()
	require.Check(t, bytes < 4*n*n, "a Newton step on %d points allocates %d bytes", n, bytes)
}

// TestSmallRank trains low-rank kernels on unscaled features with a large C: more points become
// free than the rank allows, leaving flat directions among them. The tolerance is reached in few
// steps where rounding allows it; otherwise training ends early.
func TestSmallRank(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		kernel  kernel.Kernel
		n, d    int
		c       float64
		spread  float64 // of the features
		rounded bool
	}{
		{kernel.Linear(), 2000, 10, 1e4, 10, false},
		{kernel.Linear(), 23, 2, 5e7, 100, true},
		{kernel.Linear(), 1500, 5, 1e5, 1000, true},
		{kernel.Polynomial(1, 1, 1), 398, 20, 1e6, 30, true},
		{kernel.Polynomial(80, 1, 3), 200, 2, 1e3, 1, true},
	} {
		r := rand.New(rand.NewPCG(1, uint64(p.n)))
		x, y := mat.NewDense(p.n, p.d, nil), make([]float64, p.n)
		for i := range p.n { // a ball inside a cloud, with noise
			square := 0.0
			for j := range p.d {
				v := r.NormFloat64()
				square += v * v
				x.Set(i, j, p.spread*v)
			}
			y[i] = math.Copysign(1, square-float64(p.d)+0.6+0.5*r.NormFloat64()*math.Sqrt(float64(p.d)))
		}
		res := require.Value(Train(t.Context(), kernel.NewGram(p.kernel, x), y, Settings{C: p.c, MaxIter: 100_000}))(t)
		require.Check(t, (res.Status == trace.Converged || p.rounded && res.Status == trace.Numerical) && res.Gap <= 1e-4,
			"%s, n = %d, d = %d, C = %g: %s after %d steps, gap %g, violation %g", p.kernel.Name, p.n, p.d, p.c, res.Status, res.Iterations, res.Gap, res.KKTViolation)
	}
}

// TestNewtonFlat steps along a direction without curvature, to the bounds.
func TestNewtonFlat(t *testing.T) {
	t.Parallel()
	x, y := mat.NewDense(6, 1, nil), []float64{1, -1, 1, -1, 1, -1}
	o := newState(kernel.NewGram(kernel.Linear(), x), y, 100, &monitor{Monitor: trace.Monitor{Context: t.Context(), Limit: 1 << 30}, total: len(y)})
	s := newSMO(kernel.NewGram(kernel.Linear(), x), o, rows.NewMemory[float64](nil, len(y), 1<<20))
	for i, y := range y {
		s.place(i, y/10)
	}
	require.NoError(t, s.newton(s.free()))
	for i, y := range y {
		require.Near(t, s.u[i], 100*y, 1e-9, "u[%d]", i)
	}
}

// Bounds are reached one after another along flat directions, for about the estimated work.
func TestNewtonFlatEnds(t *testing.T) {
	t.Parallel()
	const n = 100
	k, y := kernel.NewGram(kernel.Linear(), mat.NewDense(n, 1, nil)), make([]float64, n)
	for i := range y {
		y[i] = float64(1 - 2*(i%2))
	}
	o := newState(k, y, 1, newMonitor(t.Context(), n, Settings{MaxIter: 1 << 30}))
	s := newSMO(k, o, rows.NewMemory[float64](nil, n, 1<<20))
	for i, y := range y {
		o.weight[i] = math.Pow(4, float64(i/2))
		s.bound(1)
		s.place(i, y/10)
	}
	require.NoError(t, s.newton(s.free()))
	if scheduled := s.newtonWork(n, n); s.spent > 5*scheduled || s.Iterations < 2 {
		t.Errorf("%d steps of work %d, where %d was scheduled", s.Iterations, s.spent, scheduled)
	}
}

// A low-rank factor, and rows computed on demand, give the same Newton step as the matrix.
func TestLowRank(t *testing.T) {
	t.Parallel()
	const n = 1000
	x, y := moons(n, 0.3)
	s := newSMO(kernel.NewGram(kernel.RBF(1), x), newState(kernel.NewGram(kernel.RBF(1), x), y, 100, newMonitor(t.Context(), n, Settings{MaxIter: 1 << 30})), rows.NewMemory[float64](nil, n, 1<<24))
	for i, y := range y {
		s.place(i, y/10)
	}
	free, rho := s.free(), 1e-5
	require.Equal(t, len(free), n, "free points")
	whole := require.Value(s.square(free, make([]float64, n*n+factorSize(n))))(t)
	low := s.lowRank(free, rho, make([]float64, n*n))
	require.Must(t, low != nil && low.g.Rows < n/lowOf, "no low rank")
	require.Equal(t, s.lowRank(free, 1e-12, make([]float64, n*n)), nil, "below rounding")

	inside, r := []int{}, rand.New(rand.NewPCG(3, 9))
	left, d, fixed := make([]float64, n), make([]float64, n), []int{}
	for a := range free {
		left[a], d[a] = r.NormFloat64(), r.NormFloat64()
		if a%3 == 0 {
			fixed = append(fixed, a)
		} else {
			inside = append(inside, a)
		}
	}
	near := func(got, want []float64, tol float64, what string) {
		t.Helper()
		for a, v := range want {
			require.Must(t, math.Abs(got[a]-v) <= tol*floats.Norm(want, math.Inf(1)), "%s: %g, want %g", what, got[a], v)
		}
	}
	results := func(k block) (curvature, moves, rest []float64) {
		rest = slices.Clone(left)
		k.subtract(rest, d, fixed)
		return []float64{k.curvature(d)}, k.equations(inside, left, rho, 0.5).solve(), rest
	}
	curvature, moves, rest := results(whole)
	computed := &square{state: s.state, free: free, cut: whole.cut, own: make([]float64, n), scratch: make([]float64, factorSize(n))}
	for _, other := range []struct {
		name string
		k    block
		tol  float64
	}{{"low rank", low, 0.05}, {"computed", computed, 1e-12}} {
		c, m, r := results(other.k)
		near(c, curvature, other.tol, other.name+": curvature")
		near(r, rest, other.tol, other.name+": rest")
		near(m, moves, other.tol, other.name+": moves")
		require.Check(t, math.Abs(floats.Sum(m)-0.5) <= 1e-6, "%s: the moves add up to %g", other.name, floats.Sum(m))
	}
}
