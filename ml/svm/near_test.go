package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// noise returns m points in the unit square with random labels, most of which become free.
func noise(m int) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(8, uint64(m)))
	x, y := mat.NewDense(m, 2, nil), make([]float64, m)
	for i := range m {
		x.SetRow(i, []float64{r.Float64(), r.Float64()})
		y[i] = float64(2*r.IntN(2) - 1)
	}
	return x, y
}

// TestNeighbourhoods makes one sweep: the objective never falls, u stays feasible, and g matches
// u, even with more copies of a point than a neighbourhood holds.
func TestNeighbourhoods(t *testing.T) {
	t.Parallel()
	for _, copies := range []int{0, many + 100} {
		x, y := noise(many + 500)
		for i := range copies {
			x.SetRow(i, x.RawRowView(0))
		}
		k := kernel.NewGram(kernel.RBF(3000), x)
		o := newState(k, y, 100, &monitor{Monitor: trace.Monitor{Context: t.Context(), Limit: 1 << 30}, total: len(y)})
		s := newSMO(k, o, rows.NewMemory[float64](nil, len(y), 1<<24))
		require.Value(s.climb(0.1, 4000))(t)
		dual := func() float64 {
			sum, square := s.dual()
			return sum - square/2
		}
		before := dual()
		status, err := s.neighbourhoods(s.free(), 1e-3)
		require.Must(t, err == nil && status != trace.Cancelled, "%v %v", status, err)
		if after := dual(); after < before || math.Abs(after-s.Objective) > 1e-9*after {
			t.Errorf("%d copies: objective %g, said to be %g, before %g", copies, after, s.Objective, before)
		}
		total := 0.0
		for i, u := range s.u[:s.m] {
			require.Must(t, u >= s.lo(i) && u <= s.hi(i), "%d copies: u[%d] = %g is out of bounds", copies, i, u)
			total += u
		}
		require.Check(t, math.Abs(total) <= 1e-9, "%d copies: sum of u is %g", copies, total)
		g := append([]float64{}, s.g...)
		require.Value(s.refresh())(t)
		for i, v := range g[:s.m] {
			require.Must(t, math.Abs(v-s.g[i]) <= 1e-8, "%d copies: g[%d] = %g, from u %g", copies, i, v, s.g[i])
		}
	}
}

// So many free points that neighbourhoods are used: the duality gap is small.
func TestCrowded(t *testing.T) {
	t.Parallel()
	x, y := noise(4500)
	k := kernel.NewGram(kernel.RBF(300), x)
	const tol = 1e-3
	res := train(t, k, y, Settings{C: 100, Tol: tol})
	require.Check(t, res.Status == trace.Converged && res.KKTViolation <= tol && res.Gap <= 1e-4,
		"%s, violation %g, gap %g", res.Status, res.KKTViolation, res.Gap)
	f := make([]float64, len(y))
	row := make([]float64, len(y))
	for i, a := range res.Alpha {
		if a == 0 {
			continue
		}
		k.Row(row, i)
		floats.AddScaled(f, a*y[i], row)
	}
	for i, v := range f {
		require.Must(t, math.Abs(v+res.B-res.F[i]) <= 1e-8, "f of point %d is %g, said to be %g", i, v+res.B, res.F[i])
	}
}

func TestLeast(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		v := make([]float64, 1+r.IntN(1000))
		for i := range v {
			v[i] = math.Round(r.NormFloat64() * math.Exp(10*r.Float64()))
			if r.IntN(3) == 0 {
				v[i] = float64(i) // in order
			}
		}
		n := 1 + r.IntN(len(v))
		got := least(v, n)
		slices.Sort(v)
		require.Check(t, slices.Equal(got, v[:n]), "%d of %d", n, len(v))
	}
}
