// Package multiclass trains support vector machines for several classes as one
// problem: a function for every class, all functions at once. The two formulations,
// with their duals and certificates, are in ww.go and cs.go; what they share is in
// machine.go.
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

// Formulation names a problem.
type Formulation string

// The formulations. In both the answer is the class with the largest f_c(x).
const (
	// WestonWatkins has a bias for every class and a slack for every wrong class of
	// every point, see ww.go.
	WestonWatkins Formulation = "ww"
	// CrammerSinger has no biases and one slack for every point, see cs.go.
	CrammerSinger Formulation = "cs"
)

// Settings of Train.
type Settings struct {
	Formulation Formulation    // which problem; there is no default
	C           float64        // price of slack, above 0 and finite
	Tol         float64        // stop when the violation of the KKT conditions is <= Tol; 0 means 1e-3
	MaxIter     int            // steps; 0 means max(10 000 000, 100 M)
	CacheBytes  int64          // memory for rows of the kernel matrix; 0 means rows.DefaultCache
	Recorder    trace.Recorder // progress, may be nil
}

// ErrOverflow is returned when sums of kernel values leave the range of numbers.
var ErrOverflow = param.Refuse("scale the inputs, or lower C or the kernel's parameters", "sums of kernel values are too large for floating-point numbers")

// Result of Train. Class c has the function f_c(x) = sum_i Coef[c][i] k(x_i, x) + B[c].
type Result struct {
	Coef   [][]float64  // by class and point
	B      []float64    // by class; their sum is 0, and all are 0 for CrammerSinger
	F      [][]float64  // f_c(x_i), by class and point
	Status trace.Status // converged, iteration-limit, cancelled; numerical when no end can be proved, or steps gain nothing but rounding
	// Local: the kernel is not known to be positive semidefinite, so that the dual may have
	// many maxima. Objective and Gap tell how well the KKT conditions hold at this one, and
	// nothing proves that there is no other that is better.
	Local bool

	Objective      float64 // what is minimised: 1/2 sum_c |w_c|² + C SlackSum
	DualObjective  float64 // no more than the minimum when the kernel is positive semidefinite
	Gap            float64 // (Objective - DualObjective) / max(1, |Objective|)
	RelativeGap    float64 // (Objective - DualObjective) / |Objective|; converged, kernel positive semidefinite: at most max(Tol, 1e-6)
	KKTViolation   float64 // of the formulation's conditions, at the end
	SlackSum       float64 // sum of all slacks
	SupportVectors int     // points with a coefficient that is not 0, for any class
	Iterations     int     // steps
}

// Train solves the problem that s.Formulation names for the kernel matrix k (M x M), and
// classes y (length M) numbered from 0, each with a point at least.
//
// All numbers of the result are computed afresh from Coef at the end, not carried along;
// only after cancellation, which must be prompt, F and what follows from it may lag
// behind. Unless k says that it is Definite, the result is a stationary point, reached
// from Coef = 0. Train is deterministic.
//
// An ended ctx and a reached limit are no errors: Status tells, and the result is feasible.
// Errors are wrong input, a class without points, kernel values that are not finite, and
// ErrOverflow.
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

// single tells whether rows in single precision do: when there are so many points that
// steps wait for memory, and when the rounding of a value, times C, is far below
// Tol.
func single(k Matrix, s Settings) bool {
	const from = 500
	most := 0.0
	for i := range k.Len() {
		most = max(most, math.Abs(k.Diag(i)))
	}
	return k.Len() >= from && most < 1e30 && s.C*most*0x1p-24 <= s.Tol/100
}

// descend solves from where m is, until neither a condition is violated by more than Tol nor the
// gap is more than that share of the objective, where the kernel is positive semidefinite. What
// cannot be proved so is numerical.
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
		goal *= min(0.5, max(0.1, share/r.RelativeGap/2)) // about as the gap does
	}
}

// along leads to s.C from solutions, rough ones, for smaller C: to a large C from u = 0 it is many
// small steps.
func along[T rows.Real](p problem[T], s Settings) error {
	m := p.base()
	stations := []float64{s.C}
	for c := s.C / 10; c*floats.Norm(m.diag, 1) > 10*float64(m.n); c /= 10 {
		stations = append(stations, c)
	}
	slices.Reverse(stations)
	defer func() { m.c, m.Limit = s.C, s.MaxIter }()
	for a, c := range stations[1:] {
		m.c, m.Limit = stations[a], m.Iterations+min(pathPoints*m.n, (s.MaxIter-m.Iterations)/(2*(len(stations)-1-a)))
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

// grow raises the bound to c, and u in proportion where that is better.
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
			if u[i] *= t; u[i] < (dust-1)*c { // exactly, so that it is known
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

// gapTol is the least share of the objective that the gap is asked to be.
const gapTol = 1e-6

// The stopping rule before the last C, and how many steps for each point it takes at most.
const (
	pathTol    = 1e-2
	pathPoints = 300
)

// check validates the input of Train and fills in the defaults.
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
		return param.Refuse("two classes are needed at least", "all points have the same label")
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
			return param.Refuse("leave the class out or add a point of it", "class %d of %d has no point to train on", c+1, classes)
		}
	}
	for i := range n {
		if v := k.Diag(i); math.IsNaN(v) || math.IsInf(v, 0) {
			return notFinite(i, i, v)
		}
	}
	if math.IsInf(s.C, 1) {
		return param.Refuse("use a finite C, which may be large", "the machines that learn all classes at once have no hard margin")
	}
	return rows.Complete("multiclass", n, s.C, &s.Tol, &s.MaxIter, &s.CacheBytes)
}

func notFinite(i, j int, v float64) error {
	return param.Refuse("scale the inputs or lower the kernel's parameters", "the kernel of points %d and %d is %g", i+1, j+1, v)
}
