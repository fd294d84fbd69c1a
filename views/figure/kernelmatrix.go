package figure

import (
	"fmt"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// KernelMatrix shows the values of a kernel among objects that are no vectors as a map,
// with those of a class side by side; of many objects some of every class. d are the data
// that c was made of. Size and theme are those of look.
func KernelMatrix(c *ml.Compared, d *dataset.Data, look Scene) (*Picture, error) {
	m := Matrix{X: "object", Y: "object", Name: "k", Values: c.Values, ClassNames: d.Classes}
	if n := len(c.Rows); n < c.Of {
		m.X = fmt.Sprintf("object, %d of %d", n, c.Of)
	}
	m.Dark, m.Width, m.Height = look.Dark, look.Width, look.Height
	for _, i := range c.Rows {
		m.Classes = append(m.Classes, d.Y[i])
	}
	return m.Picture()
}
