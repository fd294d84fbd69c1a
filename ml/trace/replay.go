package trace

import "context"

// Replay is a run of a procedure as the states it went through, the start first.
// States are recorded once and never change, so going back shows exactly what
// was shown on the way forwards.
type Replay[S any] struct {
	states []S
	status Status
}

// Record lets run go through its states and keeps them: the start and at most
// steps more. run calls yield with every state, at least with the start, and
// returns how it ended; a state must share no memory that changes later. run has to
// return as soon as yield reports false: there is no room for that state, and the
// run ends with IterationLimit, or ctx has ended, and it ends with Cancelled.
func Record[S any](ctx context.Context, steps int, run func(yield func(S) bool) Status) *Replay[S] {
	r := &Replay[S]{}
	var stopped Status
	ended := run(func(s S) bool {
		switch {
		case len(r.states) == 0: // the start is there even for a context that has ended
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
	r.status = ended
	if stopped != "" {
		r.status = stopped
	}
	return r
}

// Len is the number of states, at least 1: the start is one of them.
func (r *Replay[S]) Len() int { return len(r.states) }

// At returns state i, 0 being the start. An i below 0 is the start, an i beyond
// the end is the end. The slices in it belong to the run and are for reading.
func (r *Replay[S]) At(i int) S {
	return r.states[min(max(i, 0), len(r.states)-1)]
}

// Status tells how the run ended.
func (r *Replay[S]) Status() Status { return r.status }
