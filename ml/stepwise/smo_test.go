package stepwise_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// TestSMO reaches the optimum without lowering the dual or leaving the feasible set.
func TestSMO(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), rapid.IntRange(2, 30).Draw(t, "m"), 1.5)
		k := gram(x, rapid.SampledFrom([]string{"linear", "rbf"}).Draw(t, "kernel"))
		c := rapid.SampledFrom([]float64{0.01, 1, 20}).Draw(t, "C")
		selection := rapid.SampledFrom([]stepwise.Selection{stepwise.MaximalViolation, stepwise.SecondOrder}).Draw(t, "selection")
		r, err := stepwise.SMO(t.Context(), k, y, stepwise.SMOSettings{C: c, Selection: selection, Tol: 1e-9, MaxSteps: 200_000})
		end := last(r)
		if err == nil && r.Status() == trace.IterationLimit && end.Violation < 1e-4 {
			return // slow zigzagging on some flat problems, correctly reported
		}
		require.Must(t, err == nil && r.Status() == trace.Converged, "%v, %v", r.Status(), err)
		want := optimum(t, k, y, c)
		near(t, "dual", end.Dual, want.Dual, 1e-8)
		near(t, "primal", end.Primal, want.Primal, 1e-7)
		require.Check(t, end.Violation <= 1e-9, "violation %g", end.Violation)
		for i := 0; i < r.Len(); i += 1 + r.Len()/50 {
			s := r.At(i)
			checkTable(t, &s.Iterate, k, c)
			require.Check(t, math.Abs(s.Residual) <= 1e-10*c && s.Gap >= -1e-9,
				"step %d: residual %g, gap %g", i, s.Residual, s.Gap)
			if i > 0 {
				near(t, "gain", s.Dual-r.At(i-1).Dual, s.Pair.Gain, 1e-9)
				require.Check(t, s.Pair.Gain >= 0, "step %d loses %g", i, -s.Pair.Gain)
			}
		}
	})
}

// Steps on pairs are best on a grid over the segment, whose ends need no formulas for L and H.
func TestPair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), rapid.IntRange(2, 8).Draw(t, "m"), 1)
		if rapid.Bool().Draw(t, "copy") {
			x.SetRow(0, x.RawRowView(1)) // of the other class
		}
		k := gram(x, rapid.SampledFrom([]string{"linear", "rbf"}).Draw(t, "kernel"))
		c := rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "C")
		r := require.Value(stepwise.SMO(t.Context(), k, y, stepwise.SMOSettings{C: c, MaxSteps: 15}))(t)
		for n := 1; n < r.Len(); n++ {
			before, s := r.At(n-1), r.At(n)
			p, alpha := s.Pair, alphas(before.Iterate)
			i, j := p.I, p.J
			require.Must(t, p.BeforeI == alpha[i] && p.BeforeJ == alpha[j] && p.AlphaI == s.Points[i].Alpha && p.AlphaJ == s.Points[j].Alpha,
				"step %d: the pair %+v is not what the states say", n, p)
			for q := range alpha {
				require.Must(t, q == i || q == j || alpha[q] == s.Points[q].Alpha, "step %d changes point %d", n, q)
			}
			partner := func(aj float64) float64 { return alpha[i] - y[i]*y[j]*(aj-alpha[j]) }
			inside := func(aj float64) bool {
				const rounding = 1e-12
				ai := partner(aj)
				return -rounding*c <= aj && aj <= c*(1+rounding) && -rounding*c <= ai && ai <= c*(1+rounding)
			}
			const step = 1e-3
			require.Check(t, inside(p.L) && inside(p.H) && !inside(p.L-step*c) && !inside(p.H+step*c),
				"step %d: the segment is not [%g, %g]", n, p.L, p.H)
			trial := alphas(before.Iterate)
			best := math.Inf(-1)
			for part := range 1001 {
				trial[j] = p.L + (p.H-p.L)*float64(part)/1000
				trial[i] = partner(trial[j])
				best = max(best, dual(k, y, trial))
			}
			// The grid misses an interior maximum by half a cell at most.
			miss := p.Curvature * math.Pow((p.H-p.L)/2000, 2) / 2
			after := dual(k, y, alphas(s.Iterate))
			require.Check(t, after >= best-1e-9 && after <= best+miss+1e-9, "step %d: the dual is %.12g, on the grid %.12g", n, after, best)
			two := stepwise.NewPairDual(k, before.Iterate, c, i, j)
			own := two.Step(p.BeforeI, p.BeforeJ)
			require.Check(t, p.Curvature < 1e-6 || math.Abs(own.AlphaI-p.AlphaI)+math.Abs(own.AlphaJ-p.AlphaJ)+math.Abs(own.L-p.L)+math.Abs(own.H-p.H) <= 1e-9*(1+c),
				"step %d: %+v, by the dual of the pair %+v", n, p, own)
			near(t, "gain by the dual of the pair", two.At(p.AlphaI, p.AlphaJ)-two.At(p.BeforeI, p.BeforeJ), p.Gain, 1e-9)
			near(t, "alpha_i on the line", two.First(p.BeforeI, p.BeforeJ, p.AlphaJ), p.AlphaI, 1e-9)
			near(t, "alpha clipped", p.AlphaJ, min(max(p.Unclipped, p.L), p.H), 0)
			// The selection: largest and smallest gradient y - Ku = y - f + b.
			for q, point := range before.Points {
				g := point.Y - point.F + before.B
				up := point.Y > 0 && point.Alpha < c || point.Y < 0 && point.Alpha > 0
				low := point.Y < 0 && point.Alpha < c || point.Y > 0 && point.Alpha > 0
				require.Check(t, (!up || g <= before.High+1e-9) && (!low || g >= before.Low-1e-9),
					"step %d: point %d has the gradient %g beyond %g, %g", n, q, g, before.High, before.Low)
			}
			near(t, "gradient of i", y[i]-before.Points[i].F+before.B, before.High, 1e-9)
			near(t, "gradient of j", y[j]-before.Points[j].F+before.B, before.Low, 1e-9)
			near(t, "b", before.B, (before.High+before.Low)/2, 1e-12)
		}
	})
}

