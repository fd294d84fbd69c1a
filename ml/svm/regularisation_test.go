package svm

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// For two points on a line, at 0 and d, alpha is min(C, 2/d²), so both leave the bound there. A
// third point far beyond changes nothing except that it is outside.
func TestRegulariseClosedForm(t *testing.T) {
	t.Parallel()
	const d = 0.5
	x := mat.NewDense(3, 1, []float64{0, d, 3})
	r, err := Regularise(t.Context(), kernel.NewGram(kernel.Linear(), x), []float64{-1, 1, 1}, []int{2}, []float64{0.1, 1, 10, 100}, Settings{})
	require.NoError(t, err)
	require.Must(t, len(r.Entries) == 2, "%+v", r.Entries)
	for i, e := range r.Entries {
		if want := 2 / d / d; e.Point != i || e.From != Bounded || e.To != Free || !(e.Low <= want && want <= e.High) || e.High/e.Low > 1.021 {
			t.Errorf("%+v, want one about %g", e, want)
		}
	}
	for a, c := range r.C {
		if want := math.Min(c, 2/d/d); math.Abs(r.Results[a].Alpha[0]-want) > 1e-5 || r.Results[a].Alpha[2] != 0 {
			t.Errorf("C = %g: alpha %v, want %g", c, r.Results[a].Alpha, want)
		}
	}
}

// Solutions equal separate trainings; alpha is linear in C between entry points.
func TestRegulariseIsPiecewiseLinear(t *testing.T) {
	t.Parallel()
	x, y := moons(60, 0.3)
	k := kernel.NewGram(kernel.RBF(2), x)
	var cs []float64
	for e := -2.0; e <= 2; e += 0.25 {
		cs = append(cs, math.Pow(10, e))
	}
	held := []int{5, 30}
	r := require.Value(Regularise(t.Context(), k, y, held, cs, Settings{}))(t)
	require.Must(t, slices.IsSorted(r.C) && len(r.Entries) >= 20 && len(r.C) == len(r.Results),
		"%d entries at %v", len(r.Entries), r.C)
	for _, c := range cs {
		require.Check(t, slices.Contains(r.C, c), "C = %g is missing", c)
	}
	rest := others(len(y), held)
	yr := lists.At(y, rest)
	kinks := make(map[float64]bool) // lower ends of intervals with an entry point
	for _, e := range r.Entries {
		kinks[e.Low] = true
		require.Check(t, !slices.Contains(held, e.Point) && e.High/e.Low <= 1.021, "%+v", e)
	}
	straight := 0
	for a := range len(r.C) - 1 {
		if kinks[r.C[a]] {
			continue
		}
		straight++
		mid := (r.C[a] + r.C[a+1]) / 2
		one := train(t, k.Subset(rest), yr, Settings{C: mid, Tol: 1e-8})
		for b, i := range rest {
			want := (r.Results[a].Alpha[i] + r.Results[a+1].Alpha[i]) / 2
			require.Near(t, one.Alpha[b], want, 1e-3*mid, "C = %g: alpha of point %d on the line", mid, i)
		}
	}
	require.Check(t, straight >= 5, "only %d places without an entry point", straight)
}

func TestRegulariseRefuses(t *testing.T) {
	t.Parallel()
	x, y := moons(20, 0.3)
	_, err := Regularise(t.Context(), kernel.NewGram(kernel.Sigmoid(1, -1), x), y, nil, []float64{1, 10}, Settings{})
	require.Check(t, err != nil, "an indefinite kernel has a path")
	ctx := mltest.Ended()
	_, err = Regularise(ctx, kernel.NewGram(kernel.RBF(1), x), y, nil, []float64{1, 10}, Settings{})
	require.Check(t, errors.Is(err, context.Canceled), "%v", err)
}
