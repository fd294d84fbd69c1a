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

// Compared holds objects other than vectors and their kernel matrix, for a picture.
type Compared struct {
	Rows   []int      // rows of the data, grouped by class
	Values *mat.Dense // k(x_i, x_j) of Rows
	Of     int        // number of objects in the data
}

const (
	maxCompared     = 300  // objects of a picture
	maxCompareSteps = 1e10 // steps of kernel.Steps: about a second of one processor
	minCompared     = 6    // objects worth a picture
)

// Comparable returns a *param.Refusal if k takes too long to compare even a few objects of d. It
// returns nil for vectors.
func Comparable(k kernel.Kernel, d *dataset.Data) error {
	_, err := compareLimit(k, d)
	return err
}

// compareLimit returns the number of objects of d that Compare may compare.
func compareLimit(k kernel.Kernel, d *dataset.Data) (most int, err error) {
	if d.Objects == nil {
		return 0, nil
	}
	most = int(math.Min(maxCompared, math.Sqrt(2*maxCompareSteps/kernel.Steps(k, d.Objects))))
	if most < min(minCompared, d.Len()) {
		return 0, param.Refuse("use another kernel or smaller objects",
			"the kernel matrix of %s is not drawn: even %d of these %s would take too long", k.Name, minCompared, d.Kind().Words())
	}
	return most, nil
}

// Compare returns the kernel matrix of the objects of d, or of a sample stratified by class: at
// most 300, fewer for a slow kernel. Errors: objects that k does not take, the errors of Comparable,
// ctx.Err().
func Compare(ctx context.Context, k kernel.Kernel, d *dataset.Data) (*Compared, error) {
	if d.Objects == nil {
		return nil, fmt.Errorf("the kernel %s compares points: the kernel matrix is drawn only for other objects, such as strings and graphs", k.Name)
	}
	most, err := compareLimit(k, d)
	if err != nil {
		return nil, err
	}
	c := &Compared{Rows: stratifiedSample(d, most), Of: d.Len()}
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

// stratifiedSample returns at most most rows of d, grouped by class, in proportion to the class
// sizes but at least one of each if possible, evenly spaced within each class.
func stratifiedSample(d *dataset.Data, most int) (rows []int) {
	byClass := make([][]int, len(d.Classes))
	for i, c := range d.Y {
		byClass[c] = append(byClass[c], i)
	}
	for _, own := range byClass {
		rows = append(rows, lists.Spaced(own, max(len(own)*most/d.Len(), 1))...)
	}
	return lists.Spaced(rows, most)
}
