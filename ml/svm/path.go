package svm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// path solves from the given state by way of smaller C, with rows of precision T.
//
// From alpha = 0 to a large C takes many small steps. The problem is therefore first solved
// roughly for a small C, and then for ten times that C and so on, each time from a start close to
// the solution, which changes little with C once C is large (Hastie, Rosset, Tibshirani, Zhu:
// "The entire regularization path for the support vector machine", JMLR 5, 2004).
func path[T rows.Real](k Matrix, from *state, s Settings) (trace.Status, error) {
	room := from.m
	if isWide(k) {
		room += room / 8 // parts need some beside a table
	}
	memory := rows.NewMemory[T](s.Memory, room, s.CacheBytes)
	defer memory.Free()
	o := newSMO(k, from, memory)
	if math.IsInf(s.C, 1) {
		if err := o.measure(); err != nil {
			return trace.Numerical, err
		}
		return o.finish(s.Tol)
	}
	return o.along(s.C, s.Tol)
}

// along solves for c from u = 0, or like riseTo from an iterate for a smaller C. From 0 the status
// is numerical at once if rows in single precision are too coarse for c and points so close that
// their matrix is nearly singular.
func (o *smo[T]) along(c, tol float64) (trace.Status, error) {
	if o.Iterations > 0 {
		return o.riseTo(c, tol)
	}
	o.bound(c)
	if o.merge(); !o.merged.scattered() && !o.precise(tol) {
		return trace.Numerical, nil
	}
	switch done, err := o.coarse(tol); {
	case err != nil:
		return trace.Numerical, err
	case o.Context.Err() != nil:
		return trace.Cancelled, nil
	case done:
		return o.finish(tol)
	}
	start := smaller * float64(o.m) / floats.Norm(o.diag, 1) * float64(o.m) / floats.Sum(o.weight)
	first := c
	for !o.without.start && first/smaller > start {
		first /= smaller
	}
	o.bound(first)
	return o.riseTo(c, tol)
}

// riseTo solves for c from an iterate for the same or a smaller C, by way of C that differ by the
// factor smaller. If rows in single precision are too coarse to go on, the status is numerical and
// the C that it has come to remains.
func (o *smo[T]) riseTo(c, tol float64) (trace.Status, error) {
	for o.precise(tol) {
		if o.c >= c {
			return o.finish(tol)
		}
		o.Ahead++
		status, err := o.solve(max(tol, rough))
		o.Ahead--
		if err == nil && status != trace.Cancelled && status != trace.IterationLimit {
			next := smaller * o.c
			if next*(1+1e-9) > c { // rounding
				next = c
			}
			err = o.grow(next)
		}
		if err != nil || status == trace.Cancelled || status == trace.IterationLimit {
			o.bound(c)
			return status, err
		}
	}
	return trace.Numerical, nil
}

// grow raises the bound to c. If points are bounded, it tries scaling alpha, with the bounded
// points at their new bound, followed by a Newton step for the free ones, and keeps the old alpha
// if that is better. The Newton step, which factors about three times as points reach their
// bounds, is skipped if it costs more than all work since the bound last rose: steps on pairs are
// fast then.
func (o *smo[T]) grow(c float64) error {
	work := o.spent - o.grownAt
	o.grownAt = o.spent
	if !o.held() {
		o.bound(c)
		return nil
	}
	u, g, reach, before := slices.Clone(o.u), slices.Clone(o.g), slices.Clone(o.reach), o.Objective
	t := c / o.c
	for i, y := range o.y[:o.m] {
		atBound := math.Abs(o.u[i]) == o.c*o.weight[i]
		o.u[i] *= t
		if atBound {
			o.u[i] = math.Copysign(c*o.weight[i], y)
		}
		o.reach[i] = max(t*o.reach[i], math.Abs(o.u[i]))
		o.g[i] = y - t*(y-o.g[i])
	}
	o.bound(c)
	o.exact = false
	sum, square := o.dual()
	o.Objective = sum - square/2
	if err := o.newtonWithin(work); err != nil {
		return err
	}
	if !(o.Objective >= before) {
		copy(o.u, u)
		copy(o.g, g)
		copy(o.reach, reach)
		o.Objective = before
		o.bound(c)
	}
	return nil
}

// held reports whether any alpha is at a positive bound.
func (o *state) held() bool {
	for i, w := range o.weight[:o.m] {
		if w > 0 && math.Abs(o.u[i]) == o.c*w {
			return true
		}
	}
	return false
}

// known holds a u whose product with the matrix was computed in double precision. The next
// product only needs what has changed since: from one C to the next most points stay at their
// bound, so that their part scales with C.
type known struct {
	u, ku  []float64
	c      float64
	chains int // incremental products since the last full one
}

// chained is the maximal number of incremental products in a row: each adds the rounding error of
// a sum over u.
const chained = 16

// from sets ku, initially 0, to the best multiple of the known product and returns what to add:
// points and their weights.
func (k *known) from(o *state, ku []float64) (points []int, w []float64) {
	factor, least := 0.0, math.MaxInt
	for _, t := range []float64{0, 1, o.c / k.c} {
		if t != 0 && (k.u == nil || k.chains >= chained || math.IsNaN(t)) {
			break
		}
		if n := k.changed(o, t, nil); n < least {
			factor, least = t, n
		}
	}
	points, w = make([]int, 0, least), make([]float64, 0, least)
	k.changed(o, factor, func(i int, d float64) { points, w = append(points, i), append(w, d) })
	k.chains++
	if factor == 0 {
		k.chains = 0
		return points, w
	}
	for i, v := range k.ku {
		ku[i] = factor * v
	}
	return points, w
}

// changed counts the points whose u differs from t times the known one by more than rounding, and
// calls add for each.
func (k *known) changed(o *state, t float64, add func(i int, d float64)) (n int) {
	for i, u := range o.u[:o.m] {
		d := u
		if t != 0 {
			d -= t * k.u[i]
		}
		if math.Abs(d) > 0x1p-51*math.Abs(u) {
			if n++; add != nil {
				add(i, d)
			}
		}
	}
	return n
}

// keep stores the current exact product.
func (k *known) keep(o *state) {
	k.u, k.ku, k.c = append(k.u[:0], o.u...), append(k.ku[:0], o.ku...), o.c
}
