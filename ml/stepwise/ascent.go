package stepwise

import (
	"context"
	"slices"

	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// AscentSettings are the settings of NaiveAscent.
type AscentSettings struct {
	C        float64 // upper bound of alpha, > 0 and finite
	Order    Order   // order of the points in a pass; 002 advises Descending
	Seed     uint64  // of Shuffled
	Tol      float64 // stop when after a pass OwnViolation <= Tol; 0 means 1e-3
	MaxSteps int     // bound of the updates; 0 means 1000
}

// AscentState is the state after alpha of one point was updated. B comes
// afterwards, from the free support vectors; Residual is what the procedure
// neglects.
type AscentState struct {
	Iterate
	Pass      int     // passes through the data, from 1; 0 at the start
	Looked    int     // point whose alpha was updated, -1 at the start
	Gradient  float64 // of the dual in that alpha, before the step: 1 - y_i (Ku)_i
	Rate      float64 // step size 1/K_ii
	Before    float64 // alpha_i before the step
	Unclipped float64 // Before + Rate Gradient
	After     float64 // Unclipped, clipped to [0, C]
	// OwnViolation is the largest violation of the KKT conditions of the problem
	// that is solved in fact: the dual without sum alpha_i y_i = 0, whose f has no
	// bias.
	OwnViolation float64
}

// NaiveAscent runs the stochastic gradient ascent on the dual (002, "Naive
// stochastic gradient ascent") on the Gram matrix k and labels y = ±1:
//
//	alpha_i <- alpha_i + (1 - y_i (Ku)_i)/K_ii,  clipped to [0, C]
//
// for one point after the other. With the step 1/K_ii every update maximises the
// dual in alpha_i exactly. Where K_ii is not positive (a point in the origin, an
// indefinite kernel) tau = 1e-12 stands in for it, which sends alpha_i to a bound.
//
// The slip: changing one alpha at a time cannot keep sum alpha_i y_i = 0, so the
// procedure solves another problem, the machine without a bias. Its maximum is
// never below that of the right problem, and is above it as a rule. The slides
// say that b must be found by another algorithm; here it is the mean of
// y_i - (Ku)_i over the free support vectors or, when none is free, the middle of
// the interval that the KKT conditions leave. At the fixed point y_i - (Ku)_i is 0
// for every free support vector, hence b = 0: all conditions of the KKT table hold,
// and the neglected constraint is the only thing that does not. Compare with
// Optimum.
func NaiveAscent(ctx context.Context, k svm.Matrix, y []float64, s AscentSettings) (*trace.Replay[AscentState], error) {
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

	return record(ctx, s.MaxSteps, func(yield func(AscentState) bool) trace.Status {
		alpha := make([]float64, len(y))
		state := AscentState{Looked: -1}
		state.see(p, alpha)
		yield(state)
		for pass := 1; ; pass++ {
			before := slices.Clone(alpha)
			for _, i := range next(alpha) {
				state.Pass, state.Looked = pass, i
				state.Gradient = 1 - p.y[i]*p.score(alpha, i)
				state.Rate = 1 / guarded(p.k[i][i])
				state.Before = alpha[i]
				state.Unclipped = alpha[i] + state.Rate*state.Gradient
				state.After = min(max(state.Unclipped, 0), s.C)
				alpha[i] = state.After
				state.see(p, alpha)
				if !yield(state) {
					return trace.IterationLimit
				}
			}
			if state.OwnViolation <= tol {
				return trace.Converged
			}
			if slices.Equal(before, alpha) {
				return trace.Numerical // rounding leaves nothing to add
			}
		}
	})
}

// see fills in what follows from alpha.
func (s *AscentState) see(p *problem, alpha []float64) {
	s.Iterate = p.iterate(alpha, p.bias(alpha))
	s.OwnViolation = 0
	for _, point := range s.Points {
		_, v := condition(point.Alpha, p.c, point.Y*(point.F-s.B))
		s.OwnViolation = max(s.OwnViolation, v)
	}
}
