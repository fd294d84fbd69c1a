package svm

import (
	"errors"
	"math"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// A kernel that is not positive semidefinite makes the dual one that is not concave:
// steps on pairs still lead to a point where the KKT conditions hold, but there may be
// many of them, and where they lead depends on where they start. So there are two starts,
// as far from each other as the bounds allow, and the better end is the result.

// unproven is err without the claim that needs a positive semidefinite kernel.
func unproven(err error) error {
	if errors.Is(err, ErrNotSeparable) {
		return ErrUnbounded
	}
	return err
}

// local is the result for a kernel not known to be positive semidefinite.
func (o *state) local(status trace.Status) *Result {
	r := o.result(status)
	r.Local = true
	return r
}

// again solves once more, from the corner opposite to alpha = 0, and returns the better
// one of first, with which o has ended, and what it finds.
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

// corner makes every alpha as large as the balance of the classes allows. A hard margin
// bounds none of them: there it is the direction of that corner, along which solve goes as
// far as it pays, see stretch.
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
