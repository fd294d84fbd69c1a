package svm

import (
	"slices"

	"marginlab/ml/trace"
)

// Nearly flat directions, which slow down steps on pairs, are differences of nearby points. If
// many points are free, a Newton step on all of them is expensive, so the problem is solved for
// one neighbourhood after another with the other points fixed. The neighbourhoods overlap so that
// no point is always at an edge (the alternating Schwarz method), and steps on pairs of all
// points in between keep them at a common bias.

// neighbourhoods solves for the neighbourhoods of the free points, each until its violation is at
// most tol.
func (o *smo[T]) neighbourhoods(free []int, tol float64) (trace.Status, error) {
	defer o.weigh(&o.nears, o.spent, o.Objective)
	defer func(whole turns) { o.newtons = whole }(o.newtons) // steps in neighbourhoods do not put off the next on all points
	covered := make([]bool, o.m)
	apart := make([]float64, o.m)
	for _, center := range free {
		if covered[center] {
			continue
		}
		row, err := o.rows.Row(center)
		if err != nil {
			return trace.Numerical, err
		}
		for i := range apart { // squared distance from the centre, minus a constant
			apart[i] = o.diag[i] - 2*float64(row[i])
		}
		nearest := least(apart, many)
		inner, outer := nearest[many/2], nearest[many-1]
		near := make([]int, 0, many)
		for i, d := range apart {
			covered[i] = covered[i] || d < inner
			if d <= outer && len(near) < many {
				near = append(near, i)
			}
		}
		covered[center] = true // even if it has many/2 duplicates
		status, err := o.climbPart(near, tol)
		if err != nil || status == trace.Cancelled {
			return status, err
		}
	}
	return trace.IterationLimit, nil
}

// least returns the n smallest values of v in order. A sample bounds them, so that only few need
// sorting.
func least(v []float64, n int) []float64 {
	const oneOf = 16
	sample := make([]float64, 0, max(len(v)/oneOf+1, 3*n))
	for i := 0; i < len(v); i += oneOf {
		sample = append(sample, v[i])
	}
	slices.Sort(sample)
	most := sample[min(len(sample)-1, 2*n/oneOf)]
	few := sample[:0]
	for _, d := range v {
		if d <= most {
			few = append(few, d)
		}
	}
	if len(few) < n {
		few = slices.Clone(v)
	}
	slices.Sort(few)
	return few[:n]
}
