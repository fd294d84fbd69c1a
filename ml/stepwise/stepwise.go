// Package stepwise implements the learning procedures of the lecture for teaching: each records its
// steps for replay.
//
// The SVM slides (002), section 6 "Learning procedures in a SVM", name four:
// SubgradientDescent on the primal, NaiveAscent, Chunking and SMO on the dual.
// The dual Perceptron comes from section 3 of the same slides. Simplex solves the linear
// program of the Minimal Complexity Machine (000, "Generalizing the MCM") by the textbook
// method. Subsequences, Refine and SumWalks show how string and graph kernels are computed.
//
// The procedures are for 2 to about 100 points: clear and exact, not fast. For training, use
// packages svm and mcm. All are deterministic: the same input, settings and seed give
// bit-identical states. Failure to converge is not an error; the status of the replay says how a
// run ended.
//
// # The problem
//
// With u_i = alpha_i y_i and f(x) = sum_j u_j k(x_j, x) + b, the soft-margin support vector
// machine is
//
//	primal  minimise 1/2 |w|² + C sum_i max(0, 1 - y_i f(x_i))
//	dual    maximise sum_i alpha_i - 1/2 u'Ku,  0 <= alpha_i <= C,  sum_i u_i = 0
package stepwise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// Iterate holds the state common to all procedures for f(x) = sum_j alpha_j y_j k(x_j, x) + B:
// the function, the KKT table and the objectives. All numbers are computed from alpha and B.
type Iterate struct {
	Points []Point // the KKT table: one row per point, in the order of the data
	B      float64 // bias

	Residual  float64 // sum alpha_i y_i, 0 for a dual feasible point
	Dual      float64 // sum alpha_i - |w|²/2; a lower bound on the optimum only for a feasible alpha
	Primal    float64 // |w|²/2 + C sum of slacks; +Inf for slacks without a finite C
	Gap       float64 // Primal - Dual; may be negative for an infeasible alpha
	Violation float64 // largest Violation of Points
	WNorm     float64 // |w| = sqrt(u'Ku), 0 if an indefinite kernel makes u'Ku negative
}

// U returns the weights u_i = alpha_i y_i of the kernels in f.
func (s Iterate) U() []float64 {
	return lists.Map(s.Points, func(p Point) float64 { return p.Alpha * p.Y })
}

// Point is one row of a KKT table.
type Point struct {
	Y         float64   // label, ±1
	Alpha     float64   // dual variable
	F         float64   // f(x_i)
	Margin    float64   // functional margin y_i f(x_i)
	Slack     float64   // max(0, 1 - Margin)
	Condition Condition // which of the three KKT conditions applies
	Violation float64   // violation of that condition by the margin, >= 0
}

// Condition is the KKT condition that applies to a point by its alpha.
type Condition string

const (
	// AtZero: alpha = 0 requires a margin of at least 1.
	AtZero Condition = "zero"
	// Free: 0 < alpha < C requires a margin of exactly 1.
	Free Condition = "free"
	// AtC: alpha = C requires a margin of at most 1. A procedure that overshoots the box has
	// alpha > C here.
	AtC Condition = "bound"
)

// Order is the order in which a pass visits the points.
type Order string

const (
	// Cyclic visits the points in the order of the data.
	Cyclic Order = ""
	// Shuffled draws a new order for every pass.
	Shuffled Order = "shuffled"
	// Descending visits large alpha first, ties in the order of the data, as 002 recommends for
	// naive ascent.
	Descending Order = "descending"
)

// Optimum returns the exact solution of the support vector machine for comparison with the steps
// of a procedure: svm.Train to a KKT violation of 1e-10, or as close as rounding and a million
// steps allow. k is the Gram matrix, y holds labels ±1, C > 0 is finite.
func Optimum(ctx context.Context, k svm.Matrix, y []float64, c float64) (*Iterate, error) {
	p, err := newProblem(k, y, c)
	if err != nil {
		return nil, err
	}
	r, err := svm.Train(ctx, k, y, svm.Settings{C: c, Tol: 1e-10, MaxIter: 1_000_000})
	if err != nil {
		return nil, err
	}
	if r.Status == trace.Cancelled {
		return nil, ctx.Err()
	}
	s := p.iterate(r.Alpha, r.B)
	return &s, nil
}

// problem is the dual with the full Gram matrix.
type problem struct {
	k [][]float64
	y []float64
	c float64 // +Inf: no upper bound
}

func newProblem(k svm.Matrix, y []float64, c float64) (*problem, error) {
	if err := checkLabels(y, k.Len()); err != nil {
		return nil, err
	}
	if err := checkC(c); err != nil {
		return nil, err
	}
	rows, err := gramRows(k)
	return &problem{k: rows, y: slices.Clone(y), c: c}, err
}

// gramRows returns all rows of a Gram matrix, which must be finite.
func gramRows(k svm.Matrix) ([][]float64, error) {
	rows := make([][]float64, k.Len())
	for i := range rows {
		rows[i] = make([]float64, k.Len())
		k.Row(rows[i], i)
		for j, v := range rows[i] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, param.Refuse("scale the inputs or lower the kernel's parameters", "the kernel of points %d and %d is %g", i+1, j+1, v)
			}
		}
	}
	return rows, nil
}

func checkLabels(y []float64, m int) error {
	if len(y) != m {
		return fmt.Errorf("stepwise: %d labels for %d points; give one label per point", len(y), m)
	}
	for i, v := range y {
		if v != 1 && v != -1 {
			return fmt.Errorf("stepwise: label of point %d is %g; use +1 and -1", i+1, v)
		}
	}
	if !slices.Contains(y, 1) || !slices.Contains(y, -1) {
		return param.Refuse("add points of the other class", "all points have the same label")
	}
	return nil
}

