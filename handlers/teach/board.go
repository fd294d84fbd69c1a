package teach

import (
	"context"
	"sync"
	"time"

	"marginlab/store"
)

// countEvery is the minimum interval between counts of a poll's answers.
const countEvery = 200 * time.Millisecond

// board notifies the watchers of a course of its open question and answers. Regardless of the
// number of students and watchers, answers are counted at most once per countEvery, and only
// while someone watches. It is safe for concurrent use.
type board struct {
	count func(ctx context.Context, code string) (store.Tally, error) // of the open question

	mu      sync.Mutex
	courses map[string]*watched // by code, those with watchers
}

// watched is a course with watchers.
type watched struct {
	readers map[*reader]struct{}
	stale   chan struct{} // holds one value while a change is pending
}

type reader struct {
	ch    chan store.Tally // buffers one value, replaced by newer ones
	every bool             // notified of every answer, not only of questions opened and closed
	told  *store.Poll
}

func newBoard(count func(context.Context, string) (store.Tally, error)) *board {
	return &board{count: count, courses: map[string]*watched{}}
}

// changed marks that a question of a course was asked, closed or answered.
func (b *board) changed(code string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.courses[code]; w != nil {
		w.poke()
	}
}

func (w *watched) poke() {
	select {
	case w.stale <- struct{}{}:
	default:
	}
}

// watch returns a channel with the tally of a course's question, now and after changes: after
// every answer, or only when a question is asked, closed or revealed. A tally without a round
// means no question. The channel is closed when ctx ends.
func (b *board) watch(ctx context.Context, code string, every bool) <-chan store.Tally {
	r := &reader{ch: make(chan store.Tally, 1), every: every}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.courses[code]
	if w == nil {
		w = &watched{readers: map[*reader]struct{}{}, stale: make(chan struct{}, 1)}
		b.courses[code] = w
		go b.keep(code, w)
	}
	w.readers[r] = struct{}{}
	w.poke()
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(w.readers, r)
		close(r.ch)
		if len(w.readers) == 0 {
			delete(b.courses, code)
			close(w.stale) // no more senders
		}
	})
	return r.ch
}

// keep counts and notifies until nobody watches.
func (b *board) keep(code string, w *watched) {
	for range w.stale {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		t, err := b.count(ctx, code)
		cancel()
		if err == nil {
			b.tell(w, t)
		}
		time.Sleep(countEvery)
		if err != nil {
			b.changed(code) // try again
		}
	}
}

func (b *board) tell(w *watched, t store.Tally) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range w.readers {
		if r.told != nil && *r.told == t.Poll && !r.every {
			continue
		}
		r.told = &t.Poll
		select {
		case <-r.ch:
		default:
		}
		r.ch <- t
	}
}
