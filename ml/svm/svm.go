// Package svm trains support vector machines.
package svm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/param"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Settings configures Train.
type Settings struct {
	C          float64        // upper bound of alpha, > 0; +Inf is the hard margin
	Tol        float64        // stop when the KKT violation m(a)-M(a) <= Tol and RelativeGap is small; default 1e-3
	MaxIter    int            // default rows.DefaultLimit
	CacheBytes int64          // memory of the row cache; default DefaultCache
	Recorder   trace.Recorder // progress, may be nil
	Memory     *Memory        // shared with other trainings; nil: own memory

	without without // for tests
}

// Memory lends row-cache memory to one training at a time.
type Memory = rows.Pool

// DefaultCache is the default size of the row cache in bytes.
const DefaultCache = rows.DefaultCache

// Params describes the user's parameters.
var Params = []param.Param{
	{
		Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "1",
		Min: 0, OpenMin: true, Max: 1e9, Low: 1e-3, High: 1e4, Log: true, Telling: true, When: "hard_margin", Is: "false",
		Help: "Price of a point inside the margin. Large: few errors, narrow margin.",
	},
	{
		Name: "hard_margin", Label: "hard margin", Kind: param.Switch, Default: "false", Telling: true,
		Help: "Allow no point inside the margin; C is then not used.",
	},
	{
		Name: "tol", Label: "tolerance", Kind: param.Number, Default: "0.001",
		Min: 0, OpenMin: true, Max: 1, Low: 1e-9, High: 1e-1, Log: true, Folded: true, Effort: true,
		Help: "Stop when the optimality conditions hold to this tolerance.",
	},
	{
		Name: "max_iter", Label: "iteration limit", Kind: param.Integer, Default: "0",
		Min: 0, Max: 1e9, Folded: true, Effort: true,
		Help: "Stop after this many iterations; 0: a limit that depends on the number of points.",
	},
}

// ErrNotSeparable is returned for a hard margin if the classes are not separable, or only by a
// negligible margin: alpha proves it to be below one millionth of the extent of the points in
// feature space or below the rounding error. Such a proof needs a positive semidefinite kernel.
var ErrNotSeparable = param.Refuse("use a finite C or a more flexible kernel", "the kernel does not separate the classes, so there is no hard margin")

// ErrRounding is returned for a hard margin if the kernel values are so large, compared with the
// distances of the points, that rounding hides whether the classes are separable.
var ErrRounding = param.Refuse("standardise the features, or use a finite C", "the kernel values are so much larger than their differences that rounding hides whether the classes are separable")

// ErrUnbounded is returned for a hard margin with a kernel not known to be positive semidefinite
// if the dual is unbounded: along some direction with sum alpha_i y_i = 0 the curvature is not
// positive and no C limits the step. That proves nothing about separability, since such a kernel
// has no feature space.
var ErrUnbounded = param.Refuse("use a finite C or another kernel", "the hard margin has no solution with this kernel: the dual is unbounded, and because the kernel is not positive semidefinite in general, this does not show whether the classes are separable")

// ErrOverflow is returned if sums of kernel values overflow.
var ErrOverflow = param.Refuse("scale the inputs, or lower C or the kernel's parameters", "sums of kernel values are too large for floating-point numbers")

// Result holds the solution found by Train.
type Result struct {
	Alpha  []float64    // dual variables, 0 <= alpha_i <= C, length M
	B      float64      // bias
	Status trace.Status // converged, iteration-limit, cancelled; numerical if rounding prevents reaching Tol
	F      []float64    // f(x_i) on the training points, length M
	// Local: the kernel is not known to be positive semidefinite, so that the dual may have
	// several local maxima. Alpha is the better of two; Primal and Gap measure how well it
	// satisfies the KKT conditions, but a better maximum may exist.
	Local bool

	Dual         float64 // dual objective, maximisation form
	Primal       float64 // primal objective; Primal - Dual is the duality gap
	Gap          float64 // (Primal-Dual) / max(1, |Primal|)
	RelativeGap  float64 // (Primal-Dual) / |Primal|; converged, kernel positive semidefinite: at most max(Tol, 1e-6)
	KKTViolation float64 // m(a)-M(a) at the end, at least 0; if numerical, at least the estimated rounding error
	SlackSum     float64 // sum of max(0, 1 - y_i f(x_i))
	WNorm        float64 // |w| = sqrt(u'Ku), NaN if an indefinite kernel makes u'Ku negative
	Margin       float64 // 1/|w|, NaN if |w| is 0 or NaN
	Iterations   int     // total of both starts if Local
	// Number of support vectors, and of its three kinds. Free: 0 < alpha < C. Bounded at C:
	// inside the margin (slack <= 1) or misclassified (slack > 1).
	SupportVectors, Free, BoundedInside, BoundedMisclassified int
}

