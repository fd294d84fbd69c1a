package ml

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

// Neighbour is an object close to another in the feature space of a kernel.
type Neighbour struct {
	Row      int     // of the data
	Value    float64 // k(x, z)
	Distance float64 // sqrt(k(x, x) + k(z, z) - 2 k(x, z)); 0 if that is negative
}

// Nearest returns the n objects of d, or fewer, that are nearest to the object in row, in order of
// distance, then of row. d must hold objects other than vectors. For a slow kernel it searches only
// a sample stratified by class; among is the number of objects searched. Errors: vectors, a row out
// of range, objects that k does not take, ctx.Err().
func Nearest(ctx context.Context, k kernel.Kernel, d *dataset.Data, row, n int) (near []Neighbour, among int, err error) {
	if row < 0 || row >= d.Len() || d.Objects == nil {
		return nil, 0, fmt.Errorf("row %d is out of range: the data have %d rows", row+1, d.Len())
	}
	// Two kernel values per candidate.
	rows := stratifiedSample(d, int(math.Min(float64(d.Len()), 1+maxCompareSteps/(2*kernel.Steps(k, d.Objects)))))
	rows = slices.DeleteFunc(rows, func(i int) bool { return i == row })
	if len(rows) == 0 {
		return nil, 0, nil
	}
	values, err := kernel.Cross(ctx, k, d.Objects.Subset([]int{row}), d.Objects.Subset(rows))
	if err != nil {
		return nil, 0, err
	}
	self, err := kernel.Self(ctx, k, d.Objects.Subset(append([]int{row}, rows...)))
	if err != nil {
		return nil, 0, err
	}
	near = make([]Neighbour, len(rows))
	for a, i := range rows {
		v := values.At(0, a)
		near[a] = Neighbour{Row: i, Value: v, Distance: math.Sqrt(max(0, self[0]+self[a+1]-2*v))}
	}
	slices.SortFunc(near, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), a.Row-b.Row)
	})
	return near[:min(n, len(near))], len(rows), nil
}
