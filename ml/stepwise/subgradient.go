package stepwise

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// SubgradientSettings are the settings of SubgradientDescent.
type SubgradientSettings struct {
	C        float64 // price of a slack, > 0 and finite
	Batch    bool    // a step uses all points, not one: a smoother curve
	Order    Order   // order of the points in a pass; not used with Batch
	Seed     uint64  // of Shuffled
	Rate     float64 // constant step size, at most 1; 0 means 1/t at step t, as Pegasos has it
	MaxSteps int     // bound of the steps; 0 means 1000
}

// SubgradientState is the state after a step. Dual and Gap belong to the alpha
// that the steps have built up, which need not be feasible: no bound, see
// Residual.
type SubgradientState struct {
	Iterate
	W      []float64 // weights, length d: f(x) = W·x + B
	Pass   int       // passes through the data, from 1; with Batch the number of the step; 0 at the start
	Looked int       // point looked at; -1 at the start and with Batch
	Rate   float64   // step size
	Active []int     // points looked at whose hinge was active: margin < 1 before the step
	Best   float64   // smallest Primal so far
}

// SubgradientDescent minimises the primal objective of the linear machine,
//
//	1/2 |w|² + C sum_i max(0, 1 - y_i (w·x_i + b)),
//
// over the rows of x (M x d) by sub-gradient descent (002, "Optimization procedure
// for the primal form" and "Hinge loss"). A step with all points is
//
//	w <- w - eta (w - C sum over the active points of y_i x_i)
//	b <- b + eta C sum over the active points of y_i
//
// and one with a single point takes it M times in place of the sum. With the step
// size 1/t that is Pegasos (Shalev-Shwartz, Singer, Srebro 2007) for its
// lambda = 1/(CM), with a bias that is not regularised and without the projection.
// The weights stay a sum of alpha_i y_i x_i, from which the KKT table takes alpha;
// with single points alpha_i may pass C for a while.
//
// The slip: the slides call a hinge active where w·x_i + b < 1. The label is
// missing: it is y_i (w·x_i + b) < 1.
//
// The objective need not fall in every step, and no stopping rule comes with the
// method: a run lasts MaxSteps and ends as IterationLimit.
func SubgradientDescent(ctx context.Context, x *mat.Dense, y []float64, s SubgradientSettings) (*trace.Replay[SubgradientState], error) {
	m, d := x.Dims()
	p, err := newProblem(products{x}, y, s.C)
	if err != nil {
		return nil, err
	}
	next, err := passes(s.Order, s.Seed)
	if err != nil {
		return nil, err
	}
	steps, err := maxSteps(s.MaxSteps)
	if err != nil {
		return nil, err
	}
	if !(s.Rate >= 0 && s.Rate <= 1) {
		return nil, fmt.Errorf("stepwise: Rate is %g; it must be above 0 and at most 1, or 0 for 1/t", s.Rate)
	}

	return trace.Record(ctx, steps, func(yield func(SubgradientState) bool) trace.Status {
		w, b, alpha := make([]float64, d), 0.0, make([]float64, m)
		state := SubgradientState{Iterate: p.iterate(alpha, b), W: append([]float64{}, w...), Looked: -1}
		state.Best = state.Primal
		yield(state)
		for t := 1; ; {
			state.Pass++
			// Each visit is to some points, which count weight times.
			visits, weight := [][]int{all(m)}, 1.0
			if !s.Batch {
				visits, weight = nil, float64(m)
				for _, i := range next(alpha) {
					visits = append(visits, []int{i})
				}
			}
			for _, visit := range visits {
				state.Looked = -1
				if !s.Batch {
					state.Looked = visit[0]
				}
				state.Rate = s.Rate
				if s.Rate == 0 {
					state.Rate = 1 / float64(t)
				}
				state.Active = nil
				for _, i := range visit {
					if p.y[i]*(floats.Dot(w, x.RawRowView(i))+b) < 1 {
						state.Active = append(state.Active, i)
					}
				}
				rise := state.Rate * s.C * weight
				floats.Scale(1-state.Rate, w)
				floats.Scale(1-state.Rate, alpha)
				for _, i := range state.Active {
					floats.AddScaled(w, rise*p.y[i], x.RawRowView(i))
					b += rise * p.y[i]
					alpha[i] += rise
				}
				state.Iterate = p.iterate(alpha, b)
				state.W = append([]float64{}, w...)
				state.Best = math.Min(state.Best, state.Primal)
				if !yield(state) {
					return trace.IterationLimit
				}
				t++
			}
		}
	}), nil
}

// products is the Gram matrix of the linear kernel.
type products struct{ x *mat.Dense }

func (p products) Len() int           { return p.x.RawMatrix().Rows }
func (p products) Diag(i int) float64 { return floats.Dot(p.x.RawRowView(i), p.x.RawRowView(i)) }

func (p products) Row(dst []float64, i int) {
	for j := range dst {
		dst[j] = floats.Dot(p.x.RawRowView(i), p.x.RawRowView(j))
	}
}

var _ svm.Matrix = products{}
