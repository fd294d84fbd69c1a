package stepwise_test

import (
	"context"
	"math"
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
	return lists.Map(p.Pairs, func(pair [2]int) float64 { return from(pair, n) })
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
				require.Equal(t, s.Walks[i], want, "walks of %d steps from %v", n, p.Pairs[i])
			}
		}
		end := r.At(r.Len() - 1)
		if radius > 0.5 && part > 1 {
			require.Must(t, r.Status() != trace.Converged,
				"lambda times the radius is %g, and the sum ends at %g", part, end.Sum)
			return
		}
		require.Must(t, r.Status() == trace.Converged, "lambda at %g of the limit: %s", part, r.Status())
		near := func(what string, want float64) {
			require.Must(t, math.Abs(end.Sum-want) <= 1e-8*want, "sum %.12g, %s %.12g", end.Sum, what, want)
		}
		near("the system", require.Value(theory.WalkSystem(p.Adjacency, lambda))(t))
		near("the iterate", floats.Sum(end.X))
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
