package stepwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// ChunkingSettings configures Chunking.
type ChunkingSettings struct {
	C        float64 // upper bound of alpha, > 0 and finite
	Start    int     // size of the first working set, the first points; default 4. One point of a missing class is added.
	Add      int     // number of worst violators added per round, M in the slides; default 4
	Tol      float64 // stop when Violation <= Tol; default 1e-3
	MaxSteps int     // maximal number of rounds; default 1000
}

// ChunkingState is the state after a round: the sub-problem is solved and the classifier tested
// on the rest. At the start there is only the working set.
type ChunkingState struct {
	Iterate
	Working        []int // points of the sub-problem, ascending
	SupportVectors []int // of the sub-problem, ascending
	Violators      []int // points added to the working set, worst first
	// Kept reports that the round did not raise the dual objective, so that no point leaves the
	// working set.
	Kept  bool
	Pairs int // SMO steps for the sub-problem
}

// Chunking runs the chunking algorithm (002, "Chunking algorithm for the 1-norm margin") with the
// Gram matrix k and labels y = ±1. A step is one round: solve the problem on the working set with
// SMO, starting from the last round; drop the points that are not support vectors; test the rest;
// add the points that violate their KKT conditions most. The next working set is the union of
// SupportVectors and Violators.
//
// The slides omit one case: if no support vector is free, b is not unique, and a violator may
// change only b, keep alpha = 0, be dropped and violate again, forever. So a round that does not
// raise the dual objective drops nothing. Then every round raises the objective or enlarges the
// working set, and the algorithm terminates.
//
// A run ends as Numerical if rounding keeps SMO from solving a sub-problem to Tol, and as
// IterationLimit if SMO needs more than 100 000 steps.
func Chunking(ctx context.Context, k svm.Matrix, y []float64, s ChunkingSettings) (*trace.Replay[ChunkingState], error) {
	p, err := newProblem(k, y, s.C)
	if err != nil {
		return nil, err
	}
	tol, err := tolerance(s.Tol)
	if err != nil {
		return nil, err
	}
	if s.Start < 0 || s.Add < 0 {
		return nil, fmt.Errorf("stepwise: Start is %d and Add is %d; neither may be negative", s.Start, s.Add)
	}
	add := cmp.Or(s.Add, 4)

	return record(ctx, s.MaxSteps, func(yield func(ChunkingState) bool) trace.Status {
		alpha := make([]float64, len(y))
		working := p.first(cmp.Or(s.Start, 4))
		state := ChunkingState{Iterate: p.iterate(alpha, 0), Working: working}
		yield(state)
		for {
			dual := state.Dual
			var solved bool
			state, solved = p.round(ctx, working, alpha, min(tol/10, 1e-10))
			state.Kept = state.Dual <= dual+1e-12*math.Abs(dual)
			state.Violators = state.worst(tol, add)
			switch {
			case !yield(state):
				return trace.IterationLimit
			case state.Violation <= tol:
				return trace.Converged
			case !solved:
				return trace.IterationLimit
			case len(state.Violators) == 0:
				return trace.Numerical
			}
			stay := lists.Either(state.Kept, working, state.SupportVectors)
			working = slices.Sorted(slices.Values(slices.Concat(stay, state.Violators)))
		}
	})
}

// first returns a working set of the first n points, plus the first point of a missing class.
func (p *problem) first(n int) []int {
	n = min(n, len(p.y))
	working := dataset.Indices(n)
	for _, label := range []float64{1, -1} {
		if i := slices.Index(p.y, label); i >= n {
			working = append(working, i)
		}
	}
	return working
}

// round solves the problem on the working set, changing alpha. It reports false if SMO has not
// finished after 100 000 steps.
func (p *problem) round(ctx context.Context, working []int, alpha []float64, tol float64) (ChunkingState, bool) {
	o, state, solved := newPairs(p, working, alpha), ChunkingState{Working: working}, false
	for state.Pairs < 100_000 && ctx.Err() == nil {
		_, status := o.step(SecondOrder, tol)
		if solved = status != ""; solved {
			break
		}
		state.Pairs++
	}
	state.Iterate = o.state(nil).Iterate
	state.SupportVectors = lists.Filter(working, func(i int) bool { return alpha[i] > 0 })
	return state, solved
}

// worst returns the n points outside the working set that violate their KKT conditions most, by
// more than tol.
func (s *ChunkingState) worst(tol float64, n int) []int {
	points := lists.Where(len(s.Points), func(i int) bool { return s.Points[i].Violation > tol && !slices.Contains(s.Working, i) })
	slices.SortStableFunc(points, func(i, j int) int {
		return cmp.Compare(s.Points[j].Violation, s.Points[i].Violation)
	})
	return points[:min(n, len(points))]
}
