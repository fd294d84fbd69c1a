package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
)

// Matrix is a symmetric M x M kernel matrix given row by row. Its methods may be
// called from several goroutines at once.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // writes row i into dst, which has length M
}

// GramOf returns the kernel matrix of objects that are no vectors, which have NewGram.
// It reports objects that k does not take.
func GramOf(k Kernel, x dataset.Objects) (Matrix, error) {
	values, err := Cross(k, x, x)
	if err != nil {
		return nil, err
	}
	return held{values}, nil
}

// Cross returns the values k(x_i, z_j) for objects that are no vectors, which have
// Sum. It reports objects that k does not take.
func Cross(k Kernel, x, z dataset.Objects) (*mat.Dense, error) {
	row, err := takes(k, x, z)
	if err != nil {
		return nil, err
	}
	return row.cross(k.Values, x, z)
}

// Self returns the values k(x_i, x_i) for objects that are no vectors. It reports
// objects that k does not take, and values that are not known.
func Self(k Kernel, x dataset.Objects) ([]float64, error) {
	row, err := takes(k, x)
	if err != nil {
		return nil, err
	}
	return row.self(k.Values, x)
}

// takes returns the row of k if it takes the objects.
func takes(k Kernel, objects ...dataset.Objects) (Entry, error) {
	row, err := Lookup(k.Name)
	if err != nil {
		return row, err
	}
	for _, o := range objects {
		if o.Kind() != row.Takes || row.cross == nil {
			return row, fmt.Errorf("kernel %s takes %s, not %s", row.Name, row.Takes, o.Kind())
		}
	}
	return row, nil
}

// Scaled returns the matrix with entries c_i c_j K_ij. c (length M) is kept.
func Scaled(k Matrix, c []float64) Matrix {
	if g, ok := k.(*Gram); ok {
		return g.Scaled(c)
	}
	return scaled{k, c}
}

// Subset returns the matrix of some of the objects, in the order given.
func Subset(k Matrix, points []int) Matrix {
	switch k := k.(type) {
	case *Gram:
		return k.Subset(points)
	case scaled:
		c := make([]float64, len(points))
		for a, i := range points {
			c[a] = k.c[i]
		}
		return scaled{Subset(k.Matrix, points), c}
	}
	values := mat.NewDense(len(points), len(points), nil)
	row := make([]float64, k.Len())
	for a, i := range points {
		k.Row(row, i)
		for b, j := range points {
			values.Set(a, b, row[j])
		}
	}
	return held{values}
}

// held is a matrix that is there whole.
type held struct{ values *mat.Dense }

func (h held) Len() int                 { return h.values.RawMatrix().Rows }
func (h held) Diag(i int) float64       { return h.values.At(i, i) }
func (h held) Row(dst []float64, i int) { copy(dst, h.values.RawRowView(i)) }

type scaled struct {
	Matrix
	c []float64
}

func (s scaled) Diag(i int) float64 { return s.c[i] * s.c[i] * s.Matrix.Diag(i) }

func (s scaled) Row(dst []float64, i int) {
	s.Matrix.Row(dst, i)
	for j, c := range s.c {
		dst[j] *= s.c[i] * c
	}
}
