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

// TestObjectsAreTheirKernel trains on strings and on graphs, and on the values of their kernel: the
// machines are the same, with a conformal map as without, and so are those that come back from JSON.
func TestObjectsAreTheirKernel(t *testing.T) {
	t.Parallel()
	texts, graphs := spelt(clouds(40, 3, 4)), joined(clouds(40, 3, 4))
	for _, kern := range [][]string{
		{"kernel", "spectrum", "k", "2"},
		{"kernel", "spectrum", "k", "2", "normalize", "true"},
		{"kernel", "gap-subsequence", "k", "2", "decay", "0.7", "normalize", "true"},
		{"kernel", "wl", "rounds", "2"},
		{"kernel", "random-walk", "walk_weight", "0.02", "labelled", "true", "normalize", "true"},
	} {
		k := spec(t, kern...)
		d, kind, column := texts, "strings", "text"
		if k.Kernel == "wl" || k.Kernel == "random-walk" {
			d, kind, column = graphs, "graphs", "graph"
		}
		values := asGiven(d, require.Value(kernel.GramOf(t.Context(), kernel.New(k.Kernel, k.Values, nil), d.Objects, nil))(t))
		for _, set := range [][]string{
			{"learner", "svm", "C", "2", "tol", "1e-9"},
			{"learner", "svm", "C", "2", "tol", "1e-9", "test_fraction", "0.3"},
			{"learner", "mcm", "C", "1", "rho", "0.1"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "amari", "core_step", "7", "test_fraction", "0.2"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "eigen"},
		} {
			at := strings.Join(append(kern, set...), " ")
			s, given := spec(t, append(kern, set...)...), spec(t, append([]string{"kernel", "precomputed"}, set...)...)
			got, want := train(t, d, s), train(t, values, given)
			a, b := got.Report, want.Report
			require.Near(t, *a.Objective, *b.Objective, 1e-6*(1+math.Abs(*b.Objective)), "%s: objective and by its values", at)
			require.Check(t, *a.TrainAccuracy == *b.TrainAccuracy && a.N == 40 && a.D == 0, "%s: %+v, by its values %+v", at, a, b)
			require.Check(t, (a.TestAccuracy == nil) == (b.TestAccuracy == nil) && (a.TestAccuracy == nil || *a.TestAccuracy == *b.TestAccuracy),
				"%s: accuracy on held-out rows differs", at)
			require.Check(t, a.Local == nil && a.Preprocessing == "none: "+kind+" as given", "%s: local %v, preprocessing %q", at, a.Local, a.Preprocessing)
			text := asJSON(t, got.Model)
			back := require.Value(ml.ReadModel(strings.NewReader(text)))(t)
			require.Equal(t, asJSON(t, back), text, "%s: written again", at)
			require.Says(t, text, `"objects":"`+kind+`","column":"`+column+`"`, "%s", at)
			f := require.Value(back.ScoresOf(t.Context(), d.Objects))(t)
			ps, qs := require.Value(got.Model.Points(d, s))(t), require.Value(want.Model.Points(values, given))(t)
			for i, p := range ps {
				require.Check(t, p.X == nil && p.F == f.At(i, 0), "%s: row %d: f = %g, read again %g", at, i, p.F, f.At(i, 0))
				require.Near(t, p.F, qs[i].F, 1e-4*(1+math.Abs(p.F)), "%s: row %d: f and by its values", at, i)
			}
		}
	}
}

// spelt is the data with a string in the place of each point: of every coordinate a
// letter, a capital one where it is positive, the more often the larger it is.
func spelt(d *dataset.Data) *dataset.Data {
	s := &dataset.Strings{Name: "text"}
	for i := range d.Len() {
		var b strings.Builder
		for j, v := range d.X.RawRowView(i) {
			letter := rune('a' + j%26)
			if v > 0 {
				letter += 'A' - 'a'
			}
			b.WriteString(strings.Repeat(string(letter), 1+int(math.Round(math.Min(20, math.Abs(v))))))
		}
		s.Values = append(s.Values, b.String())
	}
	return &dataset.Data{Objects: s, Label: d.Label, Classes: d.Classes, Y: d.Y}
}

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
