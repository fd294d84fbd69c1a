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

// HeldOut trains on all points but the held-out ones, for each C of cs, which rise
// and are finite. k (M x M), y (length M) and s are as in Train, except that s.C
// is not used and that s.MaxIter is for each C. held lists points; both classes must
// be among the others.
//
// The results are in the order of cs, each meeting s.Tol by itself, and mean what
// those of Train for the other points mean. Alpha is 0 for the held-out points, and F
// has their f(x_i) as well. When ctx ends the last result has the status
// "cancelled", and those for greater C are missing. s.Recorder hears of every C that is
// solved, by a step of the phase AlongC, as well.
//
// A held-out point is one whose alpha is bounded by 0: it takes part in nothing, and
// its gradient tells f(x_i). So all folds of a cross-validation see the same matrix,
// which Tabulated computes once, and may do so at the same time. From one C to the
// next the solution is carried along as in path.go.
func HeldOut(ctx context.Context, k Matrix, y []float64, held []int, cs []float64, s Settings) ([]*Result, error) {
	if len(cs) == 0 || !slices.IsSorted(cs) || math.IsInf(cs[len(cs)-1], 0) {
		return nil, fmt.Errorf("svm: C is %v; it must be a list of finite numbers that rise", cs)
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
		return nil, errors.New("svm: all points of a class are held out; two classes are needed")
	}
	if !rows.Definite(k) { // nothing to carry along: the better of two ends need not lead to the next
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
	results, err := rise(k, o, cs, nil, s, rows.InSingle(memory))
	if err != nil || len(results) == len(cs) || len(results) > 0 && ctx.Err() != nil {
		return results, err
	}
	return rise(k, o, cs, results, s, memory)
}

// solved tells that the machine for c is there, the done-th of so many.
func (s Settings) solved(c float64, done, of int) {
	if s.Recorder != nil {
		s.Recorder(trace.Step{Phase: trace.AlongC, C: c, Done: done, Trainings: of})
	}
}

// rise goes on from the results for the first of cs, with rows of precision T, and solves for
// the others from where o is. It ends early where single precision does not do.
func rise[T rows.Real](k Matrix, o *state, cs []float64, results []*Result, s Settings, memory rows.Memory[T]) ([]*Result, error) {
	var v T
	_, rounded := any(v).(float32)
	p := newSMO(k, o, memory)
	for _, c := range cs[len(results):] {
		s.C = c
		if rounded && !single(o, s) {
			break
		}
		o.Limit = o.Iterations + s.MaxIter
		status, err := p.riseTo(c, s.Tol)
		if err != nil {
			return nil, err
		}
		if rounded && status == trace.Numerical {
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

// riseTo solves for c, from the solution for a smaller C if there is one.
func (o *smo[T]) riseTo(c, tol float64) (trace.Status, error) {
	if o.Iterations == 0 {
		return o.along(c, tol)
	}
	for {
		next := min(c, smaller*o.c)
		if next > o.c {
			if err := o.grow(next); err != nil {
				return trace.Numerical, err
			}
		}
		if next == c {
			return o.finish(tol)
		}
		if status, err := o.solve(max(tol, rough)); err != nil || status == trace.Cancelled {
			return status, err
		}
	}
}
