package svm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
)

// Matrix is a symmetric M x M kernel matrix, see package rows.
type Matrix = rows.Matrix

// What else a Matrix may be able to do is told by methods of its own: those that package
// rows asks for, and one for each of these. Without one the solver makes do with rows;
// strategies.go tells what each is worth.
type (
	// A multiplier has products without rows in between: AddProduct adds
	// sum_k w_k K_ij to dst[i], j = points[k], unless ctx ends. However it does that, the error
	// is to be as small as that of a sum of rounded values, so that the gap that follows from it
	// is that of all points.
	multiplier interface {
		AddProduct(ctx context.Context, dst []float64, points []int, w []float64) error
	}

	// A multiplier32 has products of values in single precision for less: as exact as
	// steps on rows in single precision are.
	multiplier32 interface {
		AddProduct32(ctx context.Context, dst []float64, points []int, w []float64) error
	}

	// A merger finds fewer points that stand for all, with the one that each point went
	// into and how far they are apart, see kernel.Gram.Merged; +Inf when points cannot be
	// merged.
	merger interface {
		Merged(ctx context.Context, y, w []float64, size int) (merged Matrix, group []int, apart float64)
	}
)

// addProduct adds sum_k w_k K_ij to dst[i], j = points[k], unless ctx ends.
func addProduct(ctx context.Context, k Matrix, dst []float64, points []int, w []float64) error {
	if p, ok := k.(multiplier); ok {
		return p.AddProduct(ctx, dst, points, w)
	}
	row := make([]float64, len(dst))
	for a, j := range points {
		if err := ctx.Err(); err != nil {
			return err
		}
		k.Row(row, j)
		floats.AddScaled(dst, w[a], row)
	}
	return nil
}

// addProduct32 is addProduct in single precision where that is faster.
func addProduct32(ctx context.Context, k Matrix, dst []float64, points []int, w []float64) error {
	if p, ok := k.(multiplier32); ok {
		return p.AddProduct32(ctx, dst, points, w)
	}
	return addProduct(ctx, k, dst, points, w)
}

// merged is the matrix of points that stand for all, if there is one.
func merged(ctx context.Context, k Matrix, y, w []float64, size int) (Matrix, []int, float64) {
	if m, ok := k.(merger); ok {
		return m.Merged(ctx, y, w, size)
	}
	return nil, nil, math.Inf(1)
}
