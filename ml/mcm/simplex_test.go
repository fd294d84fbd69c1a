package mcm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

type byRows [][]float64

func (a *byRows) mulT(dst, z []float64) {
	clear(dst)
	for i, row := range *a {
		for j, v := range row {
			dst[j] += z[i] * v
		}
	}
}

func (a *byRows) mul(dst []float64, cols []int, x []float64) {
	for i, row := range *a {
		dst[i] = 0
		for t, j := range cols {
			dst[i] += row[j] * x[t]
		}
	}
}

// verify checks bounds, equations and optimality after a solve.
func verify(t *testing.T, s *simplex, a byRows) {
	t.Helper()
	for j, x := range s.x {
		require.Check(t, x >= s.lo[j]-1e-8 && x <= s.up[j]+1e-8,
			"variable %d = %g outside [%g, %g]", j, x, s.lo[j], s.up[j])
	}
	pi := s.multipliers()
	for i, row := range a {
		sum := s.x[s.n+i]
		for j, v := range row {
			sum += v * s.x[j]
		}
		require.Check(t, math.Abs(sum) <= 1e-8, "row %d is off by %g", i, sum)
	}
	for j := range s.x {
		d := s.cost[j]
		if j < s.n {
			for i, row := range a {
				d -= pi[i] * row[j]
			}
		} else {
			d -= pi[j-s.n]
		}
		require.Check(t, (d <= 1e-7 || s.x[j] <= s.lo[j]+1e-7) && (d >= -1e-7 || s.x[j] >= s.up[j]-1e-7),
			"variable %d = %g in [%g, %g] has reduced cost %g", j, s.x[j], s.lo[j], s.up[j], d)
	}
}

// The example on which the textbook method cycles (Beale 1955), and its dual, for the dual simplex.
func TestBeale(t *testing.T) {
	t.Parallel()
	const big = 1e3
	primal := byRows{{0.25, -60, -0.04, 9}, {0.5, -90, -0.02, 3}}
	s := newSimplex(&primal, []float64{-0.75, 150, -0.02, 6},
		[]float64{0, 0, 0, 0, 0, 0}, []float64{big, big, 1, big, big, big}, 2)
	if status := s.solve(context.Background()); status != trace.Converged || math.Abs(s.objective()+0.05) > 1e-10 {
		t.Errorf("primal: %s at %.12g, want -1/20", status, s.objective())
	}
	verify(t, s, primal)

	dual := byRows{{0.25, 0.5, 0}, {-60, -90, 0}, {-0.04, -0.02, 1}, {9, 3, 0}}
	s = newSimplex(&dual, []float64{0, 0, 1},
		[]float64{0, 0, 0, -big * 90, -big * 90, -big * 90, -big * 90},
		[]float64{big, big, big, -0.75, 150, -0.02, 6}, 4)
	if status := s.solve(context.Background()); status != trace.Converged || math.Abs(s.objective()-0.05) > 1e-10 {
		t.Errorf("dual: %s at %.12g, want 1/20", status, s.objective())
	}
	verify(t, s, dual)
}

// Identical columns make every step degenerate; perturbed costs resolve this and are restored.
func TestStalling(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const n, m = 120, 60
	a := make(byRows, m)
	for i := range a {
		a[i] = make([]float64, n)
		for j := range a[i] {
			if rng.IntN(4) == 0 {
				a[i][j] = float64(rng.IntN(3) - 1)
			}
		}
		a[i][i], a[i][m+i] = 1, -1
	}
	cost, lo, up := make([]float64, n), make([]float64, n+m), make([]float64, n+m)
	for j := range n {
		up[j] = 1
	}
	for i := range m {
		cost[i] = 1
		lo[n+i], up[n+i] = -0.1, -0.1
		if i%2 == 0 {
			lo[n+i], up[n+i] = 0, 0
		}
	}
	s := newSimplex(&a, cost, lo, up, m)
	for rounds := 0; ; rounds++ {
		require.Equal(t, s.solve(context.Background()), trace.Converged, "status")
		if !s.restore() || rounds > 20 {
			break
		}
	}
	verify(t, s, a)
	require.Check(t, s.perturbations != 0, "the example did not stall: it tests nothing")
}

func random(rng *rand.Rand) (a byRows, cost, lo, up []float64, m int) {
	n := 1 + rng.IntN(30)
	m = 1 + rng.IntN(12)
	a = make(byRows, m)
	cost, lo, up = make([]float64, n), make([]float64, n+m), make([]float64, n+m)
	x := make([]float64, n)
	for j := range n {
		cost[j] = float64(rng.IntN(7) - 3)
		lo[j] = float64(-rng.IntN(3))
		up[j] = lo[j] + float64(rng.IntN(4))
		x[j] = lo[j] + (up[j]-lo[j])*rng.Float64()
	}
	for i := range a {
		a[i] = make([]float64, n)
		at := 0.0
		for j := range a[i] {
			if rng.IntN(2) == 0 {
				a[i][j] = float64(rng.IntN(5) - 2)
			}
			at += a[i][j] * x[j]
		}
		lo[n+i], up[n+i] = -at, -at
		if rng.IntN(2) == 0 {
			lo[n+i], up[n+i] = -at-rng.Float64(), -at+2*rng.Float64()
		}
		if i > 0 && rng.IntN(8) == 0 { // duplicate row
			copy(a[i], a[i-1])
			lo[n+i], up[n+i] = lo[n+i-1], up[n+i-1]
		}
	}
	return a, cost, lo, up, m
}

