package stepwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// ChunkingSettings are the settings of Chunking.
type ChunkingSettings struct {
	C        float64 // upper bound of alpha, > 0 and finite
	Start    int     // points in the first working set; 0 means 4. One of each class is added when missing.
	Add      int     // most violators added in a round, M of the slides; 0 means 4
	Order    Order   // which points make the first working set: the first, or some drawn with Shuffled
	Seed     uint64  // of Shuffled
	Tol      float64 // stop when Violation <= Tol; 0 means 1e-3
	MaxSteps int     // bound of the rounds; 0 means 1000
}

// ChunkingState is the state after a round: the sub-problem solved and the
// classifier tested on the rest. At the start only the working set is chosen.
type ChunkingState struct {
	Iterate
	Working        []int // points of the sub-problem, ascending
	SupportVectors []int // of the sub-problem, ascending
	Violators      []int // of the rest, those that join the working set, worst first
	// Kept tells that the round did not raise the dual objective, so that nothing
	// leaves the working set.
	Kept  bool
	Pairs int // steps of SMO that the sub-problem took
}

// Chunking runs the chunking algorithm (002, "Chunking algorithm for the 1-norm
// margin") on the Gram matrix k and labels y = ±1. A step is one round: solve the
// problem on the working set with SMO, from where the last round ended; leave out
// what is no support vector; test the rest; add the points that violate their KKT
// conditions most. The next working set is SupportVectors and Violators together.
//
// One thing the slides leave out: where no support vector is free, b is not
// determined, and a violator may move b only, keep alpha = 0, be left out and
// violate again, for ever. So a round that did not raise the dual objective leaves
// nothing out. Then every round raises it or enlarges the working set, and there
// is an end.
//
// A run ends as Numerical when rounding keeps SMO from solving a sub-problem to Tol,
// and as IterationLimit when SMO is still going on after 100 000 steps.
func Chunking(ctx context.Context, k svm.Matrix, y []float64, s ChunkingSettings) (*trace.Replay[ChunkingState], error) {
	p, err := newProblem(k, y, s.C)
	if err != nil {
		return nil, err
	}
	next, err := passes(s.Order, s.Seed)
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
		working := p.first(next(alpha), cmp.Or(s.Start, 4))
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
			stay := state.SupportVectors
			if state.Kept {
				stay = working
			}
			working = slices.Sorted(slices.Values(slices.Concat(stay, state.Violators)))
		}
	})
}

// first returns a working set of the first n points of an order, ascending, and
// the first of a class that is not among them.
func (p *problem) first(order []int, n int) []int {
	working := slices.Clone(order[:min(n, len(order))])
	for _, label := range []float64{1, -1} {
		of := func(i int) bool { return p.y[i] == label }
		if !slices.ContainsFunc(working, of) {
			working = append(working, order[slices.IndexFunc(order, of)])
		}
	}
	slices.Sort(working)
	return working
}

// round solves the problem on the working set, changing alpha. It reports false
// when SMO was still going on after 100 000 steps.
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
	for _, i := range working {
		if alpha[i] > 0 {
			state.SupportVectors = append(state.SupportVectors, i)
		}
	}
	return state, solved
}

// worst returns the n points outside of the working set that violate their KKT
// conditions most, by more than tol.
func (s *ChunkingState) worst(tol float64, n int) []int {
	var points []int
	for i, point := range s.Points {
		if point.Violation > tol && !slices.Contains(s.Working, i) {
			points = append(points, i)
		}
	}
	slices.SortStableFunc(points, func(i, j int) int {
		return cmp.Compare(s.Points[j].Violation, s.Points[i].Violation)
	})
	return points[:min(n, len(points))]
}
