// Package pace lets long work hold while something urgent is done. Work looks up every
// millisecond or two, by Look, as it does anyway to see whether its context has ended; who
// has put it behind a Gate can hold it there. It knows nothing of either.
package pace

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Look returns ctx.Err(). Before, where ctx is behind a gate and something urgent is done, it
// waits.
func Look(ctx context.Context) error {
	if h, ok := ctx.Value(key{}).(*held); ok && h.gate.urgent.Load() > 0 {
		h.hold(ctx)
	}
	return ctx.Err()
}

// Gate holds what is behind it while something urgent is done. Its zero value is open. It is
// safe for concurrent use.
type Gate struct {
	urgent atomic.Int64 // changed under mu

	mu   sync.Mutex
	open chan struct{} // closed when nothing urgent is done any more; nil: nothing is
}

// Urgent closes the gate until done is called.
func (g *Gate) Urgent() (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.urgent.Add(1) == 1 {
		g.open = make(chan struct{})
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.urgent.Add(-1) == 0 {
			close(g.open)
			g.open = nil
		}
	}
}

// Behind returns a context of work that the gate holds, together for no longer than so many times
// what it works: so it gets on however much is urgent.
func (g *Gate) Behind(ctx context.Context, times int) context.Context {
	return context.WithValue(ctx, key{}, &held{gate: g, times: time.Duration(times), began: time.Now(), turn: make(chan struct{}, 1)})
}

type key struct{}

// held is work behind a gate.
type held struct {
	gate  *Gate
	times time.Duration
	began time.Time

	turn  chan struct{} // full while the work, which may be of many goroutines, is held
	total time.Duration // guarded by turn
}

func (h *held) hold(ctx context.Context) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return
	}
	h.gate.mu.Lock()
	open := h.gate.open
	h.gate.mu.Unlock()
	begin := time.Now()
	worked := begin.Sub(h.began) - h.total
	most := h.times*worked - h.total
	if open == nil || most <= 0 {
		return
	}
	enough := time.NewTimer(most)
	defer enough.Stop()
	select {
	case <-open:
	case <-enough.C:
	case <-ctx.Done():
	}
	h.total += time.Since(begin)
}
