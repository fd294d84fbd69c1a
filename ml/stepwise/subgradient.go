package stepwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/trace"
)

// SubgradientSettings configures SubgradientDescent.
type SubgradientSettings struct {
	C        float64 // price of the slacks, > 0 and finite
	Batch    bool    // use all points in a step, not one after another: a smoother curve
	Rate     float64 // constant step size, at most 1; default 1/t at step t, as in Pegasos
	MaxSteps int     // maximal number of steps; default 1000
	Printed  bool    // the condition as printed in the slides, see SubgradientDescent
}

// SubgradientState is the state after a step. Dual and Gap belong to the alpha accumulated by the
// steps, which need not be feasible: no bound, see Residual.
type SubgradientState struct {
	Iterate
	W      []float64 // weights, length d: f(x) = W·x + B
	Pass   int       // passes through the data, from 1; with Batch the number of the step; 0 at the start
	Looked int       // point visited; -1 at the start and with Batch
	Rate   float64   // step size
	Active []int     // points visited with an active hinge: margin < 1 before the step; with Printed, f < 1
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
// A step with a single point counts that point M times instead of the sum. With step size 1/t this
// is Pegasos (Shalev-Shwartz, Singer, Srebro 2007) with lambda = 1/(CM), an unregularised bias and
// no projection. The weights remain a sum of alpha_i y_i x_i, whose alpha the KKT table shows; with
// single points alpha_i may exceed C for a while.
//
// The slip: the slides call a hinge active if w·x_i + b < 1. The label is missing: it is y_i
// (w·x_i + b) < 1. Printed follows the slides and fails.
//
// The objective need not fall in every step, and the method has no stopping rule: a run lasts
// MaxSteps and ends as IterationLimit.
func SubgradientDescent(ctx context.Context, x *mat.Dense, y []float64, s SubgradientSettings) (*trace.Replay[SubgradientState], error) {
	m, d := x.Dims()
	p, err := newProblem(products{x}, y, s.C)
	if err != nil {
		return nil, err
	}
	if !(s.Rate >= 0 && s.Rate <= 1) {
		return nil, fmt.Errorf("stepwise: Rate is %g; it must be above 0 and at most 1, or 0 for 1/t", s.Rate)
	}

	return record(ctx, s.MaxSteps, func(yield func(SubgradientState) bool) trace.Status {
		o := &descent{x: x, y: p.y, printed: s.Printed, w: make([]float64, d), alpha: make([]float64, m)}
		state := SubgradientState{Iterate: p.iterate(o.alpha, o.b), W: slices.Clone(o.w), Looked: -1}
		state.Best = state.Primal
		yield(state)
		t := 0
		step := func(points []int, price float64) bool {
			t++
			state.Rate = cmp.Or(s.Rate, 1/float64(t))
			state.Active = o.step(points, state.Rate, price)
			state.Iterate, state.W = p.iterate(o.alpha, o.b), slices.Clone(o.w)
			state.Best = min(state.Best, state.Primal)
			return yield(state)
		}
		for {
			state.Pass++
			if s.Batch {
				if !step(dataset.Indices(m), s.C) {
					return trace.IterationLimit
				}
				continue
			}
			for i := range m {
				state.Looked = i
				if !step([]int{i}, s.C*float64(m)) {
					return trace.IterationLimit
				}
			}
		}
	})
}

// descent is the iterate of sub-gradient descent; w is the sum of alpha_i y_i x_i.
type descent struct {
	x        *mat.Dense
	y        []float64
	printed  bool // the condition without the label
	w, alpha []float64
	b        float64
}

// step makes a sub-gradient step on |w|²/2 + price times the hinges of the given points, and
// returns the points with an active hinge.
func (o *descent) step(points []int, rate, price float64) []int {
	var active []int
	for _, i := range points {
		m := floats.Dot(o.w, o.x.RawRowView(i)) + o.b
		if !o.printed {
			m *= o.y[i]
		}
		if m < 1 {
			active = append(active, i)
		}
	}
	floats.Scale(1-rate, o.w)
	floats.Scale(1-rate, o.alpha)
	for _, i := range active {
		floats.AddScaled(o.w, rate*price*o.y[i], o.x.RawRowView(i))
		o.b += rate * price * o.y[i]
		o.alpha[i] += rate * price
	}
	return active
}

// Primal returns the objective of SubgradientDescent, |w|²/2 + C times the hinges, for the
// hyperplane w·x + b on the rows of x (M x d) with labels y = ±1.
func Primal(x *mat.Dense, y []float64, c float64, w []float64, b float64) float64 {
	hinges := 0.0
	for i, label := range y {
		hinges += max(0, 1-label*(floats.Dot(w, x.RawRowView(i))+b))
	}
	return floats.Dot(w, w)/2 + c*hinges
}

// LowestPrimal returns Primal of w with the best b. The objective is convex and piecewise linear in
// b, so it is minimal where some hinge is 0.
func LowestPrimal(x *mat.Dense, y []float64, c float64, w []float64) float64 {
	lowest := math.Inf(1)
	for i, label := range y {
		lowest = min(lowest, Primal(x, y, c, w, label-floats.Dot(w, x.RawRowView(i))))
	}
	return lowest
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
