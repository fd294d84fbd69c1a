package trace

import (
	"cmp"
	"context"
)

// Replay is a recorded run of a procedure: its states, the start first. States never change, so
// stepping back shows exactly what was shown before.
type Replay[S any] struct {
	states []S
	status Status
}

// Record runs a procedure and records its states: the start and at most steps more. run calls
// yield with every state, at least with the start, and returns its status; a state must not share
// memory that changes later. run must return as soon as yield returns false: either there is no
// room for that state, and the run ends with IterationLimit, or ctx has ended, and it ends with
// Cancelled.
func Record[S any](ctx context.Context, steps int, run func(yield func(S) bool) Status) *Replay[S] {
	r := &Replay[S]{}
	var stopped Status
	ended := run(func(s S) bool {
		switch {
		case len(r.states) == 0: // recorded even if the context has ended
		case ctx.Err() != nil:
			stopped = Cancelled
		case len(r.states) > steps:
			stopped = IterationLimit
		}
		if stopped == "" {
			r.states = append(r.states, s)
		}
		return stopped == ""
	})
	r.status = cmp.Or(stopped, ended)
	return r
}

// Len returns the number of states including the start, at least 1.
func (r *Replay[S]) Len() int { return len(r.states) }

// At returns state i, clamped to the range from the start, 0, to the end. Its slices must not be
// modified.
func (r *Replay[S]) At(i int) S {
	return r.states[min(max(i, 0), len(r.states)-1)]
}

// Status returns how the run ended.
func (r *Replay[S]) Status() Status { return r.status }
