package stepwise_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// TestSubgradientSteps recomputes every step from the previous state.
func TestSubgradientSteps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(2, 12).Draw(t, "m")
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), m, 2)
		set := stepwise.SubgradientSettings{
			C:        rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "C"),
			Batch:    rapid.Bool().Draw(t, "batch"),
			Rate:     rapid.SampledFrom([]float64{0, 0.01, 1}).Draw(t, "rate"),
			MaxSteps: 40,
			Printed:  rapid.Bool().Draw(t, "printed"),
		}
		r, err := stepwise.SubgradientDescent(t.Context(), x, y, set)
		require.Must(t, err == nil && r.Status() == trace.IterationLimit && r.Len() == 41,
			"%s after %d, %v", r.Status(), r.Len(), err)
		best := r.At(0).Primal
		near(t, "primal at the start", best, set.C*float64(m), 1e-12)
		for i := 1; i < r.Len(); i++ {
			before, s := r.At(i-1), r.At(i)
			looked, times := []int{s.Looked}, float64(m)
			if set.Batch {
				looked, times = dataset.Indices(m), 1
			}
			rate := set.Rate
			if rate == 0 {
				rate = 1 / float64(i)
			}
			near(t, "rate", s.Rate, rate, 0)
			w, b := []float64{before.W[0] * (1 - rate), before.W[1] * (1 - rate)}, before.B
			for _, n := range looked {
				margin := before.W[0]*x.At(n, 0) + before.W[1]*x.At(n, 1) + before.B
				if !set.Printed {
					margin *= y[n]
				}
				require.Equal(t, slices.Contains(s.Active, n), margin < 1, "step %d: point %d is active", i, n)
				if margin < 1 {
					w[0] += rate * set.C * times * y[n] * x.At(n, 0)
					w[1] += rate * set.C * times * y[n] * x.At(n, 1)
					b += rate * set.C * times * y[n]
				}
			}
			near(t, "w1", s.W[0], w[0], 1e-9)
			near(t, "w2", s.W[1], w[1], 1e-9)
			near(t, "b", s.B, b, 1e-9)
			near(t, "|w|", s.WNorm, math.Hypot(w[0], w[1]), 1e-6) // from alpha
			primal := (w[0]*w[0] + w[1]*w[1]) / 2
			for n := range m {
				primal += set.C * max(0, 1-y[n]*(w[0]*x.At(n, 0)+w[1]*x.At(n, 1)+b))
			}
			near(t, "primal", s.Primal, primal, 1e-9)
			near(t, "primal of w and b", stepwise.Primal(x, y, set.C, s.W, s.B), primal, 1e-9)
			lowest := stepwise.LowestPrimal(x, y, set.C, s.W)
			require.Check(t, lowest <= primal+1e-9*(1+primal), "step %d: the lowest objective is %g, with this b %g", i, lowest, primal)
			best = min(best, primal)
			near(t, "best", s.Best, best, 1e-9)
		}
		end := last(r)
		checkTable(t, &end.Iterate, gram(x, "linear"), set.C)
	})
}

// TestSubgradientApproaches gets close to the optimum but never below it.
func TestSubgradientApproaches(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		x, y := clouds(random(seed), 30, 2.5)
		want := optimum(t, gram(x, "linear"), y, 0.5)
		for name, set := range map[string]stepwise.SubgradientSettings{
			"batch":             {C: 0.5, Batch: true, MaxSteps: 3000},
			"point after point": {C: 0.5, MaxSteps: 10_000},
		} {
			r := require.Value(stepwise.SubgradientDescent(t.Context(), x, y, set))(t)
			if end := last(r); end.Best < want.Primal-1e-9 || end.Best > 1.005*want.Primal || end.Primal > 1.05*want.Primal {
				t.Errorf("%s, seed %d: best %g, at the end %g, optimum %g", name, seed, end.Best, end.Primal, want.Primal)
			}
		}
	}
	x, y := clouds(random(1), 4, 1)
	for _, rate := range []float64{-0.1, 1.5, math.NaN()} {
		require.Fails(t, require.Err(stepwise.SubgradientDescent(t.Context(), x, y, stepwise.SubgradientSettings{C: 1, Rate: rate})), "", "a rate of %g is taken", rate)
	}
}
