package figure

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
)

// KernelMatrix shows data that are the values of a kernel as a map, with the objects
// of a class side by side. Size and theme are those of look.
func KernelMatrix(d *dataset.Data, look Scene) (*Picture, error) {
	p, ok := d.Objects.(*dataset.Precomputed)
	if !ok {
		return nil, errors.New("picture: the data are no values of a kernel; Scatter draws points")
	}
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return d.Y[i] - d.Y[j] })
	values := mat.NewDense(len(order), len(order), nil)
	m := Matrix{X: "object", Y: "object", Name: "k", Values: values, ClassNames: d.Classes}
	m.Dark, m.Width, m.Height = look.Dark, look.Width, look.Height
	for a, i := range order {
		m.Classes = append(m.Classes, d.Y[i])
		for b, j := range order {
			values.Set(a, b, p.K.At(i, p.Number[j]-1))
		}
	}
	return m.Picture()
}
