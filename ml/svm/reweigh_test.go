package svm

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// TestReweigh compares a training on weighted points, warm-started from the alphas of all points,
// with a training on repeated points from scratch.
func TestReweigh(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, kern, y, _ := problem(t)
		m := len(y)
		c := rapid.SampledFrom([]float64{0.01, 0.3, 1, 10, 300}).Draw(t, "C")
		weight := make([]float64, m)
		var often []int
		for i := range weight {
			n := rapid.SampledFrom([]int{0, 1, 1, 2, 3}).Draw(t, "weight")
			weight[i] = float64(n)
			for range n {
				often = append(often, i)
			}
		}
		repeated := make([]float64, len(often))
		sides := map[float64]bool{}
		for a, i := range often {
			repeated[a] = y[i]
			sides[y[i]] = true
		}
		k := kernel.NewGram(kern, x)
		s := Settings{C: c, Tol: 1e-6}
		base, err := Train(t.Context(), k, y, s)
		if err != nil {
			t.Skip(err)
		}
		got, err := Reweigh(t.Context(), k, y, base.Alpha, weight, s)
		if len(sides) < 2 {
			require.Must(t, err != nil, "a class has no weight, and there is no error")
			return
		}
		if HasPath(k) != nil {
			require.Must(t, err != nil, "an indefinite kernel is not refused")
			return
		}
		require.NoError(t, err)
		rest := mat.NewDense(len(often), x.RawMatrix().Cols, nil)
		for a, i := range often {
			rest.SetRow(a, x.RawRowView(i))
		}
		want := require.Value(Train(t.Context(), kernel.NewGram(kern, rest), repeated, s))(t)
		if got.Status != trace.Converged || want.Status != trace.Converged {
			return // rounding is tested elsewhere
		}
		require.Near(t, got.Dual, want.Dual, 1e-5*max(1, math.Abs(want.Primal)), "objective, and with repeated points")
		require.Check(t, math.Abs(got.Primal-want.Primal) <= 1e-5*max(1, math.Abs(want.Primal)) && got.RelativeGap <= 1e-6,
			"primal %.9g, of repeated points %.9g; slack %.9g and %.9g; relative gap %g", got.Primal, want.Primal, got.SlackSum, want.SlackSum, got.RelativeGap)
		sum := 0.0
		for i, a := range got.Alpha {
			sum += a * y[i]
			require.Check(t, a >= 0 && a <= c*weight[i]*(1+1e-12), "alpha %d is %g, its bound %g", i, a, c*weight[i])
		}
		require.Check(t, math.Abs(sum) <= 1e-9*max(1, c)*float64(m), "the sum of alpha y is %g", sum)
	})
}

// A start at the solution needs no steps, even with points at their bound.
func TestReweighStartsWarm(t *testing.T) {
	t.Parallel()
	x, y := moons(120, 0.3)
	k := kernel.NewGram(kernel.RBF(2), x)
	s := Settings{C: 1, Tol: 1e-4}
	base := require.Value(Train(t.Context(), k, y, s))(t)
	one := slices.Repeat([]float64{1}, len(y))
	same, err := Reweigh(t.Context(), k, y, base.Alpha, one, s)
	require.Check(t, err == nil && same.Iterations == 0, "%d steps from the solution, %v", same.Iterations, err)
	cold, warm := 0, 0
	for i, a := range base.Alpha {
		if a == 0 {
			continue
		}
		one[i] = 0
		w := require.Value(Reweigh(t.Context(), k, y, base.Alpha, one, s))(t)
		c := require.Value(HeldOut(t.Context(), k, y, []int{i}, []float64{1}, s))(t)
		for j := range w.F {
			require.Near(t, w.F[j], c[0].F[j], 0.01, "without %d, f of %d, and from nothing", i, j)
		}
		warm, cold = warm+w.Iterations, cold+c[0].Iterations
		one[i] = 1
	}
	require.Check(t, warm < cold, "%d steps from the solution before, %d from nothing", warm, cold)
}
