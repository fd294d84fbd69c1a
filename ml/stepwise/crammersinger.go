package stepwise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
	"marginlab/ml/multiclass"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// CrammerSingerSettings configures CrammerSinger.
type CrammerSingerSettings struct {
	C        float64 // price of slack, positive and finite
	Tol      float64 // stop when no violation exceeds Tol; default 1e-3
	MaxSteps int     // maximal number of steps; default 1000
}

// CrammerSingerState is the state after solving for one point.
type CrammerSingerState struct {
	Points    []ClassPoint // in the order of the data
	U         [][]float64  // coefficients by class and point: f_c(x) = sum_i U[c][i] k(x_i, x)
	Looked    int          // point solved for, -1 at the start
	Primal    float64      // 1/2 sum_c |w_c|² + C sum of slacks
	Dual      float64      // sum of all alpha - 1/2 sum_c |w_c|²; at most the minimum
	Violation float64      // largest Violation of Points
}

// ClassPoint holds the state of one point.
type ClassPoint struct {
	Class     int
	Alpha     []float64 // multiplier of each wrong class; 0 for the point's own class
	F         []float64 // f_c(x_i), by class
	Slack     float64   // for the worst wrong class
	Violation float64   // of the KKT conditions, >= 0
}

// CrammerSinger solves the dual of the Crammer-Singer machine (JMLR 2, 2001),
//
//	minimise  1/2 sum_c |w_c|² + C sum_i xi_i
//	subject to  f_{y_i}(x_i) - f_c(x_i) >= 1 - xi_i  for all c != y_i,  xi_i >= 0,
//
// one point at a time (Keerthi et al., KDD 2008), from alpha = 0. k is the Gram matrix and y holds
// the classes, numbered from 0, each with at least one point. Without biases only f couples the
// points, so the problem of a single point, subject to sum_c alpha_ic <= C, can be solved exactly by
// [multiclass.Maximise]. A step does so for the point with the largest violation, the first in a
// tie.
func CrammerSinger(ctx context.Context, k svm.Matrix, y []int, classes int, s CrammerSingerSettings) (*trace.Replay[CrammerSingerState], error) {
	p, err := newClassProblem(k, y, classes, s.C)
	if err != nil {
		return nil, err
	}
	tol, err := tolerance(s.Tol)
	if err != nil {
		return nil, err
	}
	return record(ctx, s.MaxSteps, func(yield func(CrammerSingerState) bool) trace.Status {
		alpha := lists.Make(len(y), func(int) []float64 { return make([]float64, classes) })
		state := p.state(alpha, -1)
		for yield(state) {
			if state.Violation <= tol {
				return trace.Converged
			}
			worst := 0
			for i, q := range state.Points {
				if q.Violation > state.Points[worst].Violation {
					worst = i
				}
			}
			alpha[worst] = p.best(state.Points[worst], p.k[worst][worst])
			state = p.state(alpha, worst)
		}
		return trace.IterationLimit
	})
}

// classProblem is the dual with the full Gram matrix.
type classProblem struct {
	k [][]float64
	y []int
	c float64
	n int // classes
}

func newClassProblem(k svm.Matrix, y []int, classes int, c float64) (*classProblem, error) {
	if err := checkC(c); err != nil {
		return nil, err
	}
	if len(y) != k.Len() {
		return nil, fmt.Errorf("stepwise: %d classes for %d points; give one class per point", len(y), k.Len())
	}
	if classes < 2 {
		return nil, param.Refuse("add points of another class", "there is only one class")
	}
	for class := range classes {
		if !slices.Contains(y, class) {
			return nil, param.Refuse("remove the class or add a point of it", "class %d of %d has no point", class+1, classes)
		}
	}
	if i := slices.IndexFunc(y, func(c int) bool { return c < 0 || c >= classes }); i >= 0 {
		return nil, fmt.Errorf("stepwise: class of point %d is %d; use 0 to %d", i+1, y[i], classes-1)
	}
	rows, err := gramRows(k)
	return &classProblem{rows, slices.Clone(y), c, classes}, err
}

func (p *classProblem) state(alpha [][]float64, looked int) CrammerSingerState {
	s := CrammerSingerState{Looked: looked, U: make([][]float64, p.n)}
	for c := range s.U {
		s.U[c] = make([]float64, len(p.y))
	}
	for i, a := range alpha {
		for c, v := range a {
			s.U[c][i] -= v
			s.U[p.y[i]][i] += v
			s.Dual += v
		}
	}
	for i, y := range p.y {
		q := ClassPoint{Class: y, Alpha: slices.Clone(alpha[i]), F: make([]float64, p.n)}
		for c := range q.F {
			for j, k := range p.k[i] {
				q.F[c] += s.U[c][j] * k
			}
			s.Primal += s.U[c][i] * q.F[c] / 2
		}
		q.Slack, q.Violation = p.conditions(q)
		s.Points = append(s.Points, q)
		s.Violation = max(s.Violation, q.Violation)
	}
	s.Dual -= s.Primal // 1/2 sum_c |w_c|² so far
	for _, q := range s.Points {
		s.Primal += p.c * q.Slack
	}
	return s
}

// gradient returns the derivative of the dual by alpha_ic.
func (q ClassPoint) gradient(c int) float64 { return 1 - q.F[q.Class] + q.F[c] }

// conditions returns the slack of a point and its violation: the largest derivative minus the
// smallest derivative of classes with a positive share. "No class", with derivative 0 and the rest
// of C, counts as a class.
func (p *classProblem) conditions(q ClassPoint) (slack, violation float64) {
	sum, least := 0.0, math.Inf(1)
	for c, a := range q.Alpha {
		if c == q.Class {
			continue
		}
		slack = max(slack, q.gradient(c))
		if a > 0 {
			least = min(least, q.gradient(c))
		}
		sum += a
	}
	if sum < p.c {
		least = min(least, 0)
	}
	return slack, max(0, slack-least)
}

// best returns the alpha of one point that maximises the dual with all others fixed; curvature is
// its k(x_i, x_i).
func (p *classProblem) best(q ClassPoint, curvature float64) []float64 {
	var shares []multiclass.Share
	for c, a := range q.Alpha {
		if c != q.Class {
			shares = append(shares, multiclass.Share{Class: c, Size: a, Gradient: q.gradient(c)})
		}
	}
	multiclass.Maximise(shares, floats.Sum(q.Alpha), curvature, p.c)
	alpha := make([]float64, p.n)
	for _, s := range shares {
		alpha[s.Class] = s.Size
	}
	return alpha
}
