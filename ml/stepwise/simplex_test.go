package stepwise_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/kernel"
	"marginlab/ml/mcm"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// grid returns points on few places, so that there are copies and ties.
func grid(r *rand.Rand, m int) (*mat.Dense, []float64) {
	x, y := mat.NewDense(m, 2, nil), make([]float64, m)
	for i := range m {
		y[i] = float64(1 - 2*(i%2))
		x.SetRow(i, []float64{float64(r.IntN(3)), float64(r.IntN(3))})
	}
	return x, y
}

// TestSimplex reaches the optimum that another solver certifies, and every state
// is a feasible vertex no worse than the one before.
func TestSimplex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := random(rapid.Uint64().Draw(t, "seed"))
		m := rapid.IntRange(2, 10).Draw(t, "m")
		x, y := clouds(r, m, 1)
		if rapid.Bool().Draw(t, "grid") {
			x, y = grid(r, m)
		}
		c := rapid.SampledFrom([]float64{0.05, 1, 50}).Draw(t, "C")
		replay, err := stepwise.Simplex(t.Context(), x, y, stepwise.SimplexSettings{C: c})
		if err != nil || replay.Status() != trace.Converged {
			t.Fatalf("%s after %d, %v", replay.Status(), replay.Len(), err)
		}
		want, err := mcm.Train(t.Context(), kernel.NewGram(kernel.Kernel{Name: "linear"}, x), y, mcm.Settings{C: c, RankTol: 1e-11})
		if err != nil || want.Status != trace.Converged {
			t.Fatalf("mcm.Train: %v, %v", want, err)
		}
		near(t, "objective", last(replay).Objective, want.Objective, 1e-8)
	})
}
