package jobs

import (
	"maps"
	"time"
)

// Work counts what has been computed of a search, by any engine, since this process started.
type Work struct {
	Took  time.Duration // with at least one cell under way
	Cells int           // computed meanwhile
	Idle  time.Duration // since a cell was under way last; 0: one is

	until time.Time // to which Took and Idle are counted
}

// Worked returns the work on a search; ok is false if none has started here, or after it was dropped
// for a day without work.
func (q *Queue) Worked(search string) (work Work, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.worked[search]; w != nil {
		return *q.counted(search), true
	}
	return Work{}, false
}

// counted returns the work on a search up to now, and is called before a cell of it begins or ends.
// Callers hold q.mu.
func (q *Queue) counted(search string) *Work {
	w, now := q.worked[search], q.store.Now()
	if q.computing(search) {
		w.Took, w.Idle = w.Took+now.Sub(w.until), 0
	} else {
		w.Idle += now.Sub(w.until)
	}
	w.until = now
	return w
}

// begun notes that a cell of a search begins. Work on which nobody has gone on for a day is
// dropped. Callers hold q.mu.
func (q *Queue) begun(search string) {
	now := q.store.Now()
	maps.DeleteFunc(q.worked, func(id string, w *Work) bool { return !q.computing(id) && w.Idle+now.Sub(w.until) > 24*time.Hour })
	if q.worked[search] == nil {
		q.worked[search] = &Work{until: now}
	}
	q.counted(search)
}
