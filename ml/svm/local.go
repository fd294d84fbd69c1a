package svm

import (
	"errors"
	"math"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// If the kernel is not positive semidefinite, the dual is not concave. Steps on pairs still reach
// a point that satisfies the KKT conditions, but there may be many, depending on the start. The
// solver therefore starts from two opposite corners of the feasible set and returns the better
// result.

// unproven replaces an error that requires a positive semidefinite kernel by one that does not.
func unproven(err error) error {
	if errors.Is(err, ErrNotSeparable) {
		return ErrUnbounded
	}
	return err
}

// local returns the result for a kernel not known to be positive semidefinite.
func (o *state) local(status trace.Status) *Result {
	r := o.result(status)
	r.Local = true
	return r
}

// again solves a second time, from the corner opposite to alpha = 0, and returns the better of
// this result and first, the one o has ended with.
func again(k Matrix, first *Result, o *state, s Settings) *Result {
	if first.Status == trace.Cancelled {
		return first
	}
	memory := rows.NewMemory[float64](s.Memory, o.m, s.CacheBytes)
	defer memory.Free()
	p := newSMO(k, newState(k, o.y[:o.m], s.C, o.monitor), memory)
	copy(p.weight, o.weight)
	p.bound(s.C)
	p.extent = o.extent
	p.corner()
	p.Limit = p.Iterations + s.MaxIter
	status := trace.Cancelled
	done, err := p.refresh()
	if done && err == nil {
		status, err = p.solve(s.Tol)
	}
	first.Iterations = o.Iterations
	if err != nil || status == trace.Cancelled {
		return first
	}
	if second := p.local(status); second.Dual > first.Dual {
		return second
	}
	return first
}

// corner makes every alpha as large as the equality constraint allows. A hard margin has no
// bounds; u is then the direction of that corner, and solve picks the length, see stretch.
func (o *state) corner() {
	weight := map[float64]float64{} // of the classes
	for i, y := range o.y[:o.m] {
		weight[y] += o.weight[i]
	}
	c := o.c
	if math.IsInf(c, 1) {
		c = 1
	}
	for i, y := range o.y[:o.m] {
		o.place(i, y*c*o.weight[i]*min(1, weight[-y]/weight[y]))
	}
}
