package svm

import (
	"slices"

	"marginlab/ml/trace"
)

// The directions that are nearly flat, which make pairs slow, are differences of
// points that lie close together. So when many points are free, which makes a Newton
// step on all of them expensive, the problem is solved for one neighbourhood after the
// other, the other points staying as they are. The neighbourhoods overlap, so that none has an
// edge everywhere (the alternating method of Schwarz), and steps on pairs of all
// points in between keep them at one bias.

// neighbourhoods solves for the neighbourhoods of the free points, each until its violation
// is at most tol.
func (o *smo[T]) neighbourhoods(free []int, tol float64) (trace.Status, error) {
	begun := o.spent
	defer func(before float64) {
		o.nearSpent = o.spent - begun
		o.weigh(&o.nears, begun, before)
	}(o.Objective)
	covered := make([]bool, o.m)
	apart, sorted := make([]float64, o.m), make([]float64, o.m)
	for _, center := range free {
		if covered[center] {
			continue
		}
		row, err := o.rows.Row(center)
		if err != nil {
			return trace.Numerical, err
		}
		for i := range apart { // the squared distance from the centre, but for a constant
			apart[i] = o.diag[i] - 2*float64(row[i])
		}
		copy(sorted, apart)
		slices.Sort(sorted)
		inner, outer := sorted[nearSize/2], sorted[nearSize-1]
		near := make([]int, 0, nearSize)
		for i, d := range apart {
			covered[i] = covered[i] || d < inner
			if d <= outer && len(near) < nearSize {
				near = append(near, i)
			}
		}
		covered[center] = true // even when there are nearSize/2 like it
		status, err := o.climbPart(near, tol)
		if err != nil || status == trace.Cancelled {
			return status, err
		}
	}
	return trace.IterationLimit, nil
}
