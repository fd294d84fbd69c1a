package teach

import (
	"context"
	"sync"
	"time"

	"marginlab/store"
)

// countEvery is how often the answers to a poll are counted at most.
const countEvery = 200 * time.Millisecond

// board tells those who watch a course what is put to it and how it is answered. However
// many answer and however many watch, the answers of a course are counted once in a
// countEvery, and not at all while nobody watches. It is safe for concurrent use.
type board struct {
	count func(ctx context.Context, code string) (store.Tally, error) // of what is put to the course

	mu      sync.Mutex
	courses map[string]*watched // by code, those with watchers
}

// watched is a course with watchers.
type watched struct {
	readers map[*reader]struct{}
	stale   chan struct{} // has one while something was not told yet
}

// reader is somebody who watches.
type reader struct {
	ch    chan store.Tally // of one place; what nobody has read gives way to what is newer
	every bool             // told every answer, not only what is put and closed
	told  *store.Poll
}

func newBoard(count func(context.Context, string) (store.Tally, error)) *board {
	return &board{count: count, courses: map[string]*watched{}}
}

// changed says that something was put to a course, closed or answered.
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

// watch returns a channel with what is put to a course, now and as it changes: every
// answer or, otherwise, what is asked, closed and revealed. A tally without a round stands
// for nothing. The channel ends with ctx.
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
			close(w.stale) // nobody pokes it any more
		}
	})
	return r.ch
}

// keep counts and tells until nobody watches.
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
			b.changed(code) // and once more
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
