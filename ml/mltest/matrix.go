package mltest

import (
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

// Len is the number of points.
func (k Matrix) Len() int { return k.RawMatrix().Rows }

// Diag is the element i, i.
func (k Matrix) Diag(i int) float64 { return k.At(i, i) }

// Row copies row i into dst.
func (k Matrix) Row(dst []float64, i int) { copy(dst, k.RawRowView(i)) }

// NewMatrix returns the matrix of n points with the given elements by rows, all 0 without any.
func NewMatrix(n int, elements ...float64) Matrix { return Matrix{mat.NewDense(n, n, elements)} }

// Symmetric returns the matrix of n points with the elements at(i, j), j <= i.
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

// Table reads a file of data for OpenShared: the columns so named, without names all but the last, and
// the labels, which are in the last.
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

// Standardise shifts and scales each column to mean 0 and population deviation 1; one of equal values is
// only shifted.
func Standardise(x *mat.Dense) {
	m, d := x.Dims()
	column := make([]float64, m)
	for j := range d {
		mat.Col(column, j, x)
		mean, deviation := stat.PopMeanStdDev(column, nil)
		if deviation == 0 {
			deviation = 1
		}
		for i, v := range column {
			x.Set(i, j, (v-mean)/deviation)
		}
	}
}
