package figure_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

func ExampleNetworks() {
	fmt.Println(golden("networks", must(molecules().Picture())))
	// Output: as testdata/networks.svg
}

func ring(n int) dataset.Graph {
	g := dataset.Graph{N: n}
	g.Edges = lists.Make(n-1, func(v int) [2]int { return [2]int{v, v + 1} })
	g.Edges = slices.Insert(g.Edges, 1, [2]int{0, n - 1})
	return g
}

// molecules are three graphs: one with labels, one in three parts, one as an algorithm marks it.
func molecules() figure.Networks {
	phenol := ring(6)
	phenol.N, phenol.Edges = 7, append(phenol.Edges, [2]int{5, 6})
	phenol.Labels = []string{"C", "C", "C", "C", "C", "C", "O"}
	parts := dataset.Graph{N: 8, Edges: [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {4, 5}, {4, 6}}, Labels: []string{"C", "N", "C", "Cl", "C", "O", "C", "H"}}
	marked := figure.Network{Name: "marked", Graph: ring(5), Strong: [][2]int{{0, 1}, {1, 2}}}
	for v := range 5 {
		marked.Nodes = append(marked.Nodes, figure.Node{Text: fmt.Sprint(v), Color: figure.ClassColor(v % 2), Shade: float64(v) / 4, Ring: v == 1})
	}
	return figure.Networks{Networks: []figure.Network{{Name: "phenol", Graph: phenol}, {Name: "three parts", Graph: parts}, marked}}
}

// bonds are two graphs whose edges have labels, one of them directed.
func bonds() figure.Networks {
	acid := dataset.Graph{N: 4, Edges: [][2]int{{0, 1}, {1, 2}, {1, 3}}, EdgeLabels: []string{"1", "2", "1"}, Labels: []string{"C", "C", "O", "O"}}
	flow := dataset.Graph{N: 4, Directed: true, Edges: [][2]int{{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 0}}, EdgeLabels: []string{"a", "read", "b", "c", "d"}}
	bare := dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {1, 2}}}
	return figure.Networks{Networks: []figure.Network{{Name: "acid", Graph: acid}, {Name: "both ways", Graph: flow}, {Name: "a line", Graph: bare, Strong: bare.Edges[:1]}}}
}

// TestLayout looks at the places of graphs of which one knows how they should look.
func TestLayout(t *testing.T) {
	t.Parallel()
	apart := func(p, q [2]float64) float64 { return math.Hypot(p[0]-q[0], p[1]-q[1]) }
	path := dataset.Graph{N: 9}
	path.Edges = lists.Make(path.N-1, func(v int) [2]int { return [2]int{v, v + 1} })
	at := figure.Layout(path)
	for v, p := range at {
		require.Check(t, math.Abs(p[0]-at[0][0]-float64(v)) <= 0.2 && math.Abs(p[1]-at[0][1]) <= 0.3,
			"path: node %d is at %v", v, p)
	}
	hexagon := figure.Layout(ring(6))
	for v := range 6 {
		require.Near(t, apart(hexagon[v], hexagon[(v+1)%6]), 1, 0.15, "ring: nodes %d and %d are … apart", v, (v+1)%6)
	}
	bare := figure.Layout(dataset.Graph{N: 30})
	for v, p := range bare {
		for u, q := range bare[:v] {
			require.Check(t, apart(p, q) >= 0.9, "without edges: nodes %d and %d are %g apart", u, v, apart(p, q))
		}
	}
	require.Check(t, slices.Equal(hexagon, figure.Layout(ring(6))), "equal graphs look different")
	at = figure.Layout(dataset.Graph{N: figure.MostDrawn + 1})
	require.Check(t, at == nil, "%d places for a large graph", len(at))
}

// TestNetworksSayTheirEdges: those who do not see the picture are told what is joined.
func TestNetworksSayTheirEdges(t *testing.T) {
	t.Parallel()
	x := molecules()
	x.Networks = append(x.Networks, figure.Network{Graph: dataset.Graph{N: 1000}})
	x.Networks = append(x.Networks, bonds().Networks...)
	p := require.Value(x.Picture())(t)
	for _, want := range []string{"phenol: 7 nodes, 7 edges: 0 C, 1 C,", "6 O, 0–1 0–5", "three parts: 8 nodes, 6 edges:", "1 1 (stands out), 2 2,", "1000 nodes, 0 edges.", "3 O, 0–1 (1) 1–2 (2) 1–3 (1).", "0→1 (a) 1→2 (read) 2→1 (b)"} {
		require.Check(t, strings.Contains(p.Caption, want), "%q is not in %q", want, p.Caption)
	}
}

// TestEdgesAreDrawn: labels of edges can be read, and an edge turned round is another picture.
func TestEdgesAreDrawn(t *testing.T) {
	t.Parallel()
	svg := func(x figure.Networks) string {
		return require.Drawn(t, require.Value(x.Picture())(t).SVG)
	}
	before := svg(bonds())
	for _, l := range []string{">1<", ">2<", ">read<", ">b<"} {
		require.Check(t, strings.Contains(before, l), "the label %s is not in the picture", l)
	}
	turned := bonds()
	turned.Networks[2].Graph.Edges = [][2]int{{0, 1}, {2, 1}}
	require.Check(t, before != svg(turned), "an edge turned round looks the same")
	// An edge is never lost, in however small a picture, and in a thumbnail it has a head.
	places := lists.Make(12, func(v int) [2]float64 { return [2]float64{float64(v), 0.1 * float64(v)} }) // in a row, about 1 apart
	lines := func(g dataset.Graph, width, height int) int {
		p := require.Value(figure.Networks{Format: figure.Format{Width: width, Height: height}, Networks: []figure.Network{{Graph: g, Places: places}}}.Picture())(t)
		return strings.Count(require.Drawn(t, p.SVG), "L")
	}
	g, bare := dataset.Graph{N: 12, Directed: true}, dataset.Graph{N: 12, Directed: true}
	g.Edges = lists.Make(g.N-1, func(v int) [2]int { return [2]int{v, v + 1} })
	for size, want := range map[[2]int]int{{160, 120}: 33, {600, 400}: 33, {48, 40}: 11} { // lines of shafts and heads; of edges alone
		require.Equal(t, lines(g, size[0], size[1])-lines(bare, size[0], size[1]), want, "%v: lines", size)
	}
}
