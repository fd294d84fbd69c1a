// Package multiclass trains multi-class support vector machines as one joint problem, with a
// function for each class. The two formulations, with their duals and certificates, are in ww.go
// and cs.go; their common part is in machine.go.
package multiclass

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/param"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Matrix is a symmetric M x M kernel matrix, see package rows.
type Matrix = rows.Matrix

// Formulation names one of the problems.
type Formulation string

// The formulations. In both the prediction is the class with the largest f_c(x).
const (
	// WestonWatkins has a bias for each class and a slack for each wrong class of each point, see
	// ww.go.
	WestonWatkins Formulation = "ww"
	// CrammerSinger has no biases and one slack for each point, see cs.go.
	CrammerSinger Formulation = "cs"
)

// Settings configures Train.
type Settings struct {
	Formulation Formulation    // required
	C           float64        // price of slack, positive and finite
	Tol         float64        // stop when the violation of the KKT conditions is <= Tol; default 1e-3
	MaxIter     int            // steps; default rows.DefaultLimit
	CacheBytes  int64          // memory for rows of the kernel matrix; default rows.DefaultCache
	Recorder    trace.Recorder // progress, may be nil
}

// ErrOverflow is returned if sums of kernel values overflow.
var ErrOverflow = param.Refuse("scale the inputs, or lower C or the kernel's parameters", "sums of kernel values are too large for floating-point numbers")

// Result holds the machine found by Train. Class c has the function f_c(x) = sum_i Coef[c][i]
// k(x_i, x) + B[c].
type Result struct {
	Coef   [][]float64  // by class and point
	B      []float64    // by class; their sum is 0, and all are 0 for CrammerSinger
	F      [][]float64  // f_c(x_i), by class and point
	Status trace.Status // converged, iteration-limit, cancelled; numerical if convergence cannot be proved or steps gain only rounding
	// Local reports that the kernel is not known to be positive semidefinite, so the dual may have
	// several local maxima and a better one may exist.
	Local bool

	Objective      float64 // primal objective: 1/2 sum_c |w_c|² + C SlackSum
	DualObjective  float64 // at most the minimum if the kernel is positive semidefinite
	Gap            float64 // (Objective - DualObjective) / max(1, |Objective|)
	RelativeGap    float64 // (Objective - DualObjective) / |Objective|; converged, kernel positive semidefinite: at most max(Tol, 1e-6)
	KKTViolation   float64 // violation of the formulation's conditions at the end
	SlackSum       float64 // sum of all slacks
	SupportVectors int     // points with a non-zero coefficient for any class
	Iterations     int     // steps
}

// Train solves the problem s.Formulation for the kernel matrix k (M x M) and classes y (length M)
// numbered from 0, each with at least one point.
//
// All numbers of the result are computed from Coef at the end. Only after cancellation, F and the
// numbers that depend on it may be outdated. Unless k is known to be Definite, the result is a
// stationary point, reached from Coef = 0. Train is deterministic.
//
// If ctx ends or the iteration limit is reached, Train returns a feasible result with that Status
// and no error. It returns an error for invalid input, a class without points, kernel values that
// are not finite, and ErrOverflow.
func Train(ctx context.Context, k Matrix, y []int, classes int, s Settings) (*Result, error) {
	if err := check(k, y, classes, &s); err != nil {
		return nil, err
	}
	watch := &monitor{Monitor: trace.Monitor{Context: ctx, Recorder: s.Recorder, Phase: string(s.Formulation), Limit: s.MaxIter}}
	var r *Result
	var err error
	double := newMachine[float64](k, y, classes, s.C, s.CacheBytes, watch)
	defer double.free()
	if single(k, s) {
		m := newMachine[float32](k, y, classes, s.C, s.CacheBytes, watch)
		defer m.free()
		if r, err = descend(m, s); err != nil {
			return nil, err
		}
		double.u, double.f, double.exact = m.u, m.f, m.exact
	}
	if r == nil || r.Status == trace.Numerical {
		if r, err = descend(double, s); err != nil {
			return nil, err
		}
	}
	r.Local = !rows.Definite(k)
	return r, nil
}

// single reports whether to start in single precision: it does so if memory bandwidth limits the steps
// and the rounding errors of kernel values, times C, are far below Tol.
func single(k Matrix, s Settings) bool {
	const from = 500
	most := 0.0
	for i := range k.Len() {
		most = max(most, math.Abs(k.Diag(i)))
	}
	return k.Len() >= from && most < 1e30 && s.C*most*0x1p-24 <= s.Tol/100
}

