package jobs

import (
	"maps"
	"time"
)

// Work counts what this queue has computed of a search since the program started, no matter who
// computed it.
type Work struct {
	Took  time.Duration // with at least one cell under way
	Cells int           // computed meanwhile
	Idle  time.Duration // since a cell was under way last; 0: one is
}

// working is the Work of a search, with the cells under way.
type working struct {
	Work
	under int
	since time.Time // of having any under way, or none
}

// now is the work as it is at a time.
func (w *working) now(t time.Time) Work {
	work := w.Work
	if w.under > 0 {
		work.Took += t.Sub(w.since)
	} else {
		work.Idle = t.Sub(w.since)
	}
	return work
}

// change notes that a cell begins (1) or ends (-1), and how many it has computed.
func (w *working) change(t time.Time, by, cells int) {
	before := w.now(t)
	w.Took, w.Cells = before.Took, w.Cells+cells
	w.under += by
	w.since = t
}

// Worked is the work on a search; ok is false where none has begun here, or none for a day.
func (q *Queue) Worked(search string) (work Work, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.worked[search]; w != nil {
		return w.now(q.store.Now()), true
	}
	return Work{}, false
}

// begun notes that a cell of a search begins. Work on which nobody has gone on for a day is
// dropped. Callers hold q.mu.
func (q *Queue) begun(search string) {
	now := q.store.Now()
	maps.DeleteFunc(q.worked, func(_ string, w *working) bool { return w.now(now).Idle > 24*time.Hour })
	if q.worked[search] == nil {
		q.worked[search] = &working{since: now}
	}
	q.worked[search].change(now, 1, 0)
}