// Train solves the dual of the support vector machine (C-SVC, see smo.go) for the kernel matrix k
// (M x M) and labels y (±1, length M, both present). The decision function is f(x) = sum_j
// alpha_j y_j k(x_j, x) + B, over all support vectors, free and bounded.
//
// B is the mean of y_i - (Ku)_i over the free support vectors or, if there are none, the middle
// of the interval allowed by the KKT conditions.
//
// All numbers of the result are computed from Alpha at the end; only after cancellation, which
// must be prompt, F and what depends on it may be outdated for points that were set aside. Unless
// k is known to be Definite, the result is a stationary point: the better of two, reached from
// alpha = 0 and, for a finite C, from the largest feasible alphas. For the hard margin, Primal is
// |w|²/2 of the solution scaled until no point is inside the margin, and +Inf (Gap 1) while
// points are misclassified.
//
// If ctx ends or the iteration limit (one per start) is reached, Train returns a feasible result
// with that Status and no error. It returns an error for invalid input, kernel values that are
// not finite, ErrOverflow, and for the hard margin ErrNotSeparable, ErrRounding and ErrUnbounded.
func Train(ctx context.Context, k Matrix, y []float64, s Settings) (*Result, error) {
	if err := check(k, y, &s); err != nil {
		return nil, err
	}
	o := newState(k, y, s.C, newMonitor(ctx, len(y), s))
	status, err := descend(k, o, s)
	if rows.Definite(k) {
		if err != nil {
			return nil, err
		}
		return o.result(status), nil
	}
	if err != nil {
		return nil, unproven(err)
	}
	return again(k, o.local(status), o, s), nil
}

// descend solves from the state o, with rows in single precision as far as that suffices.
func descend(k Matrix, o *state, s Settings) (status trace.Status, err error) {
	status = trace.Numerical
	if single(o, s) {
		status, err = path[float32](k, o, s)
	}
	if status == trace.Numerical && err == nil {
		status, err = path[float64](k, o, s)
	}
	return status, err
}

// check validates the input of Train and fills in the defaults.
func check(k Matrix, y []float64, s *Settings) error {
	m := k.Len()
	if m == 0 {
		return errors.New("svm: there are no points to train on")
	}
	if len(y) != m {
		return fmt.Errorf("svm: %d labels for %d points", len(y), m)
	}
	var positive, negative int
	for i, v := range y {
		switch v {
		case 1:
			positive++
		case -1:
			negative++
		default:
			return fmt.Errorf("svm: label of point %d is %g; use +1 and -1", i+1, v)
		}
	}
	if positive == 0 || negative == 0 {
		return param.Refuse("add points of another class", "all points have the same label")
	}
	for i := range m {
		if v := k.Diag(i); math.IsNaN(v) || math.IsInf(v, 0) {
			return notFinite(i, i, v)
		}
	}
	return rows.Complete("svm", m, s.C, &s.Tol, &s.MaxIter, &s.CacheBytes)
}

// result computes all reported numbers from u and K u.
func (o *state) result(status trace.Status) *Result {
	m := o.m
	r := &Result{
		Alpha: make([]float64, m), F: make([]float64, m),
		Status: status, Iterations: o.Iterations,
	}
	if !o.exact {
		floats.SubTo(o.ku, o.y, o.g)
	}
	// g = y - Ku loses digits of a small Ku, so the two are summed separately.
	var y, ku float64
	high, low := -1, -1
	for i, u := range o.u[:m] {
		r.Alpha[i] = math.Abs(u)
		if o.lo(i) < u && u < o.hi(i) {
			y += o.y[i]
			ku += o.ku[i]
			r.Free++
		}
		if o.up[i] == 0 && (high < 0 || o.above(i, high) > 0) {
			high = i
		}
		if o.low[i] == 0 && (low < 0 || o.above(i, low) < 0) {
			low = i
		}
	}
	r.KKTViolation = max(0, o.above(high, low))
	if status == trace.Numerical {
		r.KKTViolation = max(r.KKTViolation, o.rounding())
	}
	if r.Free > 0 {
		y, ku = y/float64(r.Free), ku/float64(r.Free)
	} else {
		y, ku = (o.y[high]+o.y[low])/2, o.ku[high]/2+o.ku[low]/2
	}
	r.B = y - ku
	sum, square := floats.Norm(o.u, 1), floats.Dot(o.u, o.ku)
	r.Dual = sum - square/2
	least := math.Inf(1)
	for i, y := range o.y[:m] {
		f, alpha := o.ku[i]+r.B, r.Alpha[i]
		r.F[i] = f
		if o.weight[i] == 0 {
			continue // held out
		}
		slack := max(0, 1-y*f)
		r.SlackSum += o.weight[i] * slack
		least = min(least, y*f)
		if alpha == 0 {
			continue
		}
		r.SupportVectors++
		switch {
		case alpha < o.weight[i]*o.c:
		case slack > 1:
			r.BoundedMisclassified++
		default:
			r.BoundedInside++
		}
	}
	r.WNorm, r.Margin = math.NaN(), math.NaN()
	if length := o.length(); square >= -indefinite*length*length {
		r.WNorm = math.Sqrt(max(0, square))
	}
	if r.WNorm > 0 {
		r.Margin = 1 / r.WNorm
	}
	switch {
	case !math.IsInf(o.c, 1):
		r.Primal = square/2 + o.c*r.SlackSum
	case least > 0:
		r.Primal = square / 2 / min(1, least*least)
	default:
		r.Primal, r.Gap, r.RelativeGap = math.Inf(1), 1, 1
		return r
	}
	r.Gap, r.RelativeGap = trace.Relative(r.Primal-r.Dual, r.Primal)
	return r
}

// above returns g_i - g_j.
func (o *state) above(i, j int) float64 { return (o.y[i] - o.y[j]) - (o.ku[i] - o.ku[j]) }

func notFinite(i, j int, v float64) error {
	return param.Refuse("scale the inputs or lower the kernel's parameters", "the kernel of points %d and %d is %g", i+1, j+1, v)
}