// descend solves, starting from m, until the violation is at most Tol and, if the kernel is positive
// semidefinite, the relative gap is at most max(Tol, gapTol). If that cannot be shown, the status is
// numerical.
func descend[T rows.Real](m *machine[T], s Settings) (*Result, error) {
	var p problem[T]
	switch s.Formulation {
	case WestonWatkins:
		p = newWestonWatkins(m)
	case CrammerSinger:
		p = newCrammerSinger(m)
	}
	if m.Iterations == 0 {
		if err := along(p, s); err != nil {
			return nil, err
		}
	}
	goal, share := s.Tol, max(s.Tol, gapTol)
	for {
		status, err := solve(p, goal)
		if err != nil {
			return nil, err
		}
		r := m.result(p, status)
		enough := r.RelativeGap <= share
		if status == trace.Cancelled || !rows.Definite(m.k) {
			return r, nil
		}
		if goal < s.Tol && enough && r.KKTViolation <= s.Tol {
			r.Status = trace.Converged
		}
		if r.Status != trace.Converged || enough {
			return r, nil
		}
		goal *= min(0.5, max(0.1, share/r.RelativeGap/2)) // the gap shrinks about in proportion
	}
}

// along approaches s.C through rough solutions for smaller C, since a large C would take many small
// steps from u = 0.
func along[T rows.Real](p problem[T], s Settings) error {
	m := p.base()
	cs := []float64{s.C}
	for c := s.C / 10; c*floats.Norm(m.diag, 1) > 10*float64(m.n); c /= 10 {
		cs = append(cs, c)
	}
	slices.Reverse(cs)
	defer func() { m.c, m.Limit = s.C, s.MaxIter }()
	for a, c := range cs[1:] {
		m.c, m.Limit = cs[a], m.Iterations+min(pathPoints*m.n, (s.MaxIter-m.Iterations)/(2*(len(cs)-1-a)))
		m.Ahead++
		status, err := solve(p, max(s.Tol, pathTol))
		m.Ahead--
		if err != nil || status == trace.Cancelled {
			return err
		}
		grow(p, c)
	}
	return nil
}

// grow raises C to c, and scales u in proportion if that raises D.
func grow[T rows.Real](p problem[T], c float64) {
	m := p.base()
	sum, square := m.dual()
	t := c / m.c
	if m.c = c; !(t*(sum-t*square/2) > sum-square/2) {
		return
	}
	floats.Scale(t, together(m.f))
	for i, y := range m.y {
		for _, u := range m.u {
			if u[i] *= t; u[i] < (dust-1)*c { // exactly, so that it counts as bounded
				u[i] = -c
			}
		}
		m.own(i)
		if _, hi := p.bounds(i, y); m.u[y][i] > (1-dust)*hi {
			m.u[y][i] = hi
		}
	}
	m.Objective, m.exact = t*(sum-t*square/2), false
}

// gapTol is the smallest relative gap required.
const gapTol = 1e-6

// Stopping tolerance before the last C, and the maximal number of steps per point.
const (
	pathTol    = 1e-2
	pathPoints = 300
)

// check validates the input of Train and sets the defaults.
func check(k Matrix, y []int, classes int, s *Settings) error {
	n := k.Len()
	if n == 0 {
		return errors.New("multiclass: there are no points to train on")
	}
	if len(y) != n {
		return fmt.Errorf("multiclass: %d labels for %d points", len(y), n)
	}
	if s.Formulation != WestonWatkins && s.Formulation != CrammerSinger {
		return fmt.Errorf("multiclass: formulation %q is not known; use %q or %q", s.Formulation, WestonWatkins, CrammerSinger)
	}
	if classes < 2 {
		return param.Refuse("add points of another class", "all points have the same label")
	}
	points := make([]int, classes)
	for i, c := range y {
		if c < 0 || c >= classes {
			return fmt.Errorf("multiclass: class of point %d is %d; use 0 to %d", i+1, c, classes-1)
		}
		points[c]++
	}
	for c, n := range points {
		if n == 0 {
			return param.Refuse("remove the class or add a point of it", "class %d of %d has no training points", c+1, classes)
		}
	}
	for i := range n {
		if v := k.Diag(i); math.IsNaN(v) || math.IsInf(v, 0) {
			return notFinite(i, i, v)
		}
	}
	if math.IsInf(s.C, 1) {
		return param.Refuse("use a large, finite C", "formulations that train all classes at once have no hard margin")
	}
	return rows.Complete("multiclass", n, s.C, &s.Tol, &s.MaxIter, &s.CacheBytes)
}

func notFinite(i, j int, v float64) error {
	return param.Refuse("scale the inputs or lower the kernel's parameters", "the kernel of points %d and %d is %g", i+1, j+1, v)
}
