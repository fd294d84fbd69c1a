package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func graph(t *testing.T, n int, edges [][2]int, labels ...string) dataset.Graph {
	t.Helper()
	return require.Value(dataset.NewGraph(n, edges, labels))(t)
}

// TestProductGraph is by hand: two edges give two edges, and equal labels leave fewer.
func TestProductGraph(t *testing.T) {
	t.Parallel()
	edge := graph(t, 2, [][2]int{{0, 1}}, "A", "B")
	p, err := theory.NewProductGraph(edge, edge, false)
	require.Check(t, err == nil && len(p.Pairs) == 4 && mat.Sum(p.Adjacency) == 4 && p.Adjacency.At(0, 3) == 1 && p.Adjacency.At(1, 2) == 1,
		"%v %v, %v", p.Pairs, mat.Formatted(p.Adjacency), err)
	if p, err = theory.NewProductGraph(edge, edge, true); err != nil || len(p.Pairs) != 2 || mat.Sum(p.Adjacency) != 2 {
		t.Errorf("with labels: %v %v, %v", p.Pairs, mat.Formatted(p.Adjacency), err)
	}
	require.Fails(t, require.Err(theory.NewProductGraph(edge, graph(t, 1, nil, "C"), true)), "",
		"graphs without a common label have a product")
	require.Fails(t, require.Err(theory.NewProductGraph(graph(t, 21, nil), graph(t, 20, nil), false)), "",
		"420 pairs are not refused")
	// The radius of a product is the product of the radii: 2 for a ring, √2 for a path of 3.
	ring, path := graph(t, 4, [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}}), graph(t, 3, [][2]int{{0, 1}, {1, 2}})
	p = require.Value(theory.NewProductGraph(ring, path, false))(t)
	r, err := theory.SpectralRadius(p.Adjacency)
	require.Check(t, err == nil && math.Abs(r-2*math.Sqrt2) <= 1e-12, "radius %g, %v", r, err)
	require.Fails(t, require.Err(theory.WalkSystem(theory.Adjacency(ring), 0.5)), "", "a system without a solution has one")
}

// On a path of three nodes walks that never turn back end after two steps, on a ring they never end.
func TestWalkCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		g             dataset.Graph
		all, straight []float64
	}{
		"path": {graph(t, 3, [][2]int{{0, 1}, {1, 2}}), []float64{3, 4, 6, 8, 12}, []float64{3, 4, 2, 0, 0}},
		"ring": {graph(t, 3, [][2]int{{0, 1}, {1, 2}, {0, 2}}), []float64{3, 6, 12, 24, 48}, []float64{3, 6, 6, 6, 6}},
		"both": {dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {1, 0}, {2, 1}}}, []float64{3, 4, 6, 8, 12}, []float64{3, 4, 2, 0, 0}},
		"node": {graph(t, 1, nil), []float64{1, 0, 0, 0, 0}, []float64{1, 0, 0, 0, 0}},
	} {
		all, straight := theory.WalkCounts(c.g, 4)
		for n := range all {
			require.Check(t, all[n] == c.all[n] && straight[n] == c.straight[n],
				"%s, %d steps: %g walks, %g of them straight", name, n, all[n], straight[n])
		}
	}
}
