package svm

import (
	"math"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// TestNewton makes steps from an iterate that steps on pairs have brought near the
// solution: they gain what they say, keep u feasible and g what it is of u, and
// lead to the solution for the free points.
func TestNewton(t *testing.T) {
	t.Parallel()
	x, y := moons(300, 0.3)
	k := kernel.NewGram(kernel.RBF(2), x)
	o := newState(k, y, 100, &monitor{Monitor: trace.Monitor{Context: t.Context(), Limit: 1 << 30}, total: len(y)})
	s := newSMO(k, o, rows.NewMemory[float64](nil, len(y), 1<<20))
	if _, err := s.climb(0.1, 1<<20); err != nil {
		t.Fatal(err)
	}
	spread := func() float64 {
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range s.free() {
			low, high = min(low, s.g[i]), max(high, s.g[i])
		}
		return high - low
	}
	for range 20 {
		before, said := s.Objective, s.free()
		if err := s.newton(s.free()); err != nil {
			t.Fatal(err)
		}
		sum, square := s.dual()
		if got := sum - square/2; math.Abs(got-s.Objective) > 1e-9*got || s.Objective < before {
			t.Fatalf("objective %g, said to be %g, before %g with %d free", got, s.Objective, before, len(said))
		}
		total := 0.0
		for i, u := range s.u {
			if u < s.lo[i] || u > s.hi[i] {
				t.Fatalf("u[%d] = %g is out of bounds", i, u)
			}
			total += u
		}
		if math.Abs(total) > 1e-9 {
			t.Fatalf("sum of u is %g", total)
		}
	}
	g := append([]float64{}, s.g...)
	if _, err := s.refresh(); err != nil {
		t.Fatal(err)
	}
	for i, v := range g[:s.m] {
		if math.Abs(v-s.g[i]) > 1e-8 {
			t.Fatalf("g[%d] = %g, from u %g", i, v, s.g[i])
		}
	}
	if v := spread(); v > 0.01 {
		t.Errorf("g differs by %g among the free points", v)
	}
}
