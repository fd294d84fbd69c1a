package kernel

import (
	"testing"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// BenchmarkGraphs computes kernel matrices of graphs of 30 nodes.
func BenchmarkGraphs(b *testing.B) {
	all := mltest.Molecules(b, 1000, 30).Values
	for name, c := range map[string]struct {
		k Kernel
		n int
	}{
		"wl, 1000 graphs":                   {wlOf(4, false), 1000},
		"random walk, 100 graphs":           {walkOf(0.01, false, false), 100},
		"random walk by labels, 100 graphs": {walkOf(0.01, true, false), 100},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.Value(GramOf(b.Context(), c.k, graphs(all[:c.n]...), nil))(b)
			}
		})
	}
}
