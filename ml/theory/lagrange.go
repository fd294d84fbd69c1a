package theory

import (
	"errors"
	"math"

	"marginlab/ml/param"
)

// ConstraintKind is the kind of constraint of a Problem.
type ConstraintKind int

// The kinds of constraint.
const (
	Unconstrained ConstraintKind = iota // g is ignored
	Equality                            // g(x, y) = 0
	Inequality                          // g(x, y) <= 0
)

// Problem is the minimisation of the convex quadratic
//
//	f(x, y) = s_1 (x - c_1)² + s_2 (y - c_2)²
//
// subject to at most one linear constraint on g(x, y) = n_1 x + n_2 y + o (slides, part 2).
type Problem struct {
	Center [2]float64 // c, the unconstrained minimum
	Scale  [2]float64 // s, both positive
	Kind   ConstraintKind
	Normal [2]float64 // n, not zero if there is a constraint
	Offset float64    // o
}

// LagrangeExamples holds the four worked examples of the slides, part 2: x² + y² without
// constraint, on x + 2y + 1 = 0, subject to x + 2y + 1 <= 0, and subject to -x - 2y - 1 <= 0.
var LagrangeExamples = [4]Problem{
	{Scale: [2]float64{1, 1}},
	{Scale: [2]float64{1, 1}, Kind: Equality, Normal: [2]float64{1, 2}, Offset: 1},
	{Scale: [2]float64{1, 1}, Kind: Inequality, Normal: [2]float64{1, 2}, Offset: 1},
	{Scale: [2]float64{1, 1}, Kind: Inequality, Normal: [2]float64{-1, -2}, Offset: -1},
}

// Verdict explains why a Case is or is not the solution.
type Verdict int

// The verdicts.
const (
	Accepted       Verdict = iota // all Karush-Kuhn-Tucker conditions hold
	Infeasible                    // alpha = 0, but g > 0 at the candidate
	MultiplierSign                // alpha > 0 was assumed, but the system gives alpha <= 0
)

// String returns a short plain text.
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

// Case is one of the two ways to satisfy alpha g(x, y) = 0, with the resulting point.
type Case struct {
	OnLine     bool       // assumes g = 0 (saturated); otherwise a multiplier of 0 (free)
	Point      [2]float64 // where the gradient of the Lagrangian vanishes
	Multiplier float64    // lambda or alpha at Point
	Constraint float64    // g at Point; exactly 0 if OnLine
	Objective  float64    // f at Point
	Verdict    Verdict
}

// Solution is the minimum with its derivation.
type Solution struct {
	Point      [2]float64
	Multiplier float64 // lambda (any sign) for an equality, alpha >= 0 for an inequality, 0 without constraint
	Objective  float64
	// Saturated reports whether the constraint is active: always for an equality, for an
	// inequality if alpha > 0.
	Saturated bool
	// Cases is in the order of the derivation: a single one without a constraint or with an
	// equality; for an inequality first alpha = 0, then alpha > 0. Exactly one is accepted.
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

// Gradient returns grad f at a point.
func (p Problem) Gradient(at [2]float64) [2]float64 {
	return [2]float64{2 * p.Scale[0] * (at[0] - p.Center[0]), 2 * p.Scale[1] * (at[1] - p.Center[1])}
}

// Balance returns the multiplier lambda that minimises |grad f + lambda grad g| at a point, and
// this minimum, which is the slope of f along the constraint: 0 where the level lines of f and g are
// tangent.
func (p Problem) Balance(at [2]float64) (lambda, slope float64) {
	g, n := p.Gradient(at), p.Normal
	lambda = -(g[0]*n[0] + g[1]*n[1]) / (n[0]*n[0] + n[1]*n[1])
	return lambda, math.Abs(g[0]*n[1]-g[1]*n[0]) / math.Hypot(n[0], n[1])
}

// Minimise solves the problem by its Lagrangian f + lambda g, for an inequality by the two cases
// of the Karush-Kuhn-Tucker conditions (slides, "Optimization under constraints: example 1" to
// 4). If the unconstrained minimum lies exactly on the line of an inequality, the constraint is
// free: alpha = 0. It returns an error for a scale that is not positive, a zero normal, or values
// that are not finite.
func (p Problem) Minimise() (Solution, error) {
	if err := p.check(); err != nil {
		return Solution{}, err
	}
	free := Case{Point: p.Center} // with objective 0
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

// check returns an error if the problem has no unique minimum.
func (p Problem) check() error {
	if err := checkFinite("coefficient", []float64{p.Center[0], p.Center[1], p.Scale[0], p.Scale[1], p.Normal[0], p.Normal[1], p.Offset}); err != nil {
		return err
	}
	if p.Scale[0] <= 0 || p.Scale[1] <= 0 {
		return errors.New("theory: both scales of the quadratic must be above 0, otherwise it has no minimum")
	}
	if p.Kind != Unconstrained && p.Normal == ([2]float64{}) {
		return param.Refuse("choose a nonzero normal", "the normal of the constraint is 0")
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

func solution(cases ...Case) Solution {
	s := Solution{Cases: cases}
	for _, c := range cases {
		if c.Verdict == Accepted {
			s.Point, s.Multiplier, s.Objective, s.Saturated = c.Point, c.Multiplier, c.Objective, c.OnLine
		}
	}
	return s
}
