package svm

import (
	"math"
	"math/rand/v2"
	"slices"

	"marginlab/ml/trace"
)

// From alpha = 0 every support vector needs at least one step. Nearby points with the same label
// have nearly the same row, so they are merged into their mean, whose alpha is bounded by the sum
// of their bounds. The solution of the smaller problem, found by the same method and distributed
// over the points, is the start for the full problem (a multilevel method, as in Razzaghi and
// Safro, "Scalable multilevel support vector machines", Procedia Computer Science 51, 2015).

// merging is the problem of merged points.
type merging struct {
	k        Matrix  // nil: solved, or the points are too far apart
	group    []int   // the merged point of each point
	distance float64 // of a point from its merged point, squared, see kernel.Gram.Merged
}

// dense reports whether many points have near neighbours.
func (g *merging) dense() bool { return g != nil && g.distance <= smaller*apart }

// scattered reports whether few points are known to have near neighbours. The kernel matrix then has
// few nearly flat directions, which single precision would hide.
func (g *merging) scattered() bool { return g != nil && !g.dense() && !math.IsInf(g.distance, 1) }

// merge finds the merged points, once, if there are enough points.
func (o *smo[T]) merge() {
	if o.without.start || o.m < many || o.merged != nil {
		return
	}
	w := slices.Clone(o.weight[:o.m])
	for i, v := range w {
		w[i] = max(v, 1e-9) // so that merging also works for held-out points
	}
	k, group, distance := merged(o.Context, o.k, o.y[:o.m], w, oneOf, apart)
	o.merged = &merging{k, group, distance}
}

// coarse takes u from 0 to the solution for merged points. It reports false, leaving u and g
// unchanged, if there are too few points or they are too far apart. If ctx ends, u and g are
// unchanged too.
func (o *smo[T]) coarse(tol float64) (bool, error) {
	if o.merged == nil || o.merged.k == nil {
		return false, nil
	}
	k, group := o.merged.k, o.merged.group
	o.merged.k, o.merged.group = nil, nil // memory
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
		// Points left free by mistake would be free at the next level too.
		err = p.newtonWithin(o.spent - begun)
	}
	if err != nil || status == trace.Cancelled {
		return true, err
	}
	o.spread(p.state, group)
	done, err := o.refresh()
	o.newtons.on, o.nears.on = o.Objective, o.Objective
	if !done {
		clear(o.u)
		o.bound(o.c)
	}
	return true, err
}

// spread distributes u of the groups over their points. A free group fills up one point after
// another, so that at most one of them is free, in random order, as points in order could all lie on
// one side.
func (o *state) spread(p *state, group []int) {
	left := slices.Clone(p.u)
	for _, i := range rand.New(rand.NewPCG(1, uint64(o.m))).Perm(o.m) {
		switch j := group[i]; p.u[j] {
		case p.lo(j):
			o.place(i, o.lo(i))
		case p.hi(j):
			o.place(i, o.hi(i))
		default:
			u := min(max(left[j], o.lo(i)), o.hi(i))
			left[j] -= u
			o.place(i, u)
			o.reach[i] = math.Abs(p.u[j]) // rounded like it
		}
	}
}
