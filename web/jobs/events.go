package jobs

import (
	"context"
	"time"

	"marginlab/ml/trace"
	"marginlab/store"
)

// Event is the latest about a run.
type Event struct {
	Status store.Status
	Step   *trace.Step // of a running run, once its solver has reported
	Error  string      // of a failed run
}

// Message is the event as streams send it: "progress" with a step, or "status"
// with the status and, of a failed run, the error.
func (e Event) Message() (name string, data any) {
	if e.Step != nil {
		return "progress", e.Step
	}
	return "status", struct {
		Status store.Status `json:"status"`
		Error  string       `json:"error,omitempty"`
	}{e.Status, e.Error}
}

// Subscribe returns a channel with the state of a run of a workspace, as it is
// now and whenever it changes. It is closed after the state that ends the run, or
// when ctx ends. A slow reader misses states, but never the last one, and never
// holds up the training.
func (q *Queue) Subscribe(ctx context.Context, ws store.Workspace, id string) (<-chan Event, error) {
	return q.watch(ctx, id, func() (Event, error) {
		r, err := q.store.RunWithoutModels(ctx, ws, id)
		return Event{Status: r.Status, Error: r.Error}, err
	})
}

// Wait returns when all of the runs have ended, or after d, or with ctx.
func (q *Queue) Wait(ctx context.Context, d time.Duration, ids ...string) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, id := range ids {
		events, err := q.watch(ctx, id, func() (Event, error) {
			status, err := q.store.RunStatus(ctx, id)
			return Event{Status: status}, err
		})
		if err != nil {
			continue // there is nothing to wait for
		}
		for range events {
		}
	}
}

// watch registers a channel and fills it with the state of the row, as look finds
// it. The order matters: registered first, no change after the look is missed.
func (q *Queue) watch(ctx context.Context, id string, look func() (Event, error)) (<-chan Event, error) {
	ch := make(chan Event, 1)
	q.mu.Lock()
	if q.watchers[id] == nil {
		q.watchers[id] = map[chan Event]bool{}
	}
	q.watchers[id][ch] = true
	q.mu.Unlock()

	now, err := look()
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.dismiss(id, ch)
		return nil, err
	}
	switch {
	case !q.watchers[id][ch]: // the end came meanwhile and is in the channel
		return ch, nil
	case now.Status.Ended():
		offer(ch, now)
		q.dismiss(id, ch)
		return ch, nil
	case len(ch) == 0: // otherwise what is there is newer
		if j := q.running[id]; j != nil {
			now = j.last
		}
		offer(ch, now)
	}
	context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.dismiss(id, ch)
	})
	return ch, nil
}

// publish tells the watchers of a run its new state.
func (q *Queue) publish(id string, e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j := q.running[id]; j != nil {
		if j.last.Status.Ended() {
			return // a step of a solver that has not noticed yet
		}
		j.last = e
	}
	for ch := range q.watchers[id] {
		offer(ch, e)
		if e.Status.Ended() {
			q.dismiss(id, ch)
		}
	}
}

// offer puts e in the place of what nobody has read yet. Callers hold q.mu.
func offer(ch chan Event, e Event) {
	select {
	case <-ch:
	default:
	}
	ch <- e
}

// dismiss closes a channel once. Callers hold q.mu.
func (q *Queue) dismiss(id string, ch chan Event) {
	if !q.watchers[id][ch] {
		return
	}
	close(ch)
	delete(q.watchers[id], ch)
	if len(q.watchers[id]) == 0 {
		delete(q.watchers, id)
	}
}
