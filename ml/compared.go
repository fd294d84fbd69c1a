package ml

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Compared holds objects other than vectors with their kernel matrix, for pictures of objects
// without coordinates.
type Compared struct {
	Rows   []int      // rows of the data, grouped by class
	Values *mat.Dense // k(x_i, x_j) of Rows
	Of     int        // number of objects in the data
}

const (
	// mostCompared bounds the objects compared: more than fit in a picture.
	mostCompared = 300
	// mostSteps bounds the work, as kernel.Steps counts it: about a second of one processor.
	mostSteps = 1e10
	// fewestCompared is the smallest number of objects worth a picture.
	fewestCompared = 6
)

// Comparable returns a *param.Refusal if even fewestCompared objects of d take too long to
// compare by k. Vectors are always fine.
func Comparable(k kernel.Kernel, d *dataset.Data) error {
	_, err := sizeOf(k, d)
	return err
}

// sizeOf returns how many objects of d can be compared.
func sizeOf(k kernel.Kernel, d *dataset.Data) (most int, err error) {
	if d.Objects == nil {
		return 0, nil
	}
	most = int(math.Min(mostCompared, math.Sqrt(2*mostSteps/kernel.Steps(k, d.Objects))))
	if most < min(fewestCompared, d.Len()) {
		return 0, param.Refuse("use another kernel or smaller objects",
			"the kernel matrix of %s is not drawn: even %d of these %s would take too long", k.Name, fewestCompared, d.Kind().Words())
	}
	return most, nil
}

// Compare returns the kernel matrix of the objects of d, or of a sample stratified by class: at
// most 300, fewer for a slow kernel. Errors: objects that k does not take, those of Comparable,
// ctx.Err().
func Compare(ctx context.Context, k kernel.Kernel, d *dataset.Data) (*Compared, error) {
	if d.Objects == nil {
		return nil, fmt.Errorf("the kernel %s compares points: the kernel matrix is drawn only for other objects, such as strings and graphs", k.Name)
	}
	most, err := sizeOf(k, d)
	if err != nil {
		return nil, err
	}
	c := &Compared{Rows: thinned(d, most), Of: d.Len()}
	g, err := kernel.GramOf(ctx, k, d.Objects.Subset(c.Rows), nil)
	if err != nil {
		return nil, err
	}
	c.Values = mat.NewDense(len(c.Rows), len(c.Rows), nil)
	for a := range c.Rows {
		g.Row(c.Values.RawRowView(a), a)
	}
	return c, nil
}

// thinned returns at most most rows of d, class by class, in proportion to the classes but at
// least one of each while there is room, spread evenly over each class.
func thinned(d *dataset.Data, most int) (rows []int) {
	byClass := make([][]int, len(d.Classes))
	for i, c := range d.Y {
		byClass[c] = append(byClass[c], i)
	}
	for _, own := range byClass {
		share := len(own) * most / d.Len()
		rows = append(rows, lists.Spaced(own, max(share, 1))...)
	}
	return lists.Spaced(rows, most)
}
