package figure

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// KernelMatrix shows the kernel values between objects that are not vectors as a map, ordered by
// class or by target; of many objects it shows some. d holds the data that c was computed from.
// look gives size and theme, and whether labels are numbers.
func KernelMatrix(c *ml.Compared, d *dataset.Data, look Scene) (*Picture, error) {
	m := Matrix{X: "object", Y: "object", Name: "k", Values: c.Values, ClassNames: d.Classes}
	if n := len(c.Rows); n < c.Of {
		m.X = fmt.Sprintf("object, %d of %d", n, c.Of)
	}
	m.Dark, m.Grey, m.Width, m.Height = look.Dark, look.Grey, look.Width, look.Height
	if look.Values {
		values, err := d.Values()
		if err != nil {
			return nil, err
		}
		m.X, m.Y = m.X+", by rising "+d.Label, "object, by rising "+d.Label
		order := dataset.Indices(len(c.Rows))
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[c.Rows[a]], values[c.Rows[b]]) })
		sorted := mat.NewDense(len(order), len(order), nil)
		sorted.Apply(func(a, b int, _ float64) float64 { return c.Values.At(order[a], order[b]) }, sorted)
		m.Values = sorted
		return m.Picture()
	}
	m.Classes = lists.At(d.Y, c.Rows)
	return m.Picture()
}
