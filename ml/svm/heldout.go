package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// HeldOut trains on all points except the held-out ones, once for each C in cs, which must be
// finite and ascending. k (M x M), y (length M) and s are as in Train, except that s.C is ignored
// and s.MaxIter applies to each C. held lists points; the others must include both classes.
//
// The results are in the order of cs. Each meets s.Tol and has the same meaning as the result of
// Train on the remaining points. Alpha is 0 for held-out points; F includes their f(x_i). If ctx
// ends, the last result has status "cancelled" and those for larger C are missing. s.Recorder
// also gets a step with phase AlongC after each C.
//
// A held-out point has the bound 0 on its alpha: it does not affect the solution, and its
// gradient gives f(x_i). All folds of a cross-validation therefore share one matrix, which
// Tabulated computes once, and can run concurrently. The solution for one C is the start for the
// next, as in path.go.
func HeldOut(ctx context.Context, k Matrix, y []float64, held []int, cs []float64, s Settings) ([]*Result, error) {
	if len(cs) == 0 || !slices.IsSorted(cs) || math.IsInf(cs[len(cs)-1], 0) {
		return nil, fmt.Errorf("svm: C is %v; it must be an increasing list of finite numbers", cs)
	}
	s.C = cs[0]
	if err := check(k, y, &s); err != nil {
		return nil, err
	}
	start := func() *state {
		o := newState(k, y, s.C, newMonitor(ctx, len(y), s))
		for _, i := range held {
			o.weight[i] = 0
		}
		o.bound(s.C)
		return o
	}
	o := start()
	left := map[float64]float64{} // weight of the classes
	for i, v := range y {
		left[v] += o.weight[i]
	}
	if left[1] == 0 || left[-1] == 0 {
		return nil, errors.New("svm: all points of a class are held out; keep points of both classes")
	}
	if !rows.Definite(k) { // no warm start: the better of two local optima need not lead to the next
		var results []*Result
		for _, c := range cs {
			s.C = c
			o := start()
			status, err := descend(k, o, s)
			if err != nil {
				return nil, err
			}
			results = append(results, again(k, o.local(status), o, s))
			if status == trace.Cancelled {
				break
			}
			s.solved(c, len(results), len(cs))
		}
		return results, nil
	}
	memory := rows.NewMemory[float64](s.Memory, o.m, s.CacheBytes)
	defer memory.Free()
	var results []*Result
	if single(o, s) {
		var err error
		results, err = rise(k, o, cs, nil, s, rows.InSingle(memory))
		if err != nil || len(results) == len(cs) || len(results) > 0 && ctx.Err() != nil {
			return results, err
		}
	}
	return rise(k, o, cs, results, s, memory)
}

// solved reports to the recorder that training done of the given number, the one for c, has
// finished.
func (s Settings) solved(c float64, done, of int) {
	if s.Recorder != nil {
		s.Recorder(trace.Step{Phase: trace.AlongC, C: c, Done: done, Trainings: of})
	}
}

// rise appends the results for the rest of cs, with rows of precision T, starting from o. It
// returns early where single precision is too coarse.
func rise[T rows.Real](k Matrix, o *state, cs []float64, results []*Result, s Settings, memory rows.Memory[T]) ([]*Result, error) {
	p := newSMO(k, o, memory)
	for _, c := range cs[len(results):] {
		s.C = c
		o.Limit = o.Iterations + s.MaxIter
		status, err := p.along(c, s.Tol)
		if err != nil {
			return nil, err
		}
		if p.rounded() && status == trace.Numerical {
			break
		}
		results = append(results, o.result(status))
		if status == trace.Cancelled {
			break
		}
		s.solved(c, len(results), len(cs))
	}
	return results, nil
}
