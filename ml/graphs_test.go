package ml_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
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

// TestGraphsAreTheirKernel trains on graphs, and on the values of their kernel: the
// machines are the same, with a conformal map as without, and so are those that come back
// from JSON.
func TestGraphsAreTheirKernel(t *testing.T) {
	t.Parallel()
	d := joined(clouds(60, 3, 4))
	for _, set := range [][]string{
		{"kernel", "wl", "rounds", "2"},
		{"kernel", "random-walk", "walk_weight", "0.02", "labelled", "true", "normalize", "true"},
	} {
		k := spec(t, set...)
		g := require.Value(kernel.GramOf(t.Context(), kernel.New(k.Kernel, k.Values, nil), d.Objects))(t)
		values := asGiven(d, g)
		for _, more := range [][]string{
			{"C", "2", "tol", "1e-9", "test_fraction", "0.3"},
			{"learner", "mcm", "C", "1", "rho", "0.1"},
			{"C", "1", "tol", "1e-9", "conformal", "amari", "core_step", "7"},
		} {
			at := strings.Join(append(set, more...), " ")
			got, want := train(t, d, spec(t, append(set, more...)...)), train(t, values, spec(t, append([]string{"kernel", "precomputed"}, more...)...))
			a, b := got.Report, want.Report
			if math.Abs(*a.Objective-*b.Objective) > 1e-6*(1+math.Abs(*b.Objective)) || *a.TrainAccuracy != *b.TrainAccuracy || a.N != 60 || a.D != 0 {
				t.Errorf("%s: objective %g, accuracy %g; by its values %g, %g", at, *a.Objective, *a.TrainAccuracy, *b.Objective, *b.TrainAccuracy)
			}
			require.Equal(t, a.Preprocessing, "none: graphs as given", "%s: preprocessing", at)
			text := asJSON(t, got.Model)
			back := require.Value(ml.ReadModel(strings.NewReader(text)))(t)
			if again := asJSON(t, back); again != text || !strings.Contains(text, `"objects":"graphs","column":"graph"`) {
				t.Errorf("%s\n%s", text, again)
			}
			f := require.Value(back.ScoresOf(t.Context(), d.Objects))(t)
			own := require.Value(got.Model.ScoresOf(t.Context(), d.Objects))(t)
			for i := range d.Len() {
				if f.At(i, 0) != own.At(i, 0) {
					t.Errorf("%s: row %d: f = %g, read again %g", at, i, own.At(i, 0), f.At(i, 0))
				}
			}
		}
	}
}

// TestWalksThatDiverge are refused in training and in prediction, with the row.
func TestWalksThatDiverge(t *testing.T) {
	t.Parallel()
	d := joined(clouds(20, 1, 2))
	if _, err := ml.Train(t.Context(), d, spec(t, "kernel", "random-walk", "walk_weight", "0.1"), nil); err == nil || !strings.Contains(err.Error(), "the product graph of row ") || !strings.Contains(err.Error(), "take a weight below 0.0") {
		t.Error(err)
	}
	res := train(t, d, spec(t, "kernel", "random-walk", "walk_weight", "0.02"))
	var all [][2]int
	for v := range 9 {
		for u := range v {
			all = append(all, [2]int{u, v})
		}
	}
	complete, err := dataset.NewGraph(9, all, nil)
	require.NoError(t, err)
	_, err = res.Model.ScoresOf(t.Context(), &dataset.Graphs{Name: "graph", Values: []dataset.Graph{{N: 1}, complete}})
	if err == nil || !strings.Contains(err.Error(), "row 2 with itself is 64, and 0.02 times that is not below 1; take a weight below 0.0156") {
		t.Error(err)
	}
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
			if m, err := ml.ReadModel(strings.NewReader(text)); err != nil || m.Platt == nil || !strings.Contains(asJSON(t, m), `"format":5`) {
				t.Errorf("%.300s: %v", text, err)
			}
		}
	}
}
