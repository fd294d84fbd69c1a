package ml_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// joined is the data with a graph in the place of each point: of every coordinate a path,
// the longer the larger it is, and where it is positive five nodes more, all joined.
func joined(d *dataset.Data) *dataset.Data {
	s := &dataset.Graphs{Name: "graph"}
	for i := range d.Len() {
		var g dataset.Graph
		for j, v := range d.X.RawRowView(i) {
			node := func() {
				g.N++
				g.Labels = append(g.Labels, string(rune('a'+j%26)))
			}
			for k := range 1 + int(math.Round(math.Min(5, math.Abs(v)))) {
				if k > 0 {
					g.Edges = append(g.Edges, [2]int{g.N - 1, g.N})
				}
				node()
			}
			if v > 0 {
				first := g.N - 1
				for range 5 {
					for u := first; u < g.N; u++ {
						g.Edges = append(g.Edges, [2]int{u, g.N})
					}
					node()
				}
			}
		}
		g, err := dataset.NewGraph(g.N, g.Edges, g.Labels)
		if err != nil {
			panic(err)
		}
		s.Values = append(s.Values, g)
	}
	return &dataset.Data{Objects: s, Label: d.Label, Classes: d.Classes, Y: d.Y}
}

// TestWalksThatDiverge are refused in training and in prediction, with the row.
func TestWalksThatDiverge(t *testing.T) {
	t.Parallel()
	d := joined(clouds(20, 1, 2))
	_, err := ml.Train(t.Context(), d, spec(t, "kernel", "random-walk", "walk_weight", "0.1"), nil)
	require.Check(t, err != nil && strings.Contains(err.Error(), "the product graph of row ") && strings.Contains(err.Error(), "use a weight below 0.0"), "%v", err)
	res := train(t, d, spec(t, "kernel", "random-walk", "walk_weight", "0.02"))
	var all [][2]int
	for v := range 9 {
		for u := range v {
			all = append(all, [2]int{u, v})
		}
	}
	complete := require.Value(dataset.NewGraph(9, all, nil))(t)
	require.Fails(t, require.Err(res.Model.ScoresOf(t.Context(), &dataset.Graphs{Name: "graph", Values: []dataset.Graph{{N: 1}, complete}})),
		"row 2 with itself is 64, and 0.02 times that is not below 1; use a weight below 0.0156", "the error")
}

// TestFormatOfEdges writes models whose graphs have directions or labels of edges under a number
// that older programs refuse, and reads those that were written under an older one.
func TestFormatOfEdges(t *testing.T) {
	t.Parallel()
	for _, directed := range []bool{true, false} {
		d := joined(clouds(20, 3, 4))
		s := spec(t, "kernel", "wl", "calibration", "platt")
		graphs := d.Objects.(*dataset.Graphs).Values
		for i := range graphs {
			if graphs[i].Directed = directed; !directed {
				graphs[i].EdgeLabels = slices.Repeat([]string{"x"}, len(graphs[i].Edges))
			}
		}
		text := asJSON(t, train(t, d, s).Model)
		for _, text := range []string{text, strings.Replace(text, `"format":5`, `"format":3`, 1)} {
			m, err := ml.ReadModel(strings.NewReader(text))
			require.Check(t, err == nil && m.Platt != nil && strings.Contains(asJSON(t, m), `"format":5`), "%.300s: %v", text, err)
		}
	}
}
