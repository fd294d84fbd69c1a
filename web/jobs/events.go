package jobs

import (
	"context"
	"time"

	"marginlab/ml/trace"
	"marginlab/store"
)

// Event is the current state of a run or search.
type Event struct {
	Status store.Status
	Step   *trace.Step   // of a running run, after its solver's first report
	Left   time.Duration // estimated remaining time; 0: unknown
	Cells  *Cells        // of a running search
	Error  string        // of a failed run or search
}

// Cells holds the number of computed cells of a search.
type Cells struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// Message returns the event for a stream: "progress" with a step or cells, or "status" with the
// status and, if it failed, the error.
func (e Event) Message() (name string, data any) {
	switch {
	case e.Step != nil:
		return "progress", struct {
			*trace.Step
			Left float64 `json:"left_seconds,omitempty"` // estimated; 0: unknown
			Text string  `json:"text"`                   // the step in words
		}{e.Step, e.Left.Seconds(), e.Step.String()}
	case e.Cells != nil:
		return "progress", e.Cells
	}
	return "status", struct {
		Status store.Status `json:"status"`
		Error  string       `json:"error,omitempty"`
	}{e.Status, e.Error}
}

// Subscribe returns a channel with the state of a run of a workspace, now and after
// every change. It is closed after the final state or when ctx ends. A slow reader
// misses states, but never the last one, and never delays the training.
func (q *Queue) Subscribe(ctx context.Context, ws store.Workspace, id string) (<-chan Event, error) {
	return q.watch(ctx, id, func() (Event, error) {
		r, err := q.store.RunWithoutModels(ctx, ws, id)
		return Event{Status: r.Status, Error: r.Error}, err
	})
}

// SubscribeSearch is Subscribe for a search.
func (q *Queue) SubscribeSearch(ctx context.Context, ws store.Workspace, id string) (<-chan Event, error) {
	return q.watch(ctx, id, func() (Event, error) {
		s, err := q.store.Search(ctx, ws, id)
		return eventOf(store.State{Status: s.Status, Error: s.Error, Done: s.Done, Total: s.Total}), err
	})
}

// eventOf reports the progress of a run or search.
func eventOf(s store.State) Event {
	e := Event{Status: s.Status, Error: s.Error}
	if s.Status == store.Running && s.Total > 0 {
		e.Cells = &Cells{s.Done, s.Total}
	}
	return e
}

// Latest returns the last event of a run that is running here.
func (q *Queue) Latest(id string) (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.running[id]
	if j == nil {
		return Event{}, false
	}
	return j.last, true
}

// Wait returns when all runs have ended, after d, or when ctx ends.
func (q *Queue) Wait(ctx context.Context, d time.Duration, ids ...string) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, id := range ids {
		events, err := q.watch(ctx, id, func() (Event, error) {
			states, err := q.states(ctx, id)
			return states[id], err
		})
		if err != nil {
			continue // already ended
		}
		for range events {
		}
	}
}

// watch registers a channel and then sends it the state returned by look. In this order no change
// is missed.
func (q *Queue) watch(ctx context.Context, id string, look func() (Event, error)) (<-chan Event, error) {
	ch := make(chan Event, 1)
	q.mu.Lock()
	if q.watchers[id] == nil {
		q.watchers[id] = map[chan Event]store.Status{}
	}
	q.watchers[id][ch] = ""
	q.mu.Unlock()

	now, err := look()
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.closeWatcher(id, ch)
		return nil, err
	}
	told, open := q.watchers[id][ch]
	switch {
	case !open: // ended meanwhile; the final state is in the channel
		return ch, nil
	case now.Status.Ended():
		q.offer(id, ch, now)
		return ch, nil
	case told == "": // otherwise a newer state was sent meanwhile
		if j := q.running[id]; j != nil {
			now = j.last
		}
		q.offer(id, ch, now)
	}
	context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.closeWatcher(id, ch)
	})
	return ch, nil
}

// states returns the stored states of runs and searches of any workspace. A missing row was
// deleted, which cancels it.
func (q *Queue) states(ctx context.Context, ids ...string) (map[string]Event, error) {
	rows, err := q.store.States(ctx, ids...)
	if err != nil {
		return nil, err
	}
	events := map[string]Event{}
	for _, id := range ids {
		events[id] = Event{Status: store.Cancelled}
		if row, ok := rows[id]; ok {
			events[id] = eventOf(row)
		}
	}
	return events, nil
}

// publish sends the watchers of a run its new state.
func (q *Queue) publish(id string, e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j := q.running[id]; j != nil {
		if j.last.Status.Ended() {
			return // a late step of a cancelled solver
		}
		j.last = e
	}
	for ch := range q.watchers[id] {
		q.offer(id, ch, e)
	}
}

// publishChange sends watchers the state of a job that another process may be working on, if it
// has changed.
func (q *Queue) publishChange(id string, e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running[id] != nil {
		return // it has started here meanwhile
	}
	for ch, told := range q.watchers[id] {
		if told != e.Status || e.Cells != nil {
			q.offer(id, ch, e)
		}
	}
}

// offer sends e, replacing an unread event, and closes the channel after the end of
// a run. Callers hold q.mu.
func (q *Queue) offer(id string, ch chan Event, e Event) {
	select {
	case <-ch:
	default:
	}
	ch <- e
	q.watchers[id][ch] = e.Status
	if e.Status.Ended() {
		q.closeWatcher(id, ch)
	}
}

// closeWatcher closes a watcher's channel once. Callers hold q.mu.
func (q *Queue) closeWatcher(id string, ch chan Event) {
	if _, open := q.watchers[id][ch]; !open {
		return
	}
	close(ch)
	delete(q.watchers[id], ch)
	if len(q.watchers[id]) == 0 {
		delete(q.watchers, id)
	}
}
