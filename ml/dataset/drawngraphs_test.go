package dataset

import (
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// TestDrawnGraphs counts the edges of graphs in one piece without noise: a tree has one
// fewer than nodes, and every ring adds one. No atom has more bonds than it can.
func TestDrawnGraphs(t *testing.T) {
	t.Parallel()
	for _, gen := range graphGenerators {
		for _, nodes := range []int{8, 24, 200} {
			d := require.Value(gen.Generate(param.Values{"n": param.Of(40), "nodes": param.Of(nodes), "noise": param.Of(0), "seed": param.Of(3)}))(t)
			roundTrip(t, d)
			for i, g := range d.Objects.(*Graphs).Values {
				class, rings := d.Classes[d.Y[i]], len(g.Edges)-g.N+1
				neighbours := g.Neighbours()
				reached := map[int]bool{0: true}
				for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
					for _, u := range neighbours[queue[0]] {
						if !reached[u] {
							reached[u], queue = true, append(queue, u)
						}
					}
				}
				require.Must(t, len(reached) == g.N && float64(g.N) <= 1.5*float64(nodes)+6,
					"%s, %s: %d of %d nodes are joined, about %d are asked for", gen.Name, class, len(reached), g.N, nodes)
				wrong := false
				switch gen.Name {
				case "cycles":
					wrong = rings != map[string]int{"tree": 0, "cycle": 1}[class]
				case "rings":
					wrong = g.N != rings*map[string]int{"5": 5, "6": 6}[class]
				case "molecules":
					wrong = rings > 1
					for v, others := range neighbours {
						wrong = wrong || len(others) > bonds[g.Label(v)]
					}
					last := map[string]string{"acid": "O", "amide": "N"}[class]
					wrong = wrong || g.Label(g.N-1) != last || g.Label(g.N-2) != "O" || len(neighbours[g.N-3]) != 3
				}
				require.Check(t, !wrong, "%s, %s: %v", gen.Name, class, g)
			}
		}
	}
}
