package svm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Matrix is a symmetric M x M kernel matrix given row by row. That is all a solver needs
// to know of a kernel and of the objects it compares.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// What else a Matrix may be able to do is told by methods of its own, one for each of
// these. Without one the solver makes do with rows; strategies.go tells what each is
// worth.
type (
	// A definite matrix knows whether it is positive semidefinite. One that is not, or
	// does not say, gets results that are Local.
	definer interface{ Definite() bool }

	// A rounder has rows in single precision, for less than the rounding of Row costs.
	rounder interface{ Row32(dst []float32, i int) }

	// A subsetter is able to compute parts of rows: Subset is the matrix of some of the
	// points, in the order given.
	subsetter interface{ Subset(points []int) Matrix }

	// A multiplier has products without rows in between: AddProduct adds
	// sum_k w_k K_ij to dst[i], j = points[k], unless ctx ends.
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

// definite reports whether k says that it is positive semidefinite.
func definite(k Matrix) bool {
	d, ok := k.(definer)
	return ok && d.Definite()
}

// subset is the matrix of some of the points.
func subset(k Matrix, points []int) Matrix {
	if s, ok := k.(subsetter); ok {
		return s.Subset(points)
	}
	return &picked{whole: k, points: points, row: make([]float64, k.Len())}
}

// row32 writes row i in single precision.
func row32(k Matrix, dst []float32, i int) {
	if r, ok := k.(rounder); ok {
		r.Row32(dst, i)
		return
	}
	row := make([]float64, len(dst))
	k.Row(row, i)
	round(dst, row)
}

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

// picked is the matrix of some of the points, whose values are picked from whole rows.
type picked struct {
	whole  Matrix
	points []int
	row    []float64 // of whole, where that holds none; overwritten
}

// Len is the number of points.
func (p *picked) Len() int { return len(p.points) }

// Diag is that of the point.
func (p *picked) Diag(i int) float64 { return p.whole.Diag(p.points[i]) }

// Row picks.
func (p *picked) Row(dst []float64, i int) {
	row, dst := p.from(i), dst[:len(p.points)]
	for k, j := range p.points {
		dst[k] = row[j]
	}
}

// Row32 rounds what it picks.
func (p *picked) Row32(dst []float32, i int) {
	row, dst := p.from(i), dst[:len(p.points)]
	for k, j := range p.points {
		dst[k] = float32(row[j])
	}
}

// from is the row of whole to pick row i from.
func (p *picked) from(i int) []float64 {
	if t, ok := p.whole.(*table); ok {
		return t.double[p.points[i]]
	}
	p.whole.Row(p.row, p.points[i])
	return p.row
}

// Subset picks from the same rows.
func (p *picked) Subset(points []int) Matrix {
	s := &picked{whole: p.whole, points: make([]int, len(points)), row: p.row}
	for k, j := range points {
		s.points[k] = p.points[j]
	}
	return s
}
