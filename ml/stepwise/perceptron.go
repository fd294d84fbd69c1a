package stepwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// PerceptronSettings configures Perceptron.
type PerceptronSettings struct {
	Bias     bool   // learn a bias: b += y_i R² at a mistake, R² = max K_ii
	Strict   bool   // the slides' test, margin < 0, with which nothing is ever learned
	Order    Order  // order of the points in a pass
	Seed     uint64 // of Shuffled
	MaxSteps int    // maximal number of points visited; default 1000
}

// PerceptronState is the state after visiting a point. There is no C: the KKT table holds the
// conditions of the hard margin, which a perceptron does not aim for. It only separates the
// classes; the scale of f is arbitrary.
type PerceptronState struct {
	Iterate
	Pass    int     // passes through the data, from 1; 0 at the start
	Looked  int     // point visited, -1 at the start
	Margin  float64 // y_i f(x_i) of that point before an update
	Updated bool    // whether it was a mistake, so that alpha_i rose by 1
	// Mistakes is the number of mistakes so far, the sum of all alpha.
	Mistakes int
	Worst    float64 // smallest y_i f(x_i) of all points, after the step
}

// Perceptron runs the dual perceptron (002, "Dual form of the Perceptron algorithm") with the
// Gram matrix k and labels y = ±1. One step visits one point and, if its margin is not positive,
// adds 1 to its alpha. The run has converged if all margins are positive after a pass. For
// classes separated by gamma by a hyperplane through the origin there are at most (R/gamma)²
// mistakes, R² = max K_ii (Novikoff 1962); otherwise the passes go on until MaxSteps.
//
// The slip: the slides loop while the margin is < 0 and update if it is < 0. With alpha = 0 all
// margins are exactly 0, so nothing happens. The tests must be <= 0. Strict uses the tests of the
// slides, but makes one pass, since they do not define the margin before the first pass: every
// margin is 0, no point counts as a mistake, and the procedure ends as Converged with f = 0.
//
// The slides' perceptron has no bias. Bias adds the bias of Cristianini and Shawe-Taylor, "An
// Introduction to Support Vector Machines" (2000), chapter 2, for which the bound on the mistakes
// is (2R/gamma)².
func Perceptron(ctx context.Context, k svm.Matrix, y []float64, s PerceptronSettings) (*trace.Replay[PerceptronState], error) {
	p, err := newProblem(k, y, 1)
	if err != nil {
		return nil, err
	}
	p.c = math.Inf(1)
	next, err := passes(s.Order, s.Seed)
	if err != nil {
		return nil, err
	}
	mistaken := func(margin float64) bool { return margin <= 0 }
	if s.Strict {
		mistaken = func(margin float64) bool { return margin < 0 }
	}
	var radius float64
	for i := range p.k {
		radius = max(radius, p.k[i][i])
	}

	return record(ctx, s.MaxSteps, func(yield func(PerceptronState) bool) trace.Status {
		alpha, b := make([]float64, len(y)), 0.0
		state := PerceptronState{Iterate: p.iterate(alpha, b), Looked: -1}
		yield(state)
		for pass := 1; ; pass++ {
			for _, i := range next(alpha) {
				state.Pass, state.Looked = pass, i
				state.Margin = p.y[i] * (p.score(alpha, i) + b)
				state.Updated = mistaken(state.Margin)
				if state.Updated {
					alpha[i]++
					state.Mistakes++
					if s.Bias {
						b += p.y[i] * radius
					}
				}
				state.Iterate = p.iterate(alpha, b)
				state.Worst = slices.MinFunc(state.Points, func(a, b Point) int { return cmp.Compare(a.Margin, b.Margin) }).Margin
				if !yield(state) {
					return trace.IterationLimit
				}
			}
			if !mistaken(state.Worst) {
				return trace.Converged
			}
		}
	})
}

// PerceptronUpdate applies the perceptron rule to one point (002, section 3): if y w·x <= 0, it
// adds rate y x to w and reports the mistake. The margin y w·x then grows by rate |x|².
func PerceptronUpdate(w, x []float64, y, rate float64) (mistake bool) {
	if y*floats.Dot(w, x) > 0 {
		return false
	}
	floats.AddScaled(w, rate*y, x)
	return true
}

// PrimalPerceptronSettings configures PrimalPerceptron.
type PrimalPerceptronSettings struct {
	Rate     float64 // step size, positive and finite; default 1
	MaxSteps int     // maximal number of points visited; default 1000
}

// PrimalPerceptronState is the state after visiting a point.
type PrimalPerceptronState struct {
	W        []float64 // weights, length d: f(x) = W·x
	Pass     int       // passes through the data, from 1; 0 at the start
	Looked   int       // point visited, -1 at the start
	Updated  bool      // whether it was a mistake
	Mistakes int       // so far
}

// PrimalPerceptron runs the perceptron without bias on weights, from w = 0: it applies
// PerceptronUpdate to the rows of x (M x d) with labels y = ±1 in order and has converged after a
// pass without a mistake. For every rate it makes the same mistakes as Perceptron, and w is rate
// times sum alpha_i y_i x_i: the rate changes only the length of w.
func PrimalPerceptron(ctx context.Context, x *mat.Dense, y []float64, s PrimalPerceptronSettings) (*trace.Replay[PrimalPerceptronState], error) {
	p, err := newProblem(products{x}, y, 1)
	if err != nil {
		return nil, err
	}
	if !(s.Rate >= 0) || math.IsInf(s.Rate, 1) {
		return nil, fmt.Errorf("stepwise: Rate is %g; it must be above 0 and finite, or 0 for 1", s.Rate)
	}
	rate := cmp.Or(s.Rate, 1)

	return record(ctx, s.MaxSteps, func(yield func(PrimalPerceptronState) bool) trace.Status {
		_, d := x.Dims()
		state := PrimalPerceptronState{W: make([]float64, d), Looked: -1}
		yield(state)
		for {
			state.Pass++
			before := state.Mistakes
			for i, label := range p.y {
				state.Looked, state.W = i, slices.Clone(state.W)
				if state.Updated = PerceptronUpdate(state.W, x.RawRowView(i), label, rate); state.Updated {
					state.Mistakes++
				}
				if !yield(state) {
					return trace.IterationLimit
				}
			}
			if state.Mistakes == before {
				return trace.Converged
			}
		}
	})
}
