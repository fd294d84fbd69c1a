package stepwise_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
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
	g := require.Value(dataset.NewGraph(n, edges, labels))(t)
	return g
}

// TestRefineColoursAsTheKernelDoes: the last state has the colours of the kernel, and their
// counts give its value.
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
				require.Must(t, slices.Equal(end.Colours[g][round], want[g][round]),
					"graph %d, round %d: colours %v, the kernel %v", g, round, end.Colours[g][round], want[g][round])
			}
		}
		k := kernel.Kernel{Name: "wl", Values: param.Values{"rounds": param.Of(h), "normalize": param.Of(false)}}
		v := require.Value(kernel.Cross(context.Background(), k, &dataset.Graphs{Values: graphs[:1]}, &dataset.Graphs{Values: graphs[1:]}))(t)
		got := floats.Dot(end.Counts(0), end.Counts(1))
		require.Must(t, got == v.At(0, 0), "the counts make %g, the kernel is %g", got, v.At(0, 0))
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

// TestOwnAmongNear: sorted among the colours of its neighbours, as in the notes, the own colour
// of a node is lost, and the ends of an edge from A to B get the same colour.
func TestOwnAmongNear(t *testing.T) {
	t.Parallel()
	edge := require.Value(dataset.NewGraph(2, [][2]int{{0, 1}}, []string{"A", "B"}))(t)
	for among, want := range map[bool]float64{false: 4, true: 2 + 4} {
		r := require.Value(stepwise.Refine(t.Context(), []dataset.Graph{edge}, stepwise.RefinementSettings{Rounds: 1, OwnAmongNear: among}))(t)
		counts := r.At(r.Len() - 1).Counts(0)
		require.Equal(t, floats.Dot(counts, counts), want, "own colour among the others %v: k", among)
	}
}

func TestRefineRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []struct{ nodes, rounds int }{{3, -1}, {3, 11}, {200, 3}} {
		require.Fails(t, require.Err(stepwise.Refine(t.Context(), []dataset.Graph{{N: s.nodes}}, stepwise.RefinementSettings{Rounds: s.rounds})), "", "%d nodes and %d rounds are not refused", s.nodes, s.rounds)
	}
}

// walks counts the walks of n steps from each pair of nodes by enumeration.
func walks(a, b dataset.Graph, p theory.ProductGraph, n int) []float64 {
	first, second := a.Neighbours(), b.Neighbours()
	place := map[[2]int]bool{}
	for _, pair := range p.Pairs {
		place[pair] = true
	}
	var from func(pair [2]int, left int) float64
	from = func(pair [2]int, left int) (ways float64) {
		if !place[pair] {
			return 0
		}
		if left == 0 {
			return 1
		}
		for _, u := range first[pair[0]] {
			for _, v := range second[pair[1]] {
				ways += from([2]int{u, v}, left-1)
			}
		}
		return ways
	}
	counts := lists.Map(p.Pairs, func(pair [2]int) float64 { return from(pair, n) })
	return counts
}

// TestSumWalksIsTheKernel: the states count the walks; the sum converges to the kernel and the
// solution of the linear system for small lambda, and diverges otherwise.
func TestSumWalksIsTheKernel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawGraph(t), drawGraph(t)
		labelled := rapid.Bool().Draw(t, "labelled")
		p, err := theory.NewProductGraph(a, b, labelled)
		if err != nil {
			t.Skip("no pair of nodes")
		}
		radius := require.Value(theory.SpectralRadius(p.Adjacency))(t)
		part := rapid.SampledFrom([]float64{0.1, 0.5, 0.8, 1.01, 1.5}).Draw(t, "part of the limit")
		lambda := part / math.Max(radius, 0.1)
		r := require.Value(stepwise.SumWalks(context.Background(), p.Adjacency, lambda, 300))(t)
		for n := range min(4, r.Len()) {
			s := r.At(n)
			for i, want := range walks(a, b, p, n) {
				require.Must(t, s.Walks[i] == want,
					"%d steps from %v: %g walks, want %g", n, p.Pairs[i], s.Walks[i], want)
			}
		}
		end := r.At(r.Len() - 1)
		if radius > 0.5 && part > 1 {
			require.Must(t, r.Status() != trace.Converged,
				"lambda times the radius is %g, and the sum ends at %g", part, end.Sum)
			return
		}
		require.Must(t, r.Status() == trace.Converged,
			"lambda times the radius is %g: %s after %d steps", part, r.Status(), end.Length)
		near := func(what string, want float64) {
			require.Must(t, math.Abs(end.Sum-want) <= 1e-8*want, "sum %.12g, %s %.12g", end.Sum, what, want)
		}
		system := require.Value(theory.WalkSystem(p.Adjacency, lambda))(t)
		near("the system", system)
		x := 0.0
		for _, v := range end.X {
			x += v
		}
		near("the iterate", x)
		// The kernel also requires convergence for each graph with itself.
		k := kernel.Kernel{Name: "random-walk", Values: param.Values{"walk_weight": param.Of(lambda), "labelled": param.Of(labelled), "normalize": param.Of(false)}}
		v, err := kernel.Cross(context.Background(), k, &dataset.Graphs{Values: []dataset.Graph{a}}, &dataset.Graphs{Values: []dataset.Graph{b}})
		if err == nil {
			near("the kernel", v.At(0, 0))
		}
	})
}

func TestSumWalksRefuses(t *testing.T) {
	t.Parallel()
	a := theory.Adjacency(dataset.Graph{N: 2, Edges: [][2]int{{0, 1}}})
	for _, lambda := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		require.Fails(t, require.Err(stepwise.SumWalks(t.Context(), a, lambda, 5)), "", "the weight %g is not refused", lambda)
	}
	require.Fails(t, require.Err(stepwise.SumWalks(t.Context(), a, 0.1, 0)), "", "no steps are not refused")
	r, err := stepwise.SumWalks(t.Context(), a, 1e200, 10)
	require.Check(t, err == nil && r.Status() == trace.Numerical && r.Len() == 2,
		"an enormous weight: %d states, %s, %v", r.Len(), r.Status(), err)
}

// TestWander: each step follows an edge, and earlier states are unchanged.
func TestWander(t *testing.T) {
	t.Parallel()
	ring := theory.Adjacency(dataset.Graph{N: 4, Edges: [][2]int{{0, 1}, {0, 3}, {1, 2}, {2, 3}}})
	r, err := stepwise.Wander(t.Context(), ring, 20, 3)
	require.Must(t, err == nil && r.Len() == 21, "%v %v", r, err)
	end := r.At(20)
	for n := range r.Len() {
		s := r.At(n)
		require.Check(t, len(s) == n+1 && s[n] == end[n] && (n == 0 || ring.At(s[n-1], s[n]) == 1), "step %d: %v", n, s)
	}
	r, err = stepwise.Wander(t.Context(), theory.Adjacency(dataset.Graph{N: 3}), 5, 1)
	require.Check(t, err == nil && r.Len() == 1 && r.Status() == trace.Converged,
		"without edges: %d states, %v", r.Len(), err)
	r, err = stepwise.Wander(t.Context(), theory.Adjacency(dataset.Graph{N: 3, Edges: [][2]int{{1, 2}}}), 5, 1)
	require.Check(t, err == nil && r.Len() == 6 && r.At(0)[0] != 0, "it begins where there is no way on: %v, %v", r.At(5), err)
	require.Fails(t, require.Err(stepwise.Wander(t.Context(), ring, -1, 1)), "", "a walk of less than no steps")
}
