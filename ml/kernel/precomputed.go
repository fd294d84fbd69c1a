package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// precomputed takes its values from the matrix in the data. It is not assumed to be positive
// semidefinite.
var precomputed = Entry{
	Name: "precomputed", Label: "Precomputed", Formula: "k(xᵢ, xⱼ) = Kᵢⱼ, as given", Takes: dataset.KindPrecomputed,
	Help:    "A kernel matrix computed by another program. Not assumed to be positive semidefinite.",
	compare: comparePrecomputed,
	self:    selfPrecomputed,
}

// columns selects the columns of the z_j, by their numbers, from the rows of the x_i.
type columns struct {
	k      *mat.Dense
	number []int // of z
}

func comparePrecomputed(_ context.Context, _ param.Values, x, z dataset.Objects) (comparison, error) {
	from, to := x.(*dataset.Precomputed), z.(*dataset.Precomputed)
	if have, want := from.Columns(), to.Columns(); have != want {
		return nil, fmt.Errorf("kernel precomputed needs %d kernel values in each row, not %d", want, have)
	}
	for _, number := range to.Number {
		if number < 1 || number > from.Columns() {
			return nil, fmt.Errorf("kernel precomputed: object %d is out of range: the rows have kernel values for %d objects", number, from.Columns())
		}
	}
	return columns{from.K, to.Number}, nil
}

func (c columns) row(dst []float64, i int) {
	values := c.k.RawRowView(i)
	for j := range dst {
		dst[j] = values[c.number[j]-1]
	}
}

func selfPrecomputed(_ context.Context, _ param.Values, x dataset.Objects) ([]float64, error) {
	p := x.(*dataset.Precomputed)
	v := make([]float64, p.Len())
	for i := range v {
		var known bool
		if v[i], known = p.Diag(i); !known {
			return nil, fmt.Errorf("row %d: the conformal map needs k(x, x): add it as a column called self or, in LIBSVM format, after the last index", i+1)
		}
	}
	return v, nil
}
