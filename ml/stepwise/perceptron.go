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

// PerceptronSettings are the settings of Perceptron.
type PerceptronSettings struct {
	Bias     bool   // learn a bias as well: b += y_i R² at a mistake, R² = max K_ii
	Strict   bool   // the slides' own test, margin < 0, with which nothing is ever learned
	Order    Order  // order of the points in a pass
	Seed     uint64 // of Shuffled
	MaxSteps int    // bound of the points looked at; 0 means 1000
}

// PerceptronState is the state after a point was looked at. There is no C: the KKT
// table holds the conditions of the hard margin, which a perceptron does not aim
// at. Its end separates the classes, that is all; the scale of f is arbitrary.
type PerceptronState struct {
	Iterate
	Pass    int     // passes through the data, from 1; 0 at the start
	Looked  int     // point looked at, -1 at the start
	Margin  float64 // y_i f(x_i) of that point before an update
	Updated bool    // whether that was a mistake, so that alpha_i rose by 1
	// Mistakes so far, which is the sum of all alpha.
	Mistakes int
	Worst    float64 // smallest y_i f(x_i) of all points, after the step
}

// Perceptron runs the dual form of the perceptron (002, "Dual form of the
// Perceptron algorithm") on the Gram matrix k and labels y = ±1. One step looks at
// one point and, if its margin is not positive, adds 1 to its alpha. The run has
// converged when after a pass all margins are positive. For classes that a plane
// through the origin separates by gamma there are at most (R/gamma)² mistakes,
// R² = max K_ii (Novikoff 1962); for others the passes go on to MaxSteps.
//
// The slip: the slides loop while the margin is < 0 and update when it is < 0.
// With alpha = 0 all margins are exactly 0, so nothing happens. The tests have to
// be <= 0. Strict runs the slides' tests. They leave open what the margin is
// before the first pass, so one pass is made: it shows that every margin is 0, no
// point is taken for a mistake, and the procedure ends, by its own rule Converged,
// with f = 0.
//
// The slides' perceptron has no bias. Bias adds the one of Cristianini and
// Shawe-Taylor, "An Introduction to Support Vector Machines" (2000), chapter 2,
// for which the bound of the mistakes is (2R/gamma)².
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
				state.Worst = worst(state.Points)
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

// worst returns the smallest margin.
func worst(points []Point) float64 {
	return slices.MinFunc(points, func(a, b Point) int { return cmp.Compare(a.Margin, b.Margin) }).Margin
}

// PerceptronUpdate applies the rule of the perceptron to one point (002, section 3):
// where y w·x is not above 0, it adds rate y x to w and reports the mistake. The
// margin y w·x then grows by rate |x|².
func PerceptronUpdate(w, x []float64, y, rate float64) (mistake bool) {
	if y*floats.Dot(w, x) > 0 {
		return false
	}
	floats.AddScaled(w, rate*y, x)
	return true
}

// PrimalPerceptronSettings are the settings of PrimalPerceptron.
type PrimalPerceptronSettings struct {
	Rate     float64 // step size, > 0 and finite; 0 means 1
	MaxSteps int     // bound of the points looked at; 0 means 1000
}

// PrimalPerceptronState is the state after a point was looked at.
type PrimalPerceptronState struct {
	W        []float64 // weights, length d: f(x) = W·x
	Pass     int       // passes through the data, from 1; 0 at the start
	Looked   int       // point looked at, -1 at the start
	Updated  bool      // whether that was a mistake
	Mistakes int       // so far
}

// PrimalPerceptron runs the perceptron without a bias on weights, from w = 0: it
// applies PerceptronUpdate to the rows of x (M x d) with labels y = ±1 in their
// order and has converged after a pass without a mistake. With any rate it makes the
// mistakes that Perceptron counts, and w is rate times sum alpha_i y_i x_i: the rate
// changes the length of w alone, and no sign.
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
