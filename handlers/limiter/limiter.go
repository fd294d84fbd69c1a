// Package limiter shares a busy server between requests: turns for immediate computations, memory
// for large ones, and time limits for answers.
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

// Limiter admits requests, at most one at a time per place. Of each asker's requests, one is served
// and one waits: the newest, which replaces an older one in the queue. So throughput is not
// reduced, and nobody's requests pile up.
//
// Waiting times are proportional to the time an asker's answers take: equal askers are served first
// come, first served, and askers with quick answers overtake those with slow ones. While an asker
// with quick answers is active, slow ones leave two places free and pause while a quick answer is
// computed. New askers are treated like the active ones. A Limiter is safe for concurrent use.
type Limiter struct {
	places int
	quick  pace.Gate // closed while a quick asker is served

	mu      sync.Mutex
	serving map[string]time.Time // start of service, by asker
	waiting *list.List           // of *waiter, in order of arrival
	habits  map[string]habit     // by asker
}

// habit records how long an asker's answers take: the quickest recent one, which depends
// least on other load.
type habit struct {
	each, before time.Duration // the quickest since began, and in the period before
	began, last  time.Time
}

func (h habit) least() time.Duration {
	if h.before > 0 {
		return min(h.each, h.before)
	}
	return h.each
}

// after returns the habit after another answer.
func (h habit) after(took time.Duration, now time.Time) habit {
	took = max(took, 1) // 0 means unknown
	if h.each == 0 || now.Sub(h.began) > activeFor {
		return habit{took, h.each, now, now}
	}
	return habit{min(h.each, took), h.before, h.began, now}
}

const (
	waitFactor  = 20 // times as long as the answer takes
	quickAnswer = 25 * time.Millisecond
	slowFactor  = 2                // an asker is slow if its answers take this many times as long as the quickest, and longer than quickAnswer
	activeFor   = 10 * time.Second // askers served within this time are active
	rememberFor = 10 * time.Minute
	maxHabits   = 1000 // askers
)

type waiter struct {
	asker string
	since time.Time
	turn  chan turn // buffers one value
}

// turn describes how a request is served.
type turn struct {
	superseded bool // not served: replaced by a newer one
	slow       bool // slow, while others are quick
	busy       bool // more requests wait than are served
}

// Turn is the place of a request being served.
type Turn struct {
	Context context.Context // context for computing the answer
	Busy    bool            // more requests wait than are served: answer coarsely
	Leave   func()          // releases the place
}

// New returns a Limiter with a number of places.
func New(places int) *Limiter {
	return &Limiter{places: places, serving: map[string]time.Time{}, waiting: list.New(), habits: map[string]habit{}}
}

// Places returns the number of live requests served at a time: one per processor and one more, so
// that no processor idles while a request is read or waits for the database.
func Places() int { return runtime.NumCPU() + 1 }

// errSuperseded is returned by Enter when a newer request has replaced this one.
var errSuperseded = errors.New("replaced by a newer request of the same client")

// Enter waits for a place. It returns errSuperseded if the same asker enters again meanwhile, and
// ctx.Err() if ctx ends first.
func (l *Limiter) Enter(ctx context.Context, asker string) (Turn, error) {
	return l.enter(ctx, asker, true)
}

// Join is Enter for requests of one asker that are all needed: they queue instead of replacing each
// other.
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
	l.waiting.Remove(at) // unless it was served
	select {
	case t := <-w.turn: // served as ctx ended
		if !t.superseded {
			l.vacate(asker)
		}
	default:
	}
	return Turn{}, ctx.Err()
}

// leave releases a place.
func (l *Limiter) leave(asker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vacate(asker)
}

// vacate releases a place and serves others. Callers hold l.mu.
func (l *Limiter) vacate(asker string) {
	now := time.Now()
	l.habits[asker] = l.habits[asker].after(now.Sub(l.serving[asker]), now)
	l.forget(now)
	delete(l.serving, asker)
	l.serve()
}

// forget drops the habits of inactive askers and, if too many remain, that of the asker inactive
// for longest, as when every request comes from a new visitor. Callers hold l.mu.
func (l *Limiter) forget(now time.Time) {
	var oldest string
	for asker, h := range l.habits {
		if now.Sub(h.last) > rememberFor {
			delete(l.habits, asker)
		} else if o, ok := l.habits[oldest]; !ok || h.last.Before(o.last) {
			oldest = asker
		}
	}
	if len(l.habits) > maxHabits {
		delete(l.habits, oldest)
	}
}

// serve gives free places to the askers whose turn it is. Callers hold l.mu.
func (l *Limiter) serve() {
	now := time.Now()
	expected, quickest := l.expected(now)
	slow := func(asker string) bool {
		return quickest > 0 && expected(asker) > max(quickAnswer, slowFactor*quickest)
	}
	slowly := 0 // number of slow askers being served
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
			if due := w.since.Add(waitFactor * expected(w.asker)); next == nil || due.Before(first) {
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

// expected returns the expected answer time of an asker, and that of the quickest active asker, 0
// if none is active. Unknown askers are treated like the active ones. Callers hold l.mu.
func (l *Limiter) expected(now time.Time) (each func(asker string) time.Duration, quickest time.Duration) {
	var sum, n time.Duration
	for _, h := range l.habits {
		if now.Sub(h.last) > activeFor {
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
