package stepwise_test

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// drawGraph draws a graph of a few nodes, with or without labels.
func drawGraph(t *rapid.T) dataset.Graph {
	n := rapid.IntRange(1, 6).Draw(t, "nodes")
	var edges [][2]int
	for i := range n {
		for j := range i {
			if rapid.Bool().Draw(t, "edge") {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	var labels []string
	if rapid.Bool().Draw(t, "labelled") {
		labels = rapid.SliceOfN(rapid.SampledFrom([]string{"C", "N", "O"}), n, n).Draw(t, "labels")
	}
	return require.Value(dataset.NewGraph(n, edges, labels))(t)
}

// The last state has the colours of the kernel, and their counts give its value.
func TestRefineColoursAsTheKernelDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		graphs := []dataset.Graph{drawGraph(t), drawGraph(t)}
		h := rapid.IntRange(0, 3).Draw(t, "h")
		r := require.Value(stepwise.Refine(context.Background(), graphs, stepwise.RefinementSettings{Rounds: h}))(t)
		end := r.At(r.Len() - 1)
		require.Must(t, r.Len() == 1+h*(graphs[0].N+graphs[1].N) && r.Status() == trace.Converged,
			"%d states, %s", r.Len(), r.Status())
		want := require.Value(kernel.Refine(context.Background(), graphs, h))(t)
		for g := range graphs {
			for round := range want[g] {
				require.Slices(t, end.Colours[g][round], want[g][round], "colours of graph %d, round %d", g, round)
			}
		}
		k := kernel.Kernel{Name: "wl", Values: param.Values{"rounds": param.Of(h), "normalize": param.Of(false)}}
		v := require.Value(kernel.Cross(context.Background(), k, &dataset.Graphs{Values: graphs[:1]}, &dataset.Graphs{Values: graphs[1:]}))(t)
		require.Equal(t, floats.Dot(end.Counts(0), end.Counts(1)), v.At(0, 0), "the kernel by the counts")
	})
}

// TestRefinePassesOverDirections: an edge in both directions counts once.
func TestRefinePassesOverDirections(t *testing.T) {
	t.Parallel()
	plain := dataset.Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}}
	both := dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {1, 0}, {2, 1}}}
	r := require.Value(stepwise.Refine(t.Context(), []dataset.Graph{plain, both}, stepwise.RefinementSettings{Rounds: 2}))(t)
	end := r.At(r.Len() - 1)
	for round, colours := range end.Colours[0] {
		require.Slices(t, colours, end.Colours[1][round], "round %d, with directions and without", round)
	}
	// Sorted among the colours of its neighbours, as in the notes, the own colour of a node is lost,
	// and the ends of an edge from A to B get the same colour.
	edge := require.Value(dataset.NewGraph(2, [][2]int{{0, 1}}, []string{"A", "B"}))(t)
	for among, want := range map[bool]float64{false: 4, true: 2 + 4} {
		r := require.Value(stepwise.Refine(t.Context(), []dataset.Graph{edge}, stepwise.RefinementSettings{Rounds: 1, OwnAmongNear: among}))(t)
		counts := r.At(r.Len() - 1).Counts(0)
		require.Equal(t, floats.Dot(counts, counts), want, "own colour among the others %v: k", among)
	}
}

// TestRefineKeepsItsStates: each step colours one more node and does not change earlier states.
func TestRefineKeepsItsStates(t *testing.T) {
	t.Parallel()
	path := require.Value(dataset.NewGraph(3, [][2]int{{0, 1}, {1, 2}}, []string{"C", "C", "O"}))(t)
	r := require.Value(stepwise.Refine(t.Context(), []dataset.Graph{path, path}, stepwise.RefinementSettings{Rounds: 2}))(t)
	for n := range r.Len() {
		s := r.At(n)
		coloured := 0.0
		for g := range s.Colours {
			coloured += floats.Sum(s.Counts(g))
		}
		require.Equal(t, coloured, float64(6+n), "step %d: nodes have colours", n)
		if n == 0 {
			continue
		}
		if got := s.Colours[s.Graph][s.Round][s.Node]; got < 0 || s.Known == (got >= len(r.At(n-1).Dictionary)) {
			t.Errorf("step %d: colour %d, known %v, of %d before", n, got, s.Known, len(r.At(n-1).Dictionary))
		}
	}
	if s := r.At(2); s.Node != 1 || s.Dictionary[s.Colours[0][1][1]].Own != 0 || !slices.Equal(s.Dictionary[s.Colours[0][1][1]].Near, []int{0, 1}) {
		t.Errorf("the middle of the path: %+v", s)
	}
}

func TestRefineRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ nodes, rounds int }{{3, -1}, {3, 11}, {200, 3}} {
		require.Fails(t, require.Err(stepwise.Refine(t.Context(), []dataset.Graph{{N: s.nodes}}, stepwise.RefinementSettings{Rounds: s.rounds})), "", "%d nodes and %d rounds are not refused", s.nodes, s.rounds)
	}
}
