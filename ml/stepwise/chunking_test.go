package stepwise_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// TestChunking reaches the optimum with working sets as in the slides.
func TestChunking(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(2, 40).Draw(t, "m")
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), m, 2)
		k := gram(x, rapid.SampledFrom([]string{"linear", "rbf"}).Draw(t, "kernel"))
		set := stepwise.ChunkingSettings{
			C:     rapid.SampledFrom([]float64{0.001, 0.1, 1, 20}).Draw(t, "C"),
			Start: rapid.IntRange(1, 6).Draw(t, "start"),
			Add:   rapid.IntRange(1, 6).Draw(t, "add"),
			Tol:   1e-8,
		}
		r := require.Value(stepwise.Chunking(t.Context(), k, y, set))(t)
		end := last(r)
		if r.Status() == trace.IterationLimit { // without a curved kernel pairs may crawl
			require.Check(t, end.Pairs == 100_000, "iteration limit after %d pairs", end.Pairs)
		} else {
			require.Must(t, r.Status() == trace.Converged, "%s after %d", r.Status(), r.Len())
			near(t, "dual", end.Dual, optimum(t, k, y, set.C).Dual, 1e-8)
			require.Check(t, end.Violation <= set.Tol && len(end.Violators) == 0,
				"violation %g, violators %v", end.Violation, end.Violators)
		}
		for i := 1; i < r.Len(); i++ {
			before, s := r.At(i-1), r.At(i)
			checkTable(t, &s.Iterate, k, set.C)
			require.Check(t, s.Dual >= before.Dual-1e-10, "round %d falls from %g to %g", i, before.Dual, s.Dual)
			var sv, violators []int
			weakest := 0.0
			for n, p := range s.Points {
				in := slices.Contains(s.Working, n)
				if p.Alpha > 0 {
					sv = append(sv, n)
				}
				require.Check(t, in || p.Alpha == 0,
					"round %d: alpha of point %d is %g outside of the working set", i, n, p.Alpha)
				if !in && p.Violation > set.Tol {
					violators = append(violators, n)
				}
				if slices.Contains(s.Violators, n) {
					weakest = p.Violation
				}
			}
			for _, n := range s.Violators {
				weakest = min(weakest, s.Points[n].Violation)
			}
			require.Slices(t, sv, s.SupportVectors, "round %d: support vectors", i)
			require.Equal(t, len(s.Violators), min(set.Add, len(violators)), "violators that round %d adds", i)
			for _, n := range violators {
				require.Check(t, slices.Contains(s.Violators, n) || s.Points[n].Violation <= weakest,
					"round %d: point %d violates more than one of %v", i, n, s.Violators)
			}
			want := before.Working
			if i > 1 {
				stay := lists.Either(before.Kept, before.Working, before.SupportVectors)
				want = slices.Sorted(slices.Values(slices.Concat(stay, before.Violators)))
			}
			require.Check(t, slices.Equal(s.Working, want), "round %d works on %v, want %v", i, s.Working, want)
		}
	})
}
