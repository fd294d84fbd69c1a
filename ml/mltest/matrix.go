package mltest

import (
	"cmp"
	"encoding/csv"
	"math/rand/v2"
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

// TwoClasses reads a CSV file by OpenShared: numbers, and in the last column labels, of which a
// positive one is 1 and any other -1.
func TwoClasses(t testing.TB, name, positive string) (x *mat.Dense, y []float64) {
	t.Helper()
	records := require.Value(csv.NewReader(OpenShared(t, "data", name)).ReadAll())(t)[1:]
	label := len(records[0]) - 1
	x = mat.NewDense(len(records), label, nil)
	for i, r := range records {
		for j, text := range r[:label] {
			x.Set(i, j, require.Value(strconv.ParseFloat(text, 64))(t))
		}
		y = append(y, -1)
		if r[label] == positive {
			y[i] = 1
		}
	}
	return x, y
}

// Normal returns an n x d matrix of normal deviates, drawn row by row.
func Normal(r *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(int, int, float64) float64 { return r.NormFloat64() }, x)
	return x
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