// TestSecondOrder compares the partner with all others.
func TestSecondOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), 10, 1)
		k, c := gram(x, "rbf"), 2.0
		r := require.Value(stepwise.SMO(t.Context(), k, y, stepwise.SMOSettings{C: c, Selection: stepwise.SecondOrder, MaxSteps: 15}))(t)
		row := make([]float64, len(y))
		for n := 1; n < r.Len(); n++ {
			before, p := r.At(n-1), r.At(n).Pair
			k.Row(row, p.I)
			promise := func(q int) float64 {
				g := before.High - (y[q] - before.Points[q].F + before.B)
				return max(0, g) * max(0, g) / (2 - 2*row[q]) // K_qq = 1
			}
			for q, point := range before.Points {
				low := point.Y < 0 && point.Alpha < c || point.Y > 0 && point.Alpha > 0
				require.Check(t, q == p.I || !low || promise(q) <= promise(p.J)*(1+1e-9),
					"step %d: point %d promises %g, the partner %d %g", n, q, promise(q), p.J, promise(p.J))
			}
		}
	})
}

// TestSMOIndefinite trains with an indefinite kernel.
func TestSMOIndefinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), 12, 1)
		r, err := stepwise.SMO(t.Context(), gram(x, "sigmoid"), y, stepwise.SMOSettings{C: 5, MaxSteps: 5000})
		require.Must(t, err == nil && r.Status() == trace.Converged, "%s, %v", r.Status(), err)
		for i := 1; i < r.Len(); i++ {
			p := r.At(i).Pair
			require.Must(t, p.Gain >= 0 && (p.Curvature <= 0) == (p.Eta == 1e-12) && (p.Curvature <= 0 || p.Eta == p.Curvature),
				"step %d: %+v", i, p)
			near(t, "gain", r.At(i).Dual-r.At(i-1).Dual, p.Gain, 1e-9)
		}
	})
}

// If the dual is convex or linear along the line, the step goes to the better end.
func TestPairDualGuard(t *testing.T) {
	t.Parallel()
	for _, k12 := range []float64{1, 1.2, 1.5} {
		for _, y2 := range []float64{-1, 1} {
			for _, start := range [][2]float64{{0.1, 0.35}, {0.8, 0.3}, {0.5, 0.5}} {
				p := stepwise.PairDual{Y1: 1, Y2: y2, K11: 1, K22: 1, K12: k12, H1: 0.75, H2: 0.2, C: 1}
				s := p.Step(start[0], start[1])
				now := p.At(start[0], start[1])
				end := p.At(s.AlphaI, s.AlphaJ)
				require.Check(t, (s.AlphaJ == s.L || s.AlphaJ == s.H) && end >= now,
					"K12 = %v, y2 = %v from %v: to %v on [%v, %v], dual from %v to %v", k12, y2, start, s.AlphaJ, s.L, s.H, now, end)
				low, high := p.Ends(start[0], start[1])
				require.Check(t, low == s.L && high == s.H, "ends %v and %v, the step has %v and %v", low, high, s.L, s.H)
			}
		}
	}
}
