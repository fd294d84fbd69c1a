package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
)

// TestCholesky compares the factorisations with gonum's.
func TestCholesky(t *testing.T) {
	t.Parallel()
	o := &smo[float64]{state: emptyState(0, &monitor{ctx: t.Context()})}
	inPanels := func(panel func(a []float64, n, first int) bool) func(a []float64, n int) bool {
		return func(a []float64, n int) bool {
			for first := 0; first < n; first += width {
				if !panel(a, n, first) {
					return false
				}
			}
			return true
		}
	}
	for _, n := range []int{width, 2 * width, 7 * width, 43 * width} {
		for name, factor := range map[string]func(a []float64, n int) bool{
			"in blocks": o.factor,
			"as built": inPanels(func(a []float64, n, first int) bool {
				return cholesky(a, n, 0, first, n, make([]float64, n*width))
			}),
			"plain": inPanels(func(a []float64, n, first int) bool { return plainCholesky(a, n, 0, first) }),
		} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(3, uint64(n)))
				k := mat.NewSymDense(n, nil)
				for i := range n {
					for j := range i {
						k.SetSym(i, j, r.NormFloat64()/10)
					}
					k.SetSym(i, i, 1+math.Sqrt(float64(n)))
				}
				var want mat.Cholesky
				if !want.Factorize(k) {
					t.Fatal("the example should be positive definite")
				}
				a := make([]float64, n*n)
				lower := func() {
					for i := range n {
						for j := range i + 1 {
							a[i*n+j] = k.At(i, j)
						}
					}
				}
				lower()
				if !factor(a, n) {
					t.Fatal("not positive definite")
				}
				l := want.RawU() // L'
				for i := range n {
					for j := range i + 1 {
						if d := a[i*n+j] - l.At(j, i); math.Abs(d) > 1e-13 {
							t.Fatalf("L[%d,%d] is off by %g", i, j, d)
						}
					}
				}

				k.SetSym(n-1, n-1, 0)
				lower()
				if factor(a, n) {
					t.Error("an indefinite matrix was factored")
				}
			})
		}
	}
}

// TestNewton makes steps from an iterate that steps on pairs have brought near the
// solution: they gain what they say, keep u feasible and g what it is of u, and
// lead to the solution for the free points.
func TestNewton(t *testing.T) {
	t.Parallel()
	x, y := moons(300, 0.3)
	k := gram{kernel.NewGram(kernel.Kernel{Name: "rbf", Gamma: 2}, x)}
	o := newState(k, y, 100, &monitor{ctx: t.Context(), limit: 1 << 30, total: len(y)})
	s := newSMO(Fast(k), o, newMemory[float64](len(y), 1<<20))
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
		before, said := s.objective, s.free()
		if err := s.newton(s.free()); err != nil {
			t.Fatal(err)
		}
		sum, square := s.dual()
		if got := sum - square/2; math.Abs(got-s.objective) > 1e-9*got || s.objective < before {
			t.Fatalf("objective %g, said to be %g, before %g with %d free", got, s.objective, before, len(said))
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
