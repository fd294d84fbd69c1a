package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// For one wall the cases agree with Minimise.
func TestWallCasesOfOneWall(t *testing.T) {
	t.Parallel()
	for _, i := range []int{2, 3} {
		p := theory.LagrangeExamples[i]
		want := require.Value(p.Minimise())(t)
		got := require.Value(p.WallCases([]theory.Wall{{Normal: p.Normal, Offset: p.Offset}}))(t)
		require.Must(t, len(got) == 2, "example %d: %d cases", i+1, len(got))
		for k, c := range got {
			w := want.Cases[k]
			require.Check(t, c.Touched[0] == w.OnLine && c.Verdict == w.Verdict && (c.Wall == -1) == (w.Verdict == theory.Accepted),
				"example %d, case %d: %+v, want %+v", i+1, k+1, c, w)
			near(t, "multiplier", c.Multipliers[0], w.Multiplier, 1e-12)
			near(t, "constraint", c.Constraints[0], w.Constraint, 1e-12)
			near(t, "x", c.Point[0], w.Point[0], 1e-12)
			near(t, "y", c.Point[1], w.Point[1], 1e-12)
		}
	}
}

// For several walls one case is accepted, its gradients balance, and no feasible point is lower.
func TestWallCases(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 7))
	touched := map[int]int{}
	for range 200 {
		p := theory.Problem{
			Center: [2]float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()},
			Scale:  [2]float64{0.3 + rng.Float64(), 0.3 + rng.Float64()},
		}
		walls := make([]theory.Wall, 3)
		for j := range walls { // the origin is feasible
			walls[j] = theory.Wall{Normal: [2]float64{rng.NormFloat64(), rng.NormFloat64()}, Offset: -0.2 - rng.Float64()}
		}
		cases := require.Value(p.WallCases(walls))(t)
		require.Must(t, len(cases) == 7, "%d cases", len(cases)) // three lines have no common point
		var found []theory.WallCase
		for _, c := range cases {
			g := p.Gradient(c.Point)
			for j, w := range walls {
				if c.Touched[j] {
					near(t, "h of a touched wall", w.G(c.Point), 0, 1e-6)
				} else if c.Multipliers[j] != 0 {
					t.Errorf("an ignored wall has the multiplier %g", c.Multipliers[j])
				}
				for k := range g {
					g[k] += c.Multipliers[j] * w.Normal[k]
				}
			}
			near(t, "gradient of the Lagrangian", math.Hypot(g[0], g[1]), 0, 1e-6)
			if c.Verdict == theory.Accepted {
				found = append(found, c)
			}
		}
		require.Must(t, len(found) == 1, "%+v has %d solutions under %v", p, len(found), walls)
		n := lists.Count(found[0].Touched, func(on bool) bool { return on })
		touched[n]++
		for range 500 {
			at := [2]float64{4 * rng.NormFloat64(), 4 * rng.NormFloat64()}
			allowed := true
			for _, w := range walls {
				allowed = allowed && w.G(at) <= 0
			}
			require.Check(t, !allowed || p.F(at) >= p.F(found[0].Point)-1e-9,
				"%v is lower than the solution %v", at, found[0].Point)
		}
	}
	require.Check(t, touched[0] != 0 && touched[1] != 0 && touched[2] != 0,
		"solutions by number of touched walls: %v; every number up to 2 is needed", touched)
}

func TestWallCasesOnParallelWalls(t *testing.T) {
	t.Parallel()
	p := theory.Problem{Center: [2]float64{3, 1}, Scale: [2]float64{1, 1}}
	cases, err := p.WallCases([]theory.Wall{{Normal: [2]float64{1, 0}, Offset: -1}, {Normal: [2]float64{2, 0}, Offset: -4}})
	require.Must(t, err == nil && len(cases) == 3,
		"%d cases, %v; the one that touches both has no place", len(cases), err)
	if c := cases[1]; c.Verdict != theory.Accepted || c.Point != [2]float64{1, 1} || c.Multipliers[0] != 4 {
		t.Errorf("the nearer wall: %+v", c)
	}
	c := cases[2]
	require.Check(t, c.Verdict == theory.Infeasible && c.Wall == 0, "the farther wall: %+v", c)
	far := theory.Problem{Center: [2]float64{-1, 0}, Scale: [2]float64{1, 1}}
	cases, err = far.WallCases([]theory.Wall{{Normal: [2]float64{1, 0}, Offset: -1}})
	require.Check(t, err == nil && cases[0].Verdict == theory.Accepted && cases[1].Verdict == theory.MultiplierSign && cases[1].Wall == 0,
		"a wall that need not push: %+v, %v", cases, err)
	// On the line of example 2 the multiplier balances the gradients; elsewhere f still slopes.
	p = theory.LagrangeExamples[1]
	lambda, slope := p.Balance([2]float64{-0.2, -0.4})
	near(t, "lambda", lambda, 0.4, 1e-12)
	near(t, "slope", slope, 0, 1e-12)
	p = theory.Problem{Center: [2]float64{0.3, -1}, Scale: [2]float64{2, 0.5}, Kind: theory.Equality, Normal: [2]float64{-1, 3}, Offset: 0.4}
	at := [2]float64{1, 0.2}
	_, slope = p.Balance(at)
	const h = 1e-6
	n := math.Hypot(p.Normal[0], p.Normal[1])
	along := [2]float64{h * p.Normal[1] / n, -h * p.Normal[0] / n}
	rise := (p.F([2]float64{at[0] + along[0], at[1] + along[1]}) - p.F([2]float64{at[0] - along[0], at[1] - along[1]})) / (2 * h)
	near(t, "slope along the line", slope, math.Abs(rise), 1e-8)
}
