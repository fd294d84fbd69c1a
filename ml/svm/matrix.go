package svm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Matrix is a symmetric M x M kernel matrix, see package rows.
type Matrix = rows.Matrix

// Optional methods of a Matrix, besides those of package rows. If one is missing, the solver
// falls back on rows; strategies.go lists which strategy uses which method.
type (
	// multiplier computes products without whole rows: AddProduct adds sum_k w_k K_ij to dst[i],
	// j = points[k], unless ctx ends, and returns its work in kernel values. Its rounding error must
	// be no larger than that of a sum of rounded values, because the duality gap over all points is
	// computed from it.
	multiplier interface {
		AddProduct(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error)
	}

	// multiplier32 computes products cheaply in single precision, as accurately as steps on rows
	// in single precision.
	multiplier32 interface {
		AddProduct32(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error)
	}

	// tiler computes parts of m rows, one after the other: Tile writes K_ij for the rows from i and
	// the len(dst)/m columns from j, a multiple of 128. Columns is the number of columns of a point,
	// to which the time of a kernel value is proportional.
	tiler interface {
		Tile(dst []float64, i, j, m int)
		Columns() int
	}

	// merger merges points into fewer representatives. Merged returns their matrix, the
	// representative of each point and the distance of points from theirs, see kernel.Gram.Merged.
	// If the distance exceeds most, as +Inf does, there is no matrix.
	merger interface {
		Merged(ctx context.Context, y, w []float64, size int, most float64) (merged Matrix, group []int, apart float64)
	}
)

// addProduct adds sum_k w_k K_ij to dst[i], j = points[k], unless ctx ends, and returns its work.
func addProduct(ctx context.Context, k Matrix, dst []float64, points []int, w []float64) (work int, err error) {
	if p, ok := k.(multiplier); ok {
		return p.AddProduct(ctx, dst, points, w)
	}
	row := make([]float64, len(dst))
	for a, j := range points {
		if err := ctx.Err(); err != nil {
			return a * len(row), err
		}
		k.Row(row, j)
		floats.AddScaled(dst, w[a], row)
	}
	return len(points) * len(row), nil
}

// addHeld is addProduct from padded rows in memory, which cost half as much as computed ones.
func addHeld[T rows.Real](ctx context.Context, row func(i int) []T, dst []float64, points []int, w []float64) (work int, err error) {
	total := make([]float64, rows.Padded(len(dst)))
	copy(total, dst)
	for k, j := range points {
		if k*len(dst)%trace.LookEvery < len(dst) && ctx.Err() != nil {
			return k * len(dst) / 2, ctx.Err()
		}
		rows.AddScaled(total, w[k], row(j))
	}
	copy(dst, total)
	return len(points) * len(dst) / 2, ctx.Err()
}

// addProduct32 is addProduct in single precision if the matrix supports it.
func addProduct32(ctx context.Context, k Matrix, dst []float64, points []int, w []float64) (work int, err error) {
	if p, ok := k.(multiplier32); ok {
		return p.AddProduct32(ctx, dst, points, w)
	}
	return addProduct(ctx, k, dst, points, w)
}

// merged is Merged of k; the distance is +Inf if k cannot merge points.
func merged(ctx context.Context, k Matrix, y, w []float64, size int, most float64) (Matrix, []int, float64) {
	if m, ok := k.(merger); ok {
		return m.Merged(ctx, y, w, size, most)
	}
	return nil, nil, math.Inf(1)
}
