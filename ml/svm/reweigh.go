package svm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Reweigh trains with weight[i] copies of point i, starting from the alphas of another solution
// for the same matrix. Weight 0 leaves a point out; for a bootstrap sample the weight is the
// number of times the point was drawn. k (M x M, positive semidefinite), y (length M) and s are
// as in Train, with a finite C; both classes need a positive weight.
//
// The result equals that of Train on the repeated points and meets s.Tol for any start. Alpha[i]
// is the total over the copies of point i, at most weight[i] C; F includes points with weight 0.
// SlackSum is weighted; support vectors count once.
func Reweigh(ctx context.Context, k Matrix, y, alpha, weight []float64, s Settings) (*Result, error) {
	if err := check(k, y, &s); err != nil {
		return nil, err
	}
	if len(alpha) != len(y) || len(weight) != len(y) || math.IsInf(s.C, 1) {
		return nil, fmt.Errorf("svm: %d alphas and %d weights for %d points, C is %g; expected one of each per point, and a finite C", len(alpha), len(weight), len(y), s.C)
	}
	if err := HasPath(k); err != nil {
		return nil, err
	}
	o := newState(k, y, s.C, newMonitor(ctx, len(y), s))
	left := map[float64]float64{} // weight of the classes
	for i, w := range weight {
		o.weight[i] = w
		left[y[i]] += w
	}
	if !(left[1] > 0 && left[-1] > 0) {
		return nil, errors.New("svm: a class has no weight; give both classes some")
	}
	o.bound(s.C)
	for i, a := range alpha {
		o.place(i, min(max(a*y[i], o.lo(i)), o.hi(i)))
	}
	o.balance()
	memory := rows.NewMemory[float64](s.Memory, o.m, s.CacheBytes)
	defer memory.Free()
	p := newSMO(k, o, memory)
	done, err := p.refresh()
	if err != nil {
		return nil, err
	}
	status := trace.Cancelled
	if done {
		if status, err = p.finish(s.Tol); err != nil {
			return nil, err
		}
	}
	return o.result(status), nil
}

// rest is the tolerated sum of u relative to sum alpha: rounding, which refresh removes.
const rest = 1e-12

// balance makes the sum of u zero. Free points change in proportion to their room, and all points
// if that is not enough.
func (o *state) balance() {
	for _, all := range []bool{false, true} {
		excess, room := floats.Sum(o.u), 0.0
		if math.Abs(excess) <= rest*floats.Norm(o.u, 1) {
			return
		}
		way := func(i int) float64 { // room of u_i
			if !all && (o.up[i] != 0 || o.low[i] != 0) {
				return 0
			}
			if excess > 0 {
				return o.u[i] - o.lo(i)
			}
			return o.hi(i) - o.u[i]
		}
		for i := range o.m {
			room += way(i)
		}
		if room == 0 {
			continue
		}
		share := min(1, math.Abs(excess)/room)
		for i := range o.m {
			if w := way(i); w > 0 {
				o.place(i, min(max(o.u[i]-math.Copysign(share*w, excess), o.lo(i)), o.hi(i)))
			}
		}
	}
}
