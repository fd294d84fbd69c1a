package mltest

import (
	"cmp"
	"encoding/csv"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/mltest/require"
)

// Matrix is a kernel matrix in memory.
type Matrix struct{ *mat.Dense }

// Len returns the number of points.
func (k Matrix) Len() int { return k.RawMatrix().Rows }

// Diag returns the element i, i.
func (k Matrix) Diag(i int) float64 { return k.At(i, i) }

// Row copies row i into dst.
func (k Matrix) Row(dst []float64, i int) { copy(dst, k.RawRowView(i)) }

// NewMatrix returns an n x n matrix with the given elements, row by row; without any, all are 0.
func NewMatrix(n int, elements ...float64) Matrix { return Matrix{mat.NewDense(n, n, elements)} }

// Symmetric returns a symmetric n x n matrix with the elements at(i, j) for j <= i.
func Symmetric(n int, at func(i, j int) float64) Matrix {
	k := NewMatrix(n)
	for i := range n {
		for j := range i + 1 {
			v := at(i, j)
			k.Set(i, j, v)
			k.Set(j, i, v)
		}
	}
	return k
}

// Table reads a CSV file by OpenShared: the named columns, or all but the last if none is named, and
// the labels in the last column.
func Table(t testing.TB, name string, columns ...string) (x *mat.Dense, labels []string) {
	t.Helper()
	records := require.Value(csv.NewReader(OpenShared(t, "data", name)).ReadAll())(t)
	header, records := records[0], records[1:]
	label := len(header) - 1
	if len(columns) == 0 {
		columns = header[:label]
	}
	x = mat.NewDense(len(records), len(columns), nil)
	for i, r := range records {
		for j, c := range columns {
			x.Set(i, j, require.Value(strconv.ParseFloat(r[slices.Index(header, c)], 64))(t))
		}
		labels = append(labels, r[label])
	}
	return x, labels
}

// TwoClasses is Table with 1 for a positive label and -1 for any other.
func TwoClasses(t testing.TB, name, positive string) (x *mat.Dense, y []float64) {
	t.Helper()
	x, labels := Table(t, name)
	for _, label := range labels {
		y = append(y, -1)
		if label == positive {
			y[len(y)-1] = 1
		}
	}
	return x, y
}

// Standardise shifts and scales each column to mean 0 and population standard deviation 1. A
// constant column is only shifted.
func Standardise(x *mat.Dense) {
	m, d := x.Dims()
	column := make([]float64, m)
	for j := range d {
		mat.Col(column, j, x)
		mean, deviation := stat.PopMeanStdDev(column, nil)
		deviation = cmp.Or(deviation, 1)
		for i, v := range column {
			x.Set(i, j, (v-mean)/deviation)
		}
	}
}
