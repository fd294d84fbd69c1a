package theory

import (
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// maxWalls is the largest number of constraints whose cases, 2^10, are enumerated.
const maxWalls = 10

// Wall is the linear inequality h(x, y) = n_1 x + n_2 y + o <= 0.
type Wall struct {
	Normal [2]float64 // n, not zero
	Offset float64    // o
}

// G returns h(x, y), the left side of the inequality.
func (w Wall) G(at [2]float64) float64 {
	return w.Normal[0]*at[0] + w.Normal[1]*at[1] + w.Offset
}

// WallCase is one way to satisfy alpha_j h_j(x, y) = 0 for every wall j, with the resulting
// point.
type WallCase struct {
	Touched     []bool     // by wall: assumes h_j = 0 (saturated), otherwise alpha_j = 0 (free)
	Point       [2]float64 // where the gradient of the Lagrangian vanishes
	Multipliers []float64  // alpha_j at Point
	Constraints []float64  // h_j at Point; exactly 0 for touched walls
	Verdict     Verdict
	Wall        int // the first wall that rejects the case; -1 if it is accepted
}

// WallCases enumerates the cases of the Karush-Kuhn-Tucker conditions for minimising f of p
// subject to any number of walls (slides, "Generalized Lagrangian"); p's own constraint is
// ignored. In case k of 2^n the touched walls are the bits of k. Cases whose equations have no
// unique solution, such as those touching parallel walls, are omitted. Values within 1e-9 of 0
// count as 0.
//
// f is strictly convex, so at most one point is accepted: the minimum, if the walls allow any
// point. It returns an error for a scale that is not positive, a zero normal, values that are not
// finite, or more than 10 walls.
func (p Problem) WallCases(walls []Wall) ([]WallCase, error) {
	if len(walls) > maxWalls {
		return nil, param.Refuse("remove some", "%d constraints make 2^%d cases, and the limit is 2^%d", len(walls), len(walls), maxWalls)
	}
	p = Problem{Center: p.Center, Scale: p.Scale}
	if err := p.check(); err != nil {
		return nil, err
	}
	for _, w := range walls {
		if err := (Problem{Scale: p.Scale, Kind: Inequality, Normal: w.Normal, Offset: w.Offset}).check(); err != nil {
			return nil, err
		}
	}
	var cases []WallCase
	for k := range 1 << len(walls) {
		c := WallCase{Touched: make([]bool, len(walls))}
		for j := range walls {
			c.Touched[j] = k>>j&1 == 1
		}
		if c.solve(p, walls) {
			c.judge()
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// solve computes point, multipliers and constraints, and reports whether the solution is unique.
func (c *WallCase) solve(p Problem, walls []Wall) bool {
	c.Point, c.Multipliers = p.Center, make([]float64, len(walls))
	on := lists.Where(len(c.Touched), func(j int) bool { return c.Touched[j] })
	if len(on) > 0 {
		// x = c - sum_j alpha_j S^-1 n_j/2 and h_j(x) = 0 are (N S^-1 N'/2) alpha = h(c).
		a, h := mat.NewSymDense(len(on), nil), mat.NewVecDense(len(on), nil)
		for r, j := range on {
			h.SetVec(r, walls[j].G(p.Center))
			for q, k := range on {
				sum := 0.0
				for i, n := range walls[j].Normal {
					sum += n * walls[k].Normal[i] / (2 * p.Scale[i])
				}
				a.SetSym(r, q, sum)
			}
		}
		var alpha mat.VecDense
		if alpha.SolveVec(a, h) != nil {
			return false
		}
		for r, j := range on {
			c.Multipliers[j] = alpha.AtVec(r)
			for i, n := range walls[j].Normal {
				c.Point[i] -= c.Multipliers[j] * n / (2 * p.Scale[i])
			}
		}
	}
	for j, w := range walls {
		h := 0.0
		if !c.Touched[j] {
			h = w.G(c.Point)
		}
		c.Constraints = append(c.Constraints, h)
	}
	return true
}

// judge checks the inequalities that the equations do not enforce.
func (c *WallCase) judge() {
	const tolerance = 1e-9
	c.Verdict, c.Wall = Accepted, -1
	for j, h := range c.Constraints {
		if h > tolerance {
			c.Verdict, c.Wall = Infeasible, j
			return
		}
	}
	for j, touched := range c.Touched {
		if touched && c.Multipliers[j] <= tolerance {
			c.Verdict, c.Wall = MultiplierSign, j
			return
		}
	}
}
