package theory_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// The results derived by hand in the slides.
func TestLagrangeExamples(t *testing.T) {
	t.Parallel()
	at := [2]float64{-0.2, -0.4}
	line := theory.Case{OnLine: true, Point: at, Multiplier: 0.4, Objective: 0.2}
	rejected := line
	rejected.Multiplier, rejected.Verdict = -0.4, theory.MultiplierSign
	for i, want := range []theory.Solution{
		{Cases: []theory.Case{{}}},
		{Point: at, Multiplier: 0.4, Objective: 0.2, Saturated: true, Cases: []theory.Case{line}},
		{Point: at, Multiplier: 0.4, Objective: 0.2, Saturated: true, Cases: []theory.Case{{Constraint: 1, Verdict: theory.Infeasible}, line}},
		{Cases: []theory.Case{{Constraint: -1}, rejected}},
	} {
		got, err := theory.LagrangeExamples[i].Minimise()
		require.Equal(t, err, nil, "example %d", i+1)
		require.Equal(t, cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-15)), "", "example %d (-want +got)", i+1)
	}
	// With the minimum of f on the line both cases lead there, but only alpha = 0 is consistent.
	p := theory.Problem{Center: [2]float64{1, 1}, Scale: [2]float64{1, 2}, Kind: theory.Inequality, Normal: [2]float64{1, -1}}
	s := require.Value(p.Minimise())(t)
	require.Check(t, !s.Saturated && s.Point == p.Center && len(s.Cases) == 2 && s.Cases[1].Verdict == theory.MultiplierSign && s.Cases[1].Point == p.Center,
		"%+v", s)
}

// Projected gradient descent does not use multipliers.
func TestMinimiseAgainstDescent(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	saturated := 0
	for range 300 {
		p := theory.Problem{
			Center: [2]float64{rng.NormFloat64(), rng.NormFloat64()},
			Scale:  [2]float64{0.3 + rng.Float64(), 0.3 + rng.Float64()},
			Kind:   theory.ConstraintKind(rng.IntN(3)),
			Normal: [2]float64{rng.NormFloat64(), rng.NormFloat64()},
			Offset: rng.NormFloat64(),
		}
		got := require.Value(p.Minimise())(t)
		var v [2]float64
		for range 400 {
			step := 0.5 / max(p.Scale[0], p.Scale[1])
			for k := range v {
				v[k] -= step * 2 * p.Scale[k] * (v[k] - p.Center[k])
			}
			over := p.Normal[0]*v[0] + p.Normal[1]*v[1] + p.Offset
			if p.Kind == theory.Equality || p.Kind == theory.Inequality && over > 0 {
				square := p.Normal[0]*p.Normal[0] + p.Normal[1]*p.Normal[1]
				for k := range v {
					v[k] -= over / square * p.Normal[k]
				}
			}
		}
		for k := range v {
			near(t, "coordinate", got.Point[k], v[k], 1e-8)
		}
		near(t, "objective", got.Objective, p.F(v), 1e-8)
		accepted := 0
		for _, c := range got.Cases {
			near(t, "objective of a case", c.Objective, p.F(c.Point), 1e-9)
			if p.Kind != theory.Unconstrained {
				near(t, "constraint of a case", c.Constraint, p.G(c.Point), 1e-9)
			}
			for k := range v { // stationarity of the Lagrangian
				near(t, "gradient", 2*p.Scale[k]*(c.Point[k]-p.Center[k])+c.Multiplier*p.Normal[k], 0, 1e-9)
			}
			if c.Verdict == theory.Accepted {
				accepted++
			}
		}
		require.Must(t, accepted == 1, "%d cases accepted in %+v", accepted, got)
		if p.Kind == theory.Inequality {
			require.Must(t, got.Multiplier >= 0 && got.Saturated == (got.Multiplier > 0),
				"alpha = %g, saturated %t", got.Multiplier, got.Saturated)
			if got.Saturated {
				saturated++
			}
		}
	}
	require.Check(t, saturated != 0 && saturated != 300, "%d saturated problems: both kinds are wanted", saturated)
}
