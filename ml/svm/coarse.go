package svm

import (
	"slices"

	"marginlab/ml/trace"
)

// From alpha = 0 every support vector needs at least one step. Nearby points with the same label
// have nearly the same row, so they are merged into their mean, whose alpha is bounded by the sum
// of their bounds. The solution of the smaller problem, found by the same method and distributed
// over the points, is the start for the full problem (a multilevel method, as in Razzaghi and
// Safro, "Scalable multilevel support vector machines", Procedia Computer Science 51, 2015).

// coarse takes u from 0 to the solution for merged points. It reports false, leaving u and g
// unchanged, if there are too few points or they are too far apart. If ctx ends, u and g are
// unchanged too.
func (o *smo[T]) coarse(tol float64) (bool, error) {
	if o.without.start || o.m < many {
		return false, nil
	}
	w := slices.Clone(o.weight[:o.m])
	for i, v := range w {
		w[i] = max(v, 1e-9) // so that merging also works for held-out points
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
	begun := o.spent
	o.Ahead++
	status, err := p.along(o.c, max(tol, rough))
	o.Ahead--
	if err == nil && status == trace.Converged {
		// A point left free by mistake is oneOf free points of the next level, where a Newton step
		// costs up to oneOf³ times as much.
		err = p.newtonWithin(o.spent - begun)
	}
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