// settle solves and restores costs until nothing is left to do.
func settle(t *testing.T, s *simplex) {
	t.Helper()
	for {
		require.Equal(t, s.solve(context.Background()), trace.Converged, "status")
		if !s.restore() {
			return
		}
	}
}

func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		a, cost, lo, up, m := random(rng)
		s := newSimplex(&a, cost, lo, up, m)
		settle(t, s)
		verify(t, s, a)

		// The same from half of the rows, with the others added one by one, and after dropping
		// the slack rows.
		n, half := len(cost), m/2
		b := append(byRows(nil), a[:half]...)
		grown := newSimplex(&b, cost, lo[:n+half], up[:n+half], half)
		settle(t, grown)
		for i := half; i < m; i++ {
			b = append(b, a[i])
			grown.addRow(lo[n+i], up[n+i])
			if rng.IntN(2) == 0 {
				settle(t, grown)
			}
		}
		settle(t, grown)
		verify(t, grown, b)
		for i := grown.m - 1; i >= 0; i-- {
			if grown.pos[n+i] >= 0 {
				b[i] = b[len(b)-1]
				b = b[:len(b)-1]
				grown.dropRow(i)
			}
		}
		settle(t, grown)
		verify(t, grown, b)
		require.Near(t, grown.objective(), s.objective(), 1e-7, "objective when grown row by row")

		// And from an arbitrary, partly dependent basis.
		vars := rng.Perm(n)[:min(m, n)]
		other := newSimplex(&a, cost, lo, up, m)
		other.setBasis(0, vars)
		settle(t, other)
		verify(t, other, a)
		require.Must(t, !t.Failed(), "seed %d", seed)
	}
}

// An inverse that is off by a thousandth still gives accurate x and d, without being rebuilt.
func TestRefinement(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		a, cost, lo, up, m := random(rng)
		s := newSimplex(&a, cost, lo, up, m)
		settle(t, s)
		for _, row := range s.inv.rows {
			floats.Scale(1+1e-3*rng.Float64(), row)
		}
		require.Check(t, s.recompute(), "seed %d: inaccurate", seed)
		verify(t, s, a)
		if s.x[s.head[0]] != 0 {
			floats.Scale(-1, s.inv.rows[0])
			require.Check(t, !s.recompute(), "seed %d: an inverse with a wrong sign passes", seed)
		}
	}
}

func TestInfeasibleProgram(t *testing.T) {
	t.Parallel()
	a := byRows{{1, 1}}
	s := newSimplex(&a, []float64{1, 1}, []float64{0, 0, -5}, []float64{1, 1, -3}, 1)
	require.Equal(t, s.solve(context.Background()), trace.Numerical, "status")
}

func TestCholesky(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	const m, d = 30, 6
	x := lists.Make(m, func(int) []float64 { return lists.Make(d, func(int) float64 { return rng.NormFloat64() }) })
	k := mltest.Symmetric(m, func(i, j int) float64 { return floats.Dot(x[i], x[j]) })
	f, err := cholesky(context.Background(), k, 1e-10)
	require.Must(t, err == nil && f.rank() == d, "rank %d, want %d; error %v", f.rank(), d, err)
	w := lists.Make(d, func(i int) float64 { return rng.NormFloat64() })
	lambda := f.coefficients(w)
	for i := range m {
		gw, kl, self := 0.0, 0.0, 0.0
		for c := range d {
			gw += f.column(c)[i] * w[c]
			self += f.column(c)[i] * f.column(c)[i]
		}
		for j := range m {
			kl += k.At(i, j) * lambda[j]
		}
		require.Check(t, math.Abs(gw-kl) <= 1e-10 && math.Abs(self-k.Diag(i)) <= 1e-10,
			"row %d: G w = %g, K lambda = %g; (G G')_ii = %g, K_ii = %g", i, gw, kl, self, k.Diag(i))
	}
	beta := f.interpolate(k.RawRowView(0))
	for _, p := range f.pivots {
		sum := 0.0
		for c := range d {
			sum += f.column(c)[p] * beta[c]
		}
		require.Check(t, math.Abs(sum-k.At(0, p)) <= 1e-10, "interpolant %g at pivot %d, want %g", sum, p, k.At(0, p))
	}
}
