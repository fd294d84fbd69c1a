package jobs

import (
	"maps"
	"time"
)

// Work counts the computation of a search by all engines since this process started.
type Work struct {
	Took  time.Duration // time with at least one running cell
	Cells int           // cells computed in that time
	Idle  time.Duration // time since the last running cell; 0: one is running

	until time.Time // time up to which Took and Idle are counted
}

// Worked returns the work on a search; ok is false if none has started here, or none in the last
// day.
func (q *Queue) Worked(search string) (work Work, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.worked[search]; w != nil {
		return *q.counted(search), true
	}
	return Work{}, false
}

// counted returns the work on a search up to now. It must be called before a cell begins or ends.
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

// cellBegins notes that a cell of a search begins. It drops searches without work in the last day.
// Callers hold q.mu.
func (q *Queue) cellBegins(search string) {
	now := q.store.Now()
	maps.DeleteFunc(q.worked, func(id string, w *Work) bool { return !q.computing(id) && w.Idle+now.Sub(w.until) > 24*time.Hour })
	if q.worked[search] == nil {
		q.worked[search] = &Work{until: now}
	}
	q.counted(search)
}
