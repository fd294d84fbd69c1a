package stepwise

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// WalkSum is a state of the random-walk kernel as a series (SVM notes 20.3): the walks of up to
// Length steps in a graph with adjacency matrix A, the product graph of two graphs.
type WalkSum struct {
	Length int
	Walks  []float64 // A^Length 1: number of walks of Length steps from each node
	X      []float64 // sum of lambda^n A^n 1 over n <= Length, the iterate 1 + lambda A x of the notes
	Total  float64   // 1'A^Length 1: total number of walks of Length steps
	Term   float64   // lambda^Length times Total
	Sum    float64   // partial sum of the terms, converging to the kernel
}

// SumWalks records the partial sums, one more term per step, for at most steps steps. It has
// converged when a term is less than 1e-12 of the sum. If lambda is at least 1 over the spectral
// radius, it ends at the limit, or as Numerical on overflow. lambda must be positive, steps at least
// 1, and a not empty.
func SumWalks(ctx context.Context, a mat.Symmetric, lambda float64, steps int) (*trace.Replay[WalkSum], error) {
	switch {
	case !(lambda > 0) || math.IsInf(lambda, 1):
		return nil, param.Refuse("use a number above 0", "a weight of %g for a step", lambda)
	case steps < 1:
		return nil, param.Refuse("use 1 or more", "walks of %d steps", steps)
	}
	n := a.SymmetricDim()
	return trace.Record(ctx, steps, func(yield func(WalkSum) bool) trace.Status {
		s := WalkSum{Walks: slices.Repeat([]float64{1}, n), X: slices.Repeat([]float64{1}, n), Total: float64(n), Term: float64(n), Sum: float64(n)}
		weight := 1.0
		for yield(s) {
			if s.Term < 1e-12*s.Sum {
				return trace.Converged
			}
			next := make([]float64, n)
			for i := range n {
				for j, w := range s.Walks {
					next[i] += a.At(i, j) * w
				}
			}
			weight *= lambda
			s.Length++
			s.Walks, s.X = next, floats.AddScaledTo(make([]float64, n), s.X, weight, next)
			s.Total = floats.Sum(next)
			s.Term = weight * s.Total
			s.Sum += s.Term
			if math.IsInf(s.Total, 1) || math.IsInf(s.Sum, 1) {
				return trace.Numerical
			}
		}
		return trace.IterationLimit
	}), nil
}

// Wander records a random walk of steps steps through a graph, starting at a node with neighbours if
// there is one. A state holds the nodes visited so far. The walk ends early at a node without
// neighbours.
func Wander(ctx context.Context, a mat.Symmetric, steps int, seed uint64) (*trace.Replay[[]int], error) {
	if steps < 0 {
		return nil, param.Refuse("use 0 or more", "a walk of %d steps", steps)
	}
	n := a.SymmetricDim()
	neighbours := make([][]int, n)
	var starts []int
	for i := range n {
		for j := range n {
			if a.At(i, j) != 0 {
				neighbours[i] = append(neighbours[i], j)
			}
		}
		if len(neighbours[i]) > 0 {
			starts = append(starts, i)
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	at := 0
	if len(starts) > 0 {
		at = starts[r.IntN(len(starts))]
	}
	return trace.Record(ctx, steps, func(yield func([]int) bool) trace.Status {
		path := []int{at}
		for yield(path) {
			near := neighbours[at]
			if len(near) == 0 {
				return trace.Converged
			}
			at = near[r.IntN(len(near))]
			path = append(path, at) // earlier states are prefixes
		}
		return trace.IterationLimit
	}), nil
}
