// Package cache keeps recently computed values.
package cache

import (
	"container/list"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Recent caches recently computed values, so that a page, its pictures and their
// downloads share one computation even if requested concurrently. Values are shared
// and must not be modified. It is safe for concurrent use.
type Recent[V any] struct {
	mu      sync.Mutex
	most    int         // maximum total weight
	weigh   func(V) int // weight of a value
	weight  int
	order   *list.List // of *entry[V], latest first
	byKey   map[string]*list.Element
	flights map[string]*flight[V]
}

type entry[V any] struct {
	key   string
	value V
}

// flight is a running computation.
type flight[V any] struct {
	cancel  context.CancelFunc
	waiting int           // number of callers; without any, the computation is cancelled. Guarded by Recent.mu
	done    chan struct{} // closed when the fields below are set
	value   V
	err     error
	panic   string // message of a panic, empty if none
}

// New returns a cache of the latest size values.
func New[V any](size int) *Recent[V] { return NewWeighed(size, func(V) int { return 1 }) }

// NewWeighed returns a cache of the latest values with a total weight of at most most.
func NewWeighed[V any](most int, weigh func(V) int) *Recent[V] {
	return &Recent[V]{most: most, weigh: weigh, order: list.New(), byKey: map[string]*list.Element{}, flights: map[string]*flight[V]{}}
}

// Find returns a cached value, if any.
func (c *Recent[V]) Find(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[V]).value, true
}

// Get returns a cached value or the result of compute, which is cached unless there is
// an error. Concurrent callers share one computation. Its context ends when no caller
// waits any more; Get returns ctx.Err() if ctx ends first.
func (c *Recent[V]) Get(ctx context.Context, key string, compute func(context.Context) (V, error)) (v V, err error) {
	c.mu.Lock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*entry[V]).value, nil
	}
	f := c.flights[key]
	if f == nil {
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight[V]{cancel: cancel, done: make(chan struct{})}
		c.flights[key] = f
		go c.run(own, key, f, compute)
	}
	f.waiting++
	c.mu.Unlock()

	select {
	case <-f.done:
		if f.panic != "" {
			panic(f.panic)
		}
		return f.value, f.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		c.removeFlight(key, f)
	}
	return v, ctx.Err()
}

// run computes a value, caches it and wakes the waiting callers.
func (c *Recent[V]) run(ctx context.Context, key string, f *flight[V], compute func(context.Context) (V, error)) {
	defer close(f.done)
	defer f.cancel()
	defer func() {
		if v := recover(); v != nil {
			f.panic = fmt.Sprintf("%v\n%s", v, debug.Stack())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.panic == "" && f.err == nil && c.flights[key] == f {
			c.add(key, f.value)
		}
		c.removeFlight(key, f)
	}()
	f.value, f.err = compute(ctx)
}

// Forget removes a value, and ensures that a running computation of it is not cached.
func (c *Recent[V]) Forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.flights, key)
	if e, ok := c.byKey[key]; ok {
		c.remove(e)
	}
}

// remove removes a cached value. Callers hold c.mu.
func (c *Recent[V]) remove(e *list.Element) {
	gone := c.order.Remove(e).(*entry[V])
	c.weight -= c.weigh(gone.value)
	delete(c.byKey, gone.key)
}

// removeFlight removes a flight, so that it cannot be joined any longer. Callers hold c.mu.
func (c *Recent[V]) removeFlight(key string, f *flight[V]) {
	if c.flights[key] == f {
		delete(c.flights, key)
	}
}

// add caches a value as the latest. Callers hold c.mu.
func (c *Recent[V]) add(key string, v V) {
	if _, ok := c.byKey[key]; !ok {
		c.byKey[key] = c.order.PushFront(&entry[V]{key, v})
		c.weight += c.weigh(v)
	}
	for c.weight > c.most {
		c.remove(c.order.Back())
	}
}
