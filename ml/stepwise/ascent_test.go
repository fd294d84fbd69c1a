package stepwise_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// TestNaiveAscent checks every update against the maximum in one alpha, and the end against the
// KKT conditions without the equality constraint.
func TestNaiveAscent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := clouds(random(rapid.Uint64().Draw(t, "seed")), rapid.IntRange(2, 10).Draw(t, "m"), 2)
		k := gram(x, "rbf")
		c := rapid.SampledFrom([]float64{0.1, 0.5, 2}).Draw(t, "C")
		order := rapid.SampledFrom([]stepwise.Order{stepwise.Cyclic, stepwise.Shuffled, stepwise.Descending}).Draw(t, "order")
		r := require.Value(stepwise.NaiveAscent(t.Context(), k, y, stepwise.AscentSettings{C: c, Order: order, Tol: 1e-6, MaxSteps: 20_000}))(t)
		for i := 1; i < r.Len(); i += 1 + r.Len()/10 {
			s := r.At(i)
			near(t, "dual", s.Dual, dual(k, y, alphas(s.Iterate)), 1e-9)
			trial := alphas(s.Iterate)
			require.Must(t, trial[s.Looked] == s.After, "alpha is %g, the step says %g", trial[s.Looked], s.After)
			for part := range 101 {
				trial[s.Looked] = c * float64(part) / 100
				d := dual(k, y, trial)
				require.Must(t, d <= s.Dual+1e-9, "step %d: alpha = %g would give %g, more than %g", i, trial[s.Looked], d, s.Dual)
			}
			require.Check(t, s.Dual >= r.At(i-1).Dual-1e-9, "step %d falls from %g to %g", i, r.At(i-1).Dual, s.Dual)
		}

		end := last(r)
		checkTable(t, &end.Iterate, k, c)
		if r.Status() == trace.IterationLimit { // near points make the ascent crawl along a ridge
			require.Check(t, least(t, k) < 0.01, "iteration limit, with %g as the smallest eigenvalue", least(t, k))
			return
		}
		require.Must(t, r.Status() == trace.Converged, "%s", r.Status())
		free, row := false, make([]float64, len(y))
		for i, p := range end.Points {
			k.Row(row, i)
			var margin float64 // without a bias
			for j, u := range end.U() {
				margin += y[i] * u * row[j]
			}
			switch {
			case p.Alpha == 0 && margin < 1-1.01e-6, p.Alpha == c && margin > 1+1.01e-6:
				t.Errorf("point %d: alpha %g, margin %g", i, p.Alpha, margin)
			case p.Alpha > 0 && p.Alpha < c:
				free = true
				near(t, "margin of a free point", margin, 1, 1.01e-6)
			}
		}
		if free {
			near(t, "bias", end.B, 0, 1.01e-6)
		}
		// Dropping a constraint cannot lower the maximum.
		want := optimum(t, k, y, c)
		require.Check(t, end.Dual >= want.Dual-1e-5, "dual %g below that of the right problem, %g", end.Dual, want.Dual)
	})
}

// TestNaiveAscentIsAnotherProblem has unbalanced classes, for which the constraint matters.
func TestNaiveAscentIsAnotherProblem(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(4, 2, []float64{1, 1, 2, 1, 1, 2, 4, 4})
	y := []float64{-1, -1, -1, 1}
	k := gram(x, "linear")
	r, err := stepwise.NaiveAscent(t.Context(), k, y, stepwise.AscentSettings{C: 1, Tol: 1e-9, MaxSteps: 10_000})
	require.Must(t, err == nil && r.Status() == trace.Converged, "%s, %v", r.Status(), err)
	best := require.Value(stepwise.Optimum(t.Context(), k, y, 1))(t)
	end := last(r)
	require.Check(t, math.Abs(end.Residual) >= 0.1 && end.Dual >= best.Dual+0.1 && math.Abs(best.Residual) <= 1e-9,
		"residual %g and %g, dual %g and %g", end.Residual, best.Residual, end.Dual, best.Dual)
	// The alpha of a point with K_ii = 0 goes to C.
	x = mat.NewDense(3, 2, []float64{0, 0, 1, 1, -1, -1})
	r, err = stepwise.NaiveAscent(t.Context(), gram(x, "linear"), []float64{1, 1, -1}, stepwise.AscentSettings{C: 7})
	require.Must(t, err == nil && r.Status() == trace.Converged, "%s, %v", r.Status(), err)
	end = last(r)
	near(t, "alpha in the origin", end.Points[0].Alpha, 7, 0)
	near(t, "dual", end.Dual, 7+0.25, 1e-9) // and 1/2 f(x) = 1 on the other two
}

func alphas(s stepwise.Iterate) []float64 {
	return lists.Map(s.Points, func(p stepwise.Point) float64 { return p.Alpha })
}
