package ml

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
)

// Compared are objects that are no vectors with the values of a kernel among them: what
// there is to draw of objects without coordinates.
type Compared struct {
	Rows   []int      // of the data, those of a class side by side
	Values *mat.Dense // k(x_i, x_j) of Rows
	Of     int        // how many objects the data have
}

const (
	// mostCompared is how many objects are compared: more than a picture has room for.
	mostCompared = 300
	// mostSteps bounds the work, as kernel.Steps counts it: about a second of one processor.
	mostSteps = 1e10
	// fewestCompared is how few objects still make a picture.
	fewestCompared = 6
)

// Comparable reports, as a *param.Refusal, that already the values of k among a handful of
// the objects of d would take too long to be waited for. Vectors need no such values.
func Comparable(k kernel.Kernel, d *dataset.Data) error {
	_, err := sizeOf(k, d)
	return err
}

// sizeOf is how many objects of d can be compared.
func sizeOf(k kernel.Kernel, d *dataset.Data) (most int, err error) {
	if d.Objects == nil {
		return 0, nil
	}
	most = int(math.Min(mostCompared, math.Sqrt(2*mostSteps/kernel.Steps(k, d.Objects))))
	if most < min(fewestCompared, d.Len()) {
		return 0, param.Refuse("take another kernel or smaller objects",
			"there is no picture of the values of the kernel %s: already those among %d of these %s would take too long", k.Name, fewestCompared, d.Kind().Words())
	}
	return most, nil
}

// Compare returns the values of k among the objects of d, of many among some of every class:
// at most 300, and fewer where a value takes long. Errors: objects that k does not take, that
// of Comparable, the end of ctx.
func Compare(ctx context.Context, k kernel.Kernel, d *dataset.Data) (*Compared, error) {
	if d.Objects == nil {
		return nil, fmt.Errorf("the kernel %s compares points, of which nothing has to be drawn but their coordinates", k.Name)
	}
	most, err := sizeOf(k, d)
	if err != nil {
		return nil, err
	}
	c := &Compared{Rows: thinned(d, most), Of: d.Len()}
	g, err := kernel.GramOf(ctx, k, d.Objects.Subset(c.Rows))
	if err != nil {
		return nil, err
	}
	c.Values = mat.NewDense(len(c.Rows), len(c.Rows), nil)
	for a := range c.Rows {
		g.Row(c.Values.RawRowView(a), a)
	}
	return c, nil
}

// thinned are at most so many rows of d, class by class: of every class its share, but one
// at least as long as there is room, from its first row to its last.
func thinned(d *dataset.Data, most int) (rows []int) {
	byClass := make([][]int, len(d.Classes))
	for i, c := range d.Y {
		byClass[c] = append(byClass[c], i)
	}
	for _, own := range byClass {
		share := len(own) * most / d.Len()
		rows = append(rows, spaced(own, max(share, 1))...)
	}
	return spaced(rows, most)
}

// spaced are at most n of the rows, equally far apart.
func spaced(rows []int, n int) []int {
	if len(rows) <= n {
		return rows
	}
	some := make([]int, n)
	for a := range some {
		some[a] = rows[a*len(rows)/n]
	}
	return some
}
