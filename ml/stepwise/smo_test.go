package stepwise_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// TestSMO reaches the optimum, never falls, and stays feasible.
func TestSMO(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), rapid.IntRange(2, 30).Draw(t, "m"), 1.5)
		k := gram(x, rapid.SampledFrom([]string{"linear", "rbf"}).Draw(t, "kernel"))
		c := rapid.SampledFrom([]float64{0.01, 1, 20}).Draw(t, "C")
		selection := rapid.SampledFrom([]stepwise.Selection{stepwise.MaximalViolation, stepwise.SecondOrder}).Draw(t, "selection")
		r, err := stepwise.SMO(t.Context(), k, y, stepwise.SMOSettings{C: c, Selection: selection, Tol: 1e-9, MaxSteps: 200_000})
		if err != nil || r.Status() != trace.Converged {
			t.Fatalf("%v, %v", r.Status(), err)
		}
		want := optimum(t, k, y, c)
		end := last(r)
		near(t, "dual", end.Dual, want.Dual, 1e-8)
		near(t, "primal", end.Primal, want.Primal, 1e-7)
		if end.Violation > 1e-9 {
			t.Errorf("violation %g", end.Violation)
		}
		for i := 0; i < r.Len(); i += 1 + r.Len()/50 {
			s := r.At(i)
			checkTable(t, &s.Iterate, k, c)
			if math.Abs(s.Residual) > 1e-10*c || s.Gap < -1e-9 {
				t.Errorf("step %d: residual %g, gap %g", i, s.Residual, s.Gap)
			}
			if i > 0 {
				near(t, "gain", s.Dual-r.At(i-1).Dual, s.Pair.Gain, 1e-9)
				if s.Pair.Gain < 0 {
					t.Errorf("step %d loses %g", i, -s.Pair.Gain)
				}
			}
		}
	})
}
