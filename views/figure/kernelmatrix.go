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

// KernelMatrix shows the values of a kernel among objects that are no vectors as a map,
// with those of a class side by side, or by rising value; of many objects some. d are the data
// that c was made of. Size, theme and whether labels are values come from look.
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
