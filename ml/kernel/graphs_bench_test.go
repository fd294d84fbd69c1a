package kernel

import (
	"math/rand/v2"
	"testing"

	"marginlab/ml/dataset"
)

// BenchmarkGraphs computes kernel matrices of graphs of 30 nodes that look like molecules.
func BenchmarkGraphs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 6))
	list := make([]dataset.Graph, 1000)
	for i := range list {
		const nodes = 30
		var edges [][2]int
		labels := make([]string, nodes)
		for v := range nodes {
			labels[v] = string("CCCCNOSH"[r.IntN(8)])
			if v > 0 {
				edges = append(edges, [2]int{max(0, v-1-r.IntN(4)), v})
			}
		}
		for range nodes / 10 {
			v := r.IntN(nodes - 1)
			edges = append(edges, [2]int{v, v + 1 + r.IntN(nodes-1-v)})
		}
		var err error
		if list[i], err = dataset.NewGraph(nodes, edges, labels); err != nil {
			b.Fatal(err)
		}
	}
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
				if _, err := GramOf(b.Context(), c.k, graphs(list[:c.n]...)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
