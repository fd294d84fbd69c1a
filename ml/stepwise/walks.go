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

// WalkSum is a state of the random-walk kernel as a series (SVM notes 20.3): the walks of up
// to Length steps in a graph with the adjacency matrix A, the product graph of two.
type WalkSum struct {
	Length int
	Walks  []float64 // A^Length 1: how many walks of Length steps begin in each node
	X      []float64 // sum of lambda^n A^n 1 over n <= Length, the iterate 1 + lambda A x of the notes
	Total  float64   // 1'A^Length 1: how many there are in all
	Term   float64   // lambda^Length times that
	Sum    float64   // of the terms so far: the kernel, in the end, if there is one
}

// SumWalks adds walks one step longer a step, steps times at most. It converges when a term
// is less than 1e-12 of the sum. For a lambda of 1 over the spectral radius or more it
// never does: it ends with the limit, or with Numerical when numbers get too large. lambda
// is above 0, steps 1 at least; a is not empty.
func SumWalks(ctx context.Context, a mat.Symmetric, lambda float64, steps int) (*trace.Replay[WalkSum], error) {
	switch {
	case !(lambda > 0) || math.IsInf(lambda, 1):
		return nil, param.Refuse("take a number above 0", "a weight of %g for a step", lambda)
	case steps < 1:
		return nil, param.Refuse("take 1 or more", "walks of %d steps", steps)
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

// Wander goes through a graph at random: from a node that has neighbours, if there is one,
// to any of them, and on, steps times at most. A state is the nodes gone through so far. It
// ends where there is no way on, which only a node without neighbours has.
func Wander(ctx context.Context, a mat.Symmetric, steps int, seed uint64) (*trace.Replay[[]int], error) {
	if steps < 0 {
		return nil, param.Refuse("take 0 or more", "a walk of %d steps", steps)
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
		gone := []int{at}
		for yield(gone) {
			near := neighbours[at]
			if len(near) == 0 {
				return trace.Converged
			}
			at = near[r.IntN(len(near))]
			gone = append(gone, at) // those of states before are shorter
		}
		return trace.IterationLimit
	}), nil
}