func checkC(c float64) error {
	if !(c > 0) || math.IsInf(c, 1) {
		return fmt.Errorf("stepwise: C is %g; it must be above 0 and finite; a large C approximates a hard margin", c)
	}
	return nil
}

// record calls trace.Record for at most maxSteps steps, by default 1000.
func record[S any](ctx context.Context, maxSteps int, run func(yield func(S) bool) trace.Status) (*trace.Replay[S], error) {
	if maxSteps < 0 {
		return nil, fmt.Errorf("stepwise: MaxSteps is %d; it must not be negative", maxSteps)
	}
	return trace.Record(ctx, cmp.Or(maxSteps, 1000), run), nil
}

// tolerance returns the tolerance on KKT violations, by default 1e-3.
func tolerance(setting float64) (float64, error) {
	if !(setting >= 0) || math.IsInf(setting, 1) {
		return 0, fmt.Errorf("stepwise: Tol is %g; it must be above 0, or 0 for 1e-3", setting)
	}
	return cmp.Or(setting, 1e-3), nil
}

// passes returns a function that returns the points in the order of the next pass.
func passes(order Order, seed uint64) (func(alpha []float64) []int, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	switch order {
	case Cyclic, Shuffled, Descending:
	default:
		return nil, fmt.Errorf("stepwise: unknown order %q; use %q, %q or none for the order of the data", order, Shuffled, Descending)
	}
	return func(alpha []float64) []int {
		points := dataset.Indices(len(alpha))
		switch order {
		case Shuffled:
			r.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		case Descending:
			slices.SortStableFunc(points, func(i, j int) int { return cmp.Compare(alpha[j], alpha[i]) })
		}
		return points
	}, nil
}

// score returns (Ku)_i, which is f(x_i) without the bias.
func (p *problem) score(alpha []float64, i int) float64 {
	var sum float64
	for j, a := range alpha {
		sum += a * p.y[j] * p.k[i][j]
	}
	return sum
}

// iterate computes the state for alpha and b.
func (p *problem) iterate(alpha []float64, b float64) Iterate {
	s := Iterate{Points: make([]Point, len(alpha)), B: b}
	var sum, square, slacks float64
	for i, a := range alpha {
		score := p.score(alpha, i)
		point := Point{Y: p.y[i], Alpha: a, F: score + b, Margin: p.y[i] * (score + b)}
		point.Slack = max(0, 1-point.Margin)
		point.Condition, point.Violation = condition(a, p.c, point.Margin)
		s.Points[i] = point
		s.Residual += a * p.y[i]
		s.Violation = max(s.Violation, point.Violation)
		sum += a
		square += a * p.y[i] * score
		slacks += point.Slack
	}
	s.WNorm = math.Sqrt(max(0, square))
	s.Dual = sum - square/2
	s.Primal = square / 2
	if slacks > 0 {
		s.Primal += p.c * slacks
	}
	s.Gap = s.Primal - s.Dual
	return s
}

// condition returns the KKT condition of a point and its violation.
func condition(alpha, c, margin float64) (Condition, float64) {
	switch {
	case alpha <= 0:
		return AtZero, max(0, 1-margin)
	case alpha >= c:
		return AtC, max(0, margin-1)
	default:
		return Free, math.Abs(margin - 1)
	}
}

// interval returns m(a) and M(a), between which the bias must lie. With g_i = y_i - (Ku)_i, m is
// the largest g of the given points whose u can increase, or -Inf, and M the smallest g of those
// whose u can decrease, or +Inf.
func (p *problem) interval(points []int, alpha, g []float64) (m, M float64) {
	m, M = math.Inf(-1), math.Inf(1)
	for _, i := range points {
		if p.rises(alpha, i) {
			m = max(m, g[i])
		}
		if p.falls(alpha, i) {
			M = min(M, g[i])
		}
	}
	return m, M
}

// rises reports whether u_i = alpha_i y_i can increase within the box.
func (p *problem) rises(alpha []float64, i int) bool {
	if p.y[i] > 0 {
		return alpha[i] < p.c
	}
	return alpha[i] > 0
}

// falls reports whether u_i = alpha_i y_i can decrease within the box.
func (p *problem) falls(alpha []float64, i int) bool {
	if p.y[i] > 0 {
		return alpha[i] > 0
	}
	return alpha[i] < p.c
}

// gradient returns g_i = y_i - (Ku)_i, the gradient of the dual in u.
func (p *problem) gradient(alpha []float64) []float64 {
	return lists.Make(len(alpha), func(i int) float64 { return p.y[i] - p.score(alpha, i) })
}

// middle returns the midpoint of m and M, or the finite one.
func middle(m, M float64) float64 {
	switch {
	case math.IsInf(m, 0):
		return M
	case math.IsInf(M, 0):
		return m
	}
	return (m + M) / 2
}

// bias returns the mean of y_i - (Ku)_i over the free points or, if there are none, the middle of
// the interval allowed by the KKT conditions.
func (p *problem) bias(alpha []float64) float64 {
	g := p.gradient(alpha)
	free := lists.At(g, lists.Where(len(alpha), func(i int) bool { return 0 < alpha[i] && alpha[i] < p.c }))
	if len(free) == 0 {
		return middle(p.interval(dataset.Indices(len(alpha)), alpha, g))
	}
	return floats.Sum(free) / float64(len(free))
}
