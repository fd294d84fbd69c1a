// Package limiter shares a busy server out: turns for what is computed at once, memory for what is
// large, and the time that an answer may take.
package limiter

import (
	"container/list"
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"marginlab/ml/pace"
)

// Limiter admits requests for an answer, at most one at a time for each of its
// places. Of each asker one is served and one waits, the newest, which takes over the
// place of an older one in the line. So as much is answered as without a line, and
// nobody's questions pile up.
//
// Everybody may have to wait for so many times as long as his own answers take: among
// those who ask for as much as each other, who came first is served first, and who asks
// for little passes those who ask for much. While somebody with quick answers is
// about, the others leave two places to such, and their answers are held while such a one
// is made. Who is not known yet is taken for one like those who are about. It is safe for
// concurrent use.
type Limiter struct {
	places int
	quick  pace.Gate // closed while somebody is served who asks for little

	mu      sync.Mutex
	serving map[string]time.Time // since when, by asker
	waiting *list.List           // of *waiter, who came first in front
	habits  map[string]habit     // by asker
}

// habit is how long the answers of an asker take: the quickest one of late, which says
// most of what is asked and least of what else went on.
type habit struct {
	each, before time.Duration // the quickest since began, and of the time before
	began, last  time.Time
}

func (h habit) least() time.Duration {
	if h.before > 0 {
		return min(h.each, h.before)
	}
	return h.each
}

// after is the habit after another answer.
func (h habit) after(took time.Duration, now time.Time) habit {
	took = max(took, 1) // 0 means unknown
	if h.each == 0 || now.Sub(h.began) > about {
		return habit{took, h.each, now, now}
	}
	return habit{min(h.each, took), h.before, h.began, now}
}

const (
	worthWaiting = 20 // times as long as the answer takes
	quick        = 25 * time.Millisecond
	slower       = 2                // times as long as the quickest answers, and longer than quick, take those that are not
	about        = 10 * time.Second // is who was served that lately
	remembered   = 10 * time.Minute
	mostKnown    = 1000 // askers
)

type waiter struct {
	asker string
	since time.Time
	turn  chan turn // once
}

// turn is how somebody is served.
type turn struct {
	superseded bool // not at all: a newer one came
	slow       bool // he asks for much, while others ask for little
	busy       bool // more wait than are served
}

// Turn is the place of one who is served.
type Turn struct {
	Context context.Context // of the answer
	Busy    bool            // more wait than are served: a coarser answer will do
	Leave   func()          // gives the place back
}

// New returns a line with that many places.
func New(places int) *Limiter {
	return &Limiter{places: places, serving: map[string]time.Time{}, waiting: list.New(), habits: map[string]habit{}}
}

// Places is how many live questions are answered at a time: one on each processor and one
// more, so that none of them idles while another is read or waits for the database.
func Places() int { return runtime.NumCPU() + 1 }

// errSuperseded is returned by Enter when a newer request has taken the place.
var errSuperseded = errors.New("a newer question of the same asker takes the place of this one")

// Enter waits for a place. It returns errSuperseded when the
// same asker enters again meanwhile, and ctx.Err() when ctx ends first.
func (l *Limiter) Enter(ctx context.Context, asker string) (Turn, error) {
	return l.enter(ctx, asker, true)
}

// Join is Enter for what each is wanted of that one asker asks for: they wait for each other.
func (l *Limiter) Join(ctx context.Context, asker string) (Turn, error) {
	return l.enter(ctx, asker, false)
}

func (l *Limiter) enter(ctx context.Context, asker string, newest bool) (Turn, error) {
	w := &waiter{asker, time.Now(), make(chan turn, 1)}
	l.mu.Lock()
	at := l.waiting.PushBack(w)
	for e := l.waiting.Front(); newest && e != at; e = e.Next() {
		if older := e.Value.(*waiter); older.asker == asker {
			l.waiting.MoveBefore(at, e)
			w.since = older.since
			l.waiting.Remove(e)
			older.turn <- turn{superseded: true}
			break
		}
	}
	l.serve()
	l.mu.Unlock()

	select {
	case t := <-w.turn:
		switch {
		case t.superseded:
			return Turn{}, errSuperseded
		case t.slow:
			return Turn{l.quick.Behind(ctx, 1), t.busy, func() { l.leave(asker) }}, nil
		}
		done := l.quick.Urgent()
		return Turn{ctx, t.busy, func() { done(); l.leave(asker) }}, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting.Remove(at) // if it is still there
	select {
	case t := <-w.turn: // just as ctx ended
		if !t.superseded {
			l.vacate(asker)
		}
	default:
	}
	return Turn{}, ctx.Err()
}

// leave gives a place back.
func (l *Limiter) leave(asker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vacate(asker)
}

// vacate gives a place to the next. Callers hold l.mu.
func (l *Limiter) vacate(asker string) {
	now := time.Now()
	l.habits[asker] = l.habits[asker].after(now.Sub(l.serving[asker]), now)
	l.forget(now)
	delete(l.serving, asker)
	l.serve()
}

// forget drops the habits of those who have not asked for long, and of the one who has not for
// longest where too many are known, as when somebody is a new visitor with every question.
// Callers hold l.mu.
func (l *Limiter) forget(now time.Time) {
	var oldest string
	for asker, h := range l.habits {
		if now.Sub(h.last) > remembered {
			delete(l.habits, asker)
		} else if o, ok := l.habits[oldest]; !ok || h.last.Before(o.last) {
			oldest = asker
		}
	}
	if len(l.habits) > mostKnown {
		delete(l.habits, oldest)
	}
}

// serve gives free places to those whose turn it is. Callers hold l.mu.
func (l *Limiter) serve() {
	now := time.Now()
	expected, quickest := l.expected(now)
	slow := func(asker string) bool { return quickest > 0 && expected(asker) > max(quick, slower*quickest) }
	slowly := 0 // are served
	for asker := range l.serving {
		if slow(asker) {
			slowly++
		}
	}
	for len(l.serving) < l.places {
		var next *list.Element
		var first time.Time
		for e := l.waiting.Front(); e != nil; e = e.Next() {
			w := e.Value.(*waiter)
			if _, served := l.serving[w.asker]; served || slow(w.asker) && slowly >= max(1, l.places-2) {
				continue
			}
			if due := w.since.Add(worthWaiting * expected(w.asker)); next == nil || due.Before(first) {
				next, first = e, due
			}
		}
		if next == nil {
			return
		}
		w := l.waiting.Remove(next).(*waiter)
		t := turn{slow: slow(w.asker), busy: l.waiting.Len() > l.places}
		if t.slow {
			slowly++
		}
		l.serving[w.asker] = now
		w.turn <- t
	}
}

// expected tells how long the answers of an asker take, and how long the quickest of those
// who are about, 0 if nobody is. Who is not known is taken for one like them. Callers hold l.mu.
func (l *Limiter) expected(now time.Time) (each func(asker string) time.Duration, quickest time.Duration) {
	var sum, n time.Duration
	for _, h := range l.habits {
		if now.Sub(h.last) > about {
			continue
		}
		if n == 0 || h.least() < quickest {
			quickest = h.least()
		}
		sum += h.least()
		n++
	}
	usual := sum / max(n, 1)
	return func(asker string) time.Duration {
		if h, known := l.habits[asker]; known {
			return h.least()
		}
		return usual
	}, quickest
}
