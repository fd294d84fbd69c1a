package svm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// unmerged is a Gram matrix without merging, solved from alpha = 0.
type unmerged struct{ *kernel.Gram }

func (u unmerged) Subset(points []int) Matrix { return unmerged{u.Gram.Subset(points).(*kernel.Gram)} }

func (unmerged) Merged(context.Context, []float64, []float64, int, float64) (Matrix, []int, float64) {
	return nil, nil, math.Inf(1)
}

// TestCoarse compares solutions with and without merged points.
func TestCoarse(t *testing.T) {
	t.Parallel()
	x, y := moons(3000, 0.3)
	for _, c := range []float64{0.5, 20} {
		k := kernel.NewGram(kernel.RBF(1), x)
		_, _, distance := k.Merged(t.Context(), y, ones(len(y)), oneOf, apart)
		require.Must(t, distance <= apart, "points are merged that are %g apart", distance)
		const tol = 1e-3
		got, want := train(t, k, y, Settings{C: c, Tol: tol}), train(t, unmerged{k}, y, Settings{C: c, Tol: tol})
		require.Check(t, got.Status == trace.Converged && got.KKTViolation <= tol,
			"C = %g: %s, violation %g", c, got.Status, got.KKTViolation)
		relative(t, "objective", got.Dual, want.Dual, 1e-5)
		sum := 0.0
		for i, a := range got.Alpha {
			require.Must(t, a >= 0 && a <= c, "C = %g: alpha[%d] = %g", c, i, a)
			sum += a * y[i]
		}
		require.Check(t, math.Abs(sum) <= 1e-8, "C = %g: sum of alpha y is %g", c, sum)
	}
}

// Every group of points keeps the sum of its u, and at most one of its points is free.
func TestSpread(t *testing.T) {
	t.Parallel()
	const groups, points, c = 50, 4, 3.0
	r := rand.New(rand.NewPCG(4, 1))
	fine, coarse := emptyState(groups*points, nil), emptyState(groups, nil)
	group := r.Perm(groups * points)
	for i := range group {
		group[i] %= groups
		j := group[i]
		coarse.y[j] = float64(1 - 2*(j%2))
		fine.y[i], fine.weight[i] = coarse.y[j], float64(r.IntN(4))/2
		coarse.weight[j] += fine.weight[i]
	}
	fine.bound(c)
	coarse.bound(c)
	for j := range groups {
		coarse.place(j, coarse.y[j]*c*coarse.weight[j]*[]float64{0, 1, r.Float64()}[r.IntN(3)])
	}
	fine.spread(coarse, group)
	sums, free := make([]float64, groups), make([]int, groups)
	for i, j := range group {
		u := fine.u[i]
		require.Must(t, u >= fine.lo(i) && u <= fine.hi(i), "u[%d] = %g of weight %g", i, u, fine.weight[i])
		sums[j] += u
		if fine.lo(i) < u && u < fine.hi(i) {
			free[j]++
		}
	}
	for j, sum := range sums {
		require.Near(t, sum, coarse.u[j], 1e-12, "sum of group %d", j)
		require.Check(t, free[j] <= 1, "%d points of group %d are free", free[j], j)
	}
}

// TestCoarseLimit checks that u is feasible for any iteration limit.
func TestCoarseLimit(t *testing.T) {
	t.Parallel()
	x, y := moons(2500, 0.3)
	k := kernel.NewGram(kernel.RBF(1), x)
	for _, limit := range []int{1, 100, 200} {
		res := require.Value(Train(t.Context(), k, y, Settings{C: 1, MaxIter: limit}))(t)
		sum := 0.0
		for i, a := range res.Alpha {
			require.Must(t, a >= 0 && a <= 1, "alpha[%d] = %g", i, a)
			sum += a * y[i]
		}
		require.Check(t, res.Status == trace.IterationLimit && math.Abs(sum) <= 1e-9,
			"limit %d: %s, sum of alpha y is %g", limit, res.Status, sum)
	}
	// After cancellation alpha, f and the objective agree.
	ctx, cancel := context.WithCancel(t.Context())
	ended := interrupted{kernel.NewGram(kernel.RBF(1), x), cancel}
	res, err := Train(ctx, ended, y, Settings{C: 1})
	require.Must(t, err == nil && res.Status == trace.Cancelled, "%v, %v", res, err)
	require.Check(t, res.Dual == 0 && res.SupportVectors == 0 && res.F[0] == res.B,
		"objective %g with %d support vectors, f %g, b %g", res.Dual, res.SupportVectors, res.F[0], res.B)
}

// interrupted ends ctx just before the solution for merged points is used.
type interrupted struct {
	*kernel.Gram
	cancel func()
}

func (k interrupted) AddProduct(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	k.cancel()
	return k.Gram.AddProduct(ctx, dst, points, w)
}

func (k interrupted) AddProduct32(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	k.cancel()
	return k.Gram.AddProduct32(ctx, dst, points, w)
}

func ones(n int) []float64 {
	v := slices.Repeat([]float64{1}, n)
	return v
}
