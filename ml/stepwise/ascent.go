package stepwise

import (
	"context"
	"slices"

	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// AscentSettings configures NaiveAscent.
type AscentSettings struct {
	C        float64 // upper bound of alpha, > 0 and finite
	Order    Order   // order of the points in a pass; 002 recommends Descending
	Seed     uint64  // of Shuffled
	Tol      float64 // stop after a pass with OwnViolation <= Tol; default 1e-3
	MaxSteps int     // maximal number of updates; default 1000
}

// AscentState is the state after an update of one alpha. B is computed afterwards from the free
// support vectors; Residual is the constraint that the procedure ignores.
type AscentState struct {
	Iterate
	Pass      int     // passes through the data, from 1; 0 at the start
	Looked    int     // point whose alpha was updated, -1 at the start
	Gradient  float64 // derivative of the dual by that alpha before the step: 1 - y_i (Ku)_i
	Rate      float64 // step size 1/K_ii
	Before    float64 // alpha_i before the step
	Unclipped float64 // Before + Rate Gradient
	After     float64 // Unclipped, clipped to [0, C]
	// OwnViolation is the largest KKT violation of the problem actually solved: the dual without
	// sum alpha_i y_i = 0, whose f has no bias.
	OwnViolation float64
}

// NaiveAscent runs stochastic gradient ascent on the dual (002, "Naive stochastic gradient
// ascent") with the Gram matrix k and labels y = ±1:
//
//	alpha_i <- alpha_i + (1 - y_i (Ku)_i)/K_ii,  clipped to [0, C]
//
// for one point after another. With step size 1/K_ii every update maximises the dual in alpha_i
// exactly. If K_ii is not positive (a point at the origin, an indefinite kernel), tau = 1e-12
// replaces it, which moves alpha_i to a bound.
//
// The slip: updates of a single alpha cannot preserve sum alpha_i y_i = 0, so the procedure
// solves a different problem, the machine without bias. Its maximum is at least the maximum of the
// right problem, and usually larger. The slides leave b to another algorithm; here it is the mean of
// y_i - (Ku)_i over the free support vectors or, if none is free, the middle of the interval
// allowed by the KKT conditions. At the fixed point y_i - (Ku)_i is 0 for every free support
// vector, hence b = 0: all conditions of the KKT table hold, and only the ignored constraint is
// violated. Compare with Optimum.
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
				return trace.Numerical // no change beyond rounding
			}
		}
	})
}

// see sets the fields that depend on alpha.
func (s *AscentState) see(p *problem, alpha []float64) {
	s.Iterate = p.iterate(alpha, p.bias(alpha))
	s.OwnViolation = 0
	for _, point := range s.Points {
		_, v := condition(point.Alpha, p.c, point.Y*(point.F-s.B))
		s.OwnViolation = max(s.OwnViolation, v)
	}
}
