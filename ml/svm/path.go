package svm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// From alpha = 0 to a large C it is many small steps. So the problem is solved
// for a small C first, roughly, and then for ten times the C from a start that
// resembles the solution, as it changes little with C once C is large (Hastie,
// Rosset, Tibshirani, Zhu: "The entire regularization path for the support vector
// machine", JMLR 5, 2004).
// path solves from where o is, by way of smaller C, with rows of precision T.
func path[T rows.Real](k Matrix, from *state, s Settings) (trace.Status, error) {
	memory := rows.NewMemory[T](s.Memory, from.m, s.CacheBytes)
	defer memory.Free()
	o := newSMO(k, from, memory)
	if math.IsInf(s.C, 1) {
		if err := o.measure(); err != nil {
			return trace.Numerical, err
		}
	}
	if math.IsInf(s.C, 1) || o.Iterations > 0 {
		return o.solve(s.Tol)
	}
	return o.along(s.C, s.Tol)
}

// along solves for c from u = 0.
func (o *smo[T]) along(c, tol float64) (trace.Status, error) {
	o.bound(c)
	switch done, err := o.coarse(tol); {
	case err != nil:
		return trace.Numerical, err
	case o.Context.Err() != nil:
		return trace.Cancelled, nil
	case done:
		return o.solve(tol)
	}
	start := pathStart * float64(o.m) / floats.Norm(o.diag, 1) * float64(o.m) / floats.Sum(o.weight)
	stations := []float64{c}
	for next := c / pathFactor; next > start && !o.without.path; next /= pathFactor {
		stations = append(stations, next)
	}
	slices.Reverse(stations)
	o.bound(stations[0])
	for _, next := range stations[1:] {
		status, err := o.solve(max(tol, pathTol))
		if err == nil && status != trace.Cancelled && status != trace.IterationLimit {
			err = o.grow(next)
		}
		if err != nil || status == trace.Cancelled || status == trace.IterationLimit {
			o.bound(c)
			return status, err
		}
	}
	return o.solve(tol)
}

// grow raises the bound to c. Where it holds nothing back, that changes nothing.
// Otherwise it tries alpha in proportion, the bounded points at their new bound, with
// a Newton step that brings the free ones back in line, and keeps alpha as it was
// should that be better. The Newton step, which factors about three times as points
// meet their bounds, is left out when it takes longer than all that was done since
// the bound rose before, as pairs are quick then.
func (o *smo[T]) grow(c float64) error {
	steps := o.Iterations - o.grownAt
	o.grownAt = o.Iterations
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
	if free := o.free(); !o.without.newton && 3*newtonSteps(len(free), o.m) <= steps {
		if err := o.newton(free); err != nil {
			return err
		}
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

// held tells whether the bound keeps any alpha from growing.
func (o *state) held() bool {
	for i, w := range o.weight[:o.m] {
		if w > 0 && math.Abs(o.u[i]) == o.c*w {
			return true
		}
	}
	return false
}
