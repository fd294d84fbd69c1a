package svm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/trace"
)

// noise is m points in the unit square with labels at random, so that no neighbours
// agree and most of them are free.
func noise(m int) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(8, uint64(m)))
	x, y := mat.NewDense(m, 2, nil), make([]float64, m)
	for i := range m {
		x.SetRow(i, []float64{r.Float64(), r.Float64()})
		y[i] = float64(2*r.IntN(2) - 1)
	}
	return x, y
}

// TestNeighbourhoods makes one turn: the objective rises, u stays feasible, and g is what
// it is of u.
func TestNeighbourhoods(t *testing.T) {
	t.Parallel()
	x, y := noise(2500)
	k := gram{kernel.NewGram(kernel.Kernel{Name: "rbf", Gamma: 3000}, x)}
	o := newState(k, y, 100, &monitor{ctx: t.Context(), limit: 1 << 30, total: len(y)})
	s := newSMO(Fast(k), o, newMemory[float64](len(y), 1<<24))
	if _, err := s.climb(0.1, 4000); err != nil {
		t.Fatal(err)
	}
	free := s.free()
	if len(free) < newtonFree {
		t.Fatalf("only %d points are free", len(free))
	}
	dual := func() float64 {
		sum, square := s.dual()
		return sum - square/2
	}
	before := dual()
	if status, err := s.neighbourhoods(free, 1e-3); err != nil || status == trace.Cancelled {
		t.Fatal(status, err)
	}
	if after := dual(); after <= before || math.Abs(after-s.objective) > 1e-9*after {
		t.Errorf("objective %g, said to be %g, before %g", after, s.objective, before)
	}
	total := 0.0
	for i, u := range s.u[:s.m] {
		if u < s.lo[i] || u > s.hi[i] {
			t.Fatalf("u[%d] = %g is out of bounds", i, u)
		}
		total += u
	}
	if math.Abs(total) > 1e-9 {
		t.Errorf("sum of u is %g", total)
	}
	g := append([]float64{}, s.g...)
	if _, err := s.refresh(); err != nil {
		t.Fatal(err)
	}
	for i, v := range g[:s.m] {
		if math.Abs(v-s.g[i]) > 1e-9 {
			t.Fatalf("g[%d] = %g, from u %g", i, v, s.g[i])
		}
	}
}

// TestCrowded trains with more free points than Newton steps are made for, and with
// more copies of a point than a neighbourhood holds.
func TestCrowded(t *testing.T) {
	t.Parallel()
	for _, gamma := range []float64{300, 3000} {
		for _, copies := range []bool{false, true} {
			x, y := noise(4500)
			if copies {
				for i := range 4200 {
					x.SetRow(i, x.RawRowView(i%2))
				}
			}
			k := gram{kernel.NewGram(kernel.Kernel{Name: "rbf", Gamma: gamma}, x)}
			const tol = 1e-3
			res := train(t, k, y, Settings{C: 10, Tol: tol})
			if res.Status != trace.Converged || res.KKTViolation > tol {
				t.Errorf("gamma %g, copies %t: %s, violation %g", gamma, copies, res.Status, res.KKTViolation)
			}
			if res.Gap > 1e-3 {
				t.Errorf("gamma %g, copies %t: gap %g", gamma, copies, res.Gap)
			}
		}
	}
}
