// Package pace pauses long work while something more urgent runs. The work calls Look every
// millisecond or two in place of checking its context; a Gate that it runs behind can pause it
// there.
package pace

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Look waits at every closed gate that ctx is behind, the innermost first, then returns ctx.Err().
func Look(ctx context.Context) error {
	h, _ := ctx.Value(key{}).(*held)
	for ; h != nil; h = h.outer {
		if h.gate.urgent.Load() > 0 {
			h.wait(ctx)
		}
	}
	return ctx.Err()
}

// Gate pauses the work behind it while something urgent runs. The zero value is open. It is safe
// for concurrent use.
type Gate struct {
	urgent atomic.Int64 // changed under mu

	mu   sync.Mutex
	open chan struct{} // closed when nothing urgent is left; nil if nothing is urgent
}

// Urgencies returns the number of unfinished calls of Urgent.
func (g *Gate) Urgencies() int { return int(g.urgent.Load()) }

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

// Behind returns a context for work that the gate pauses. The total pause is at most times the
// working time, so that the work always makes progress.
func (g *Gate) Behind(ctx context.Context, times int) context.Context {
	return g.behind(ctx, times)
}

// Strictly returns a context for work that waits as long as the gate is closed.
func (g *Gate) Strictly(ctx context.Context) context.Context {
	return g.behind(ctx, unlimited)
}

// unlimited is the value of times for pauses of any length.
const unlimited = -1

func (g *Gate) behind(ctx context.Context, times int) context.Context {
	outer, _ := ctx.Value(key{}).(*held)
	return context.WithValue(ctx, key{}, &held{gate: g, outer: outer, times: time.Duration(times), began: time.Now(), turn: make(chan struct{}, 1)})
}

type key struct{}

// held is work behind a gate.
type held struct {
	gate  *Gate
	outer *held // the same work behind another gate, or nil
	times time.Duration
	began time.Time

	turn  chan struct{} // semaphore of the goroutines of the work: one waits at the gate at a time
	total time.Duration // time paused at this gate; guarded by turn
	inner atomic.Int64  // nanoseconds paused at inner gates
}

// wait pauses until the gate opens, the allowed pause is used up, or ctx ends.
func (h *held) wait(ctx context.Context) {
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
	most := time.Duration(math.MaxInt64)
	if h.times != unlimited {
		worked := begin.Sub(h.began) - h.total - time.Duration(h.inner.Load())
		most = h.times*worked - h.total
	}
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
	waited := time.Since(begin)
	h.total += waited
	for o := h.outer; o != nil; o = o.outer {
		o.inner.Add(int64(waited))
	}
}
