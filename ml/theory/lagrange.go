package theory

import (
	"errors"
	"math"

	"marginlab/ml/param"
)

// ConstraintKind says what a Problem demands of g(x, y).
type ConstraintKind int

// The kinds of constraint.
const (
	Unconstrained ConstraintKind = iota // g is ignored
	Equality                            // g(x, y) = 0
	Inequality                          // g(x, y) <= 0
)

// Problem is to minimise the convex quadratic
//
//	f(x, y) = s_1 (x - c_1)² + s_2 (y - c_2)²
//
// under at most one linear constraint on g(x, y) = n_1 x + n_2 y + o (slides,
// part 2).
type Problem struct {
	Center [2]float64 // c, the free minimum
	Scale  [2]float64 // s, both above 0
	Kind   ConstraintKind
	Normal [2]float64 // n, not zero when there is a constraint
	Offset float64    // o
}

// LagrangeExamples are the four worked examples of the slides, part 2: x² + y²
// free, on x + 2y + 1 = 0, under x + 2y + 1 <= 0, and under -x - 2y - 1 <= 0.
var LagrangeExamples = [4]Problem{
	{Scale: [2]float64{1, 1}},
	{Scale: [2]float64{1, 1}, Kind: Equality, Normal: [2]float64{1, 2}, Offset: 1},
	{Scale: [2]float64{1, 1}, Kind: Inequality, Normal: [2]float64{1, 2}, Offset: 1},
	{Scale: [2]float64{1, 1}, Kind: Inequality, Normal: [2]float64{-1, -2}, Offset: -1},
}

// Verdict says why a Case is or is not the solution.
type Verdict int

// The verdicts.
const (
	Accepted       Verdict = iota // all Karush-Kuhn-Tucker conditions hold
	Infeasible                    // alpha = 0, but g > 0 at the candidate
	MultiplierSign                // alpha > 0 was supposed, but the system gives alpha <= 0
)

// String is a short plain text.
func (v Verdict) String() string {
	switch v {
	case Accepted:
		return "accepted"
	case Infeasible:
		return "rejected: violates the constraint"
	case MultiplierSign:
		return "rejected: the multiplier is not positive"
	}
	return "unknown"
}

// Case is one of the two ways to fulfil alpha g(x, y) = 0, with the point it
// leads to.
type Case struct {
	OnLine     bool       // supposes g = 0 (saturated); otherwise supposes a multiplier of 0 (free)
	Point      [2]float64 // where the gradient of the Lagrangian vanishes
	Multiplier float64    // lambda or alpha at Point
	Constraint float64    // g at Point; 0 exactly for OnLine
	Objective  float64    // f at Point
	Verdict    Verdict
}

// Solution is the minimum, and how it was found.
type Solution struct {
	Point      [2]float64
	Multiplier float64 // lambda (any sign) for an equality, alpha >= 0 for an inequality, 0 without constraint
	Objective  float64
	// Saturated tells whether the constraint holds the minimum back: always for an
	// equality, for an inequality when alpha > 0. Otherwise it is free.
	Saturated bool
	// Cases in the order of the derivation: one without a constraint or with an
	// equality; for an inequality first alpha = 0, then alpha > 0. Exactly one is
	// accepted.
	Cases []Case
}

// F returns f(x, y).
func (p Problem) F(at [2]float64) float64 {
	dx, dy := at[0]-p.Center[0], at[1]-p.Center[1]
	return p.Scale[0]*dx*dx + p.Scale[1]*dy*dy
}

// G returns g(x, y), the left side of the constraint.
func (p Problem) G(at [2]float64) float64 {
	return p.Normal[0]*at[0] + p.Normal[1]*at[1] + p.Offset
}

// Gradient returns grad f at a place.
func (p Problem) Gradient(at [2]float64) [2]float64 {
	return [2]float64{2 * p.Scale[0] * (at[0] - p.Center[0]), 2 * p.Scale[1] * (at[1] - p.Center[1])}
}

// Balance returns the multiplier lambda that brings grad f + lambda grad g nearest to
// 0 at a place, and the length of what is left, which is the slope of f along the
// constraint: 0 where the level line of f touches that of g.
func (p Problem) Balance(at [2]float64) (lambda, slope float64) {
	g, n := p.Gradient(at), p.Normal
	lambda = -(g[0]*n[0] + g[1]*n[1]) / (n[0]*n[0] + n[1]*n[1])
	return lambda, math.Abs(g[0]*n[1]-g[1]*n[0]) / math.Hypot(n[0], n[1])
}

// Minimise solves the problem through its Lagrange function f + lambda g, for an
// inequality by going through the two cases of the Karush-Kuhn-Tucker conditions
// (slides, "Optimization under constraints: example 1" to 4). When the free
// minimum lies on the line of an inequality exactly, the constraint is free:
// alpha = 0. Errors: a scale that is not above 0, a normal of 0, values that are
// not finite.
func (p Problem) Minimise() (Solution, error) {
	if err := p.check(); err != nil {
		return Solution{}, err
	}
	free := Case{Point: p.Center} // the objective is 0 there
	if p.Kind == Unconstrained {
		return solution(free), nil
	}
	free.Constraint = p.G(p.Center)
	line := p.onLine()
	switch {
	case p.Kind == Equality:
		return solution(line), nil
	case free.Constraint <= 0:
		line.Verdict = MultiplierSign
	default:
		free.Verdict = Infeasible
	}
	return solution(free, line), nil
}

// check refuses a problem that has no single minimum.
func (p Problem) check() error {
	if err := checkFinite("coefficient", []float64{p.Center[0], p.Center[1], p.Scale[0], p.Scale[1], p.Normal[0], p.Normal[1], p.Offset}); err != nil {
		return err
	}
	if p.Scale[0] <= 0 || p.Scale[1] <= 0 {
		return errors.New("theory: both scales of the quadratic must be above 0, or it has no minimum")
	}
	if p.Kind != Unconstrained && p.Normal == ([2]float64{}) {
		return param.Refuse("give it a direction", "the normal of the constraint is 0")
	}
	return nil
}

// onLine solves grad f + lambda n = 0 together with g = 0.
func (p Problem) onLine() Case {
	// grad f + lambda n = 0 gives x_k = c_k - lambda n_k/(2 s_k); g = 0 gives lambda.
	sum := 0.0
	for k, n := range p.Normal {
		sum += n * n / (2 * p.Scale[k])
	}
	c := Case{OnLine: true, Multiplier: p.G(p.Center) / sum}
	for k, n := range p.Normal {
		c.Point[k] = p.Center[k] - c.Multiplier*n/(2*p.Scale[k])
	}
	c.Objective = p.F(c.Point)
	return c
}

// solution takes the point of the accepted case.
func solution(cases ...Case) Solution {
	s := Solution{Cases: cases}
	for _, c := range cases {
		if c.Verdict == Accepted {
			s.Point, s.Multiplier, s.Objective, s.Saturated = c.Point, c.Multiplier, c.Objective, c.OnLine
		}
	}
	return s
}
