package figure

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

// mostCompared is how many objects a map of a kernel shows, unless its values are there
// already.
const mostCompared = 200

// KernelMatrix shows the values of a kernel among objects that are no vectors as a map,
// with those of a class side by side; of many objects some of every class. Size and theme
// are those of look. It reports a kernel that does not take the objects.
func KernelMatrix(ctx context.Context, k kernel.Kernel, d *dataset.Data, look Scene) (*Picture, error) {
	if d.Objects == nil {
		return nil, fmt.Errorf("picture: points have no map of the kernel %s; Scatter draws them", k.Name)
	}
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return d.Y[i] - d.Y[j] })
	what := "object"
	if n := len(order); n > mostCompared && d.Kind() != dataset.KindPrecomputed {
		what = fmt.Sprintf("object, %d of %d", mostCompared, n)
		for a := range mostCompared {
			order[a] = order[a*n/mostCompared]
		}
		order = order[:mostCompared]
	}
	g, err := kernel.GramOf(ctx, k, d.Objects.Subset(order))
	if err != nil {
		return nil, err
	}
	values := mat.NewDense(len(order), len(order), nil)
	m := Matrix{X: what, Y: "object", Name: "k", Values: values, ClassNames: d.Classes}
	m.Dark, m.Width, m.Height = look.Dark, look.Width, look.Height
	for a, i := range order {
		m.Classes = append(m.Classes, d.Y[i])
		g.Row(values.RawRowView(a), a)
	}
	return m.Picture()
}
