package svm

import (
	"context"
	"math"
)

// Matrix is a symmetric M x M kernel matrix given row by row.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// Fast is a Matrix that can do more than give rows, which Train makes use of.
type Fast interface {
	Matrix
	// Row32 is Row rounded to single precision.
	Row32(dst []float32, i int)
	// Subset is the matrix of some of the points.
	Subset(points []int) Fast
	// AddProduct adds sum_k w_k K_ij to dst[i], j = points[k], unless ctx ends.
	AddProduct(ctx context.Context, dst []float64, points []int, w []float64) error
	// Merged is the matrix of fewer points that stand for all, with the one that
	// each point went into and how far they are apart, see kernel.Gram.Merged; +Inf
	// when points cannot be merged.
	Merged(ctx context.Context, y, w []float64, size int) (merged Fast, group []int, apart float64)
}

// fast returns k as it is when it can do it all.
func fast(k Matrix) Fast {
	if f, ok := k.(Fast); ok {
		return f
	}
	return &rowwise{Matrix: k}
}

// rowwise is what can be done with rows only. Subsets of it pick from whole rows.
type rowwise struct {
	Matrix
	points []int // nil: all
	row    []float64
}

func (r *rowwise) Len() int {
	if r.points == nil {
		return r.Matrix.Len()
	}
	return len(r.points)
}

func (r *rowwise) Diag(i int) float64 {
	if r.points == nil {
		return r.Matrix.Diag(i)
	}
	return r.Matrix.Diag(r.points[i])
}

func (r *rowwise) Row(dst []float64, i int) {
	if r.points == nil {
		r.Matrix.Row(dst, i)
		return
	}
	row := r.whole(r.points[i])
	for k, j := range r.points {
		dst[k] = row[j]
	}
}

// whole returns row i of all points, in memory that is used again.
func (r *rowwise) whole(i int) []float64 {
	if r.row == nil {
		r.row = make([]float64, r.Matrix.Len())
	}
	r.Matrix.Row(r.row, i)
	return r.row
}

func (r *rowwise) Row32(dst []float32, i int) {
	if r.points == nil {
		for j, v := range r.whole(i) {
			dst[j] = float32(v)
		}
		return
	}
	row := r.whole(r.points[i])
	for k, j := range r.points {
		dst[k] = float32(row[j])
	}
}

func (r *rowwise) Subset(points []int) Fast {
	s := &rowwise{Matrix: r.Matrix, points: make([]int, len(points)), row: r.row}
	for k, j := range points {
		s.points[k] = j
		if r.points != nil {
			s.points[k] = r.points[j]
		}
	}
	return s
}

func (r *rowwise) Merged(context.Context, []float64, []float64, int) (Fast, []int, float64) {
	return nil, nil, math.Inf(1)
}

func (r *rowwise) AddProduct(ctx context.Context, dst []float64, points []int, w []float64) error {
	row := make([]float64, len(dst))
	for k, j := range points {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.Row(row, j)
		plainAddScaled(dst, w[k], row)
	}
	return nil
}
