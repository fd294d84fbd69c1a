package svm

import (
	"slices"

	"marginlab/ml/trace"
)

// From alpha = 0 every support vector needs a step at least, and there are many of
// them when there are many points, but they say the same: points with one label
// that lie close together have nearly the same row. So such points are merged into
// their mean, whose alpha is bounded by the sum of their bounds, and the solution
// of this smaller problem, shared out, is where the steps on all points begin. It
// is found in the same way (a multilevel method, as in Razzaghi and Safro,
// "Scalable multilevel support vector machines", Procedia Computer Science 51, 2015).

// coarse goes from u = 0 to the solution for merged points. It reports false when
// the points are too few or too far apart, and leaves u and g as they are then or
// when ctx ends.
func (o *smo[T]) coarse(tol float64) (bool, error) {
	if o.without.start || o.m < many {
		return false, nil
	}
	w := slices.Clone(o.weight[:o.m])
	for i, v := range w {
		w[i] = max(v, 1e-9) // points that are held out weigh next to nothing, not nothing
	}
	k, group, distance := merged(o.Context, o.k, o.y[:o.m], w, oneOf)
	o.dense = distance <= smaller*apart
	if !(distance <= apart) {
		return false, nil
	}
	p := newSMO[T](k, emptyState(k.Len(), o.monitor), o.rows.Memory)
	for i, j := range group {
		p.y[j], p.g[j] = o.y[i], o.y[i]
		p.weight[j] += o.weight[i]
	}
	for j := range p.m {
		p.diag[j] = k.Diag(j)
	}
	p.size = o.size
	// What is left free by mistake is oneOf times as many points on every level above, and pairs
	// take a step there for each of them.
	goal := merging
	if o.total > smaller*many {
		goal = rough
	}
	o.Ahead++
	status, err := p.along(o.c, max(tol, goal))
	o.Ahead--
	if err != nil || status == trace.Cancelled {
		return true, err
	}
	for i, j := range group {
		switch p.u[j] {
		case p.lo[j]:
			o.place(i, o.lo[i])
		case p.hi[j]:
			o.place(i, o.hi[i])
		default:
			o.place(i, p.u[j]*o.weight[i]/p.weight[j])
		}
	}
	done, err := o.refresh()
	o.newtons.on, o.nears.on = o.Objective, o.Objective
	if !done {
		clear(o.u)
		o.bound(o.c)
	}
	return true, err
}
