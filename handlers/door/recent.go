package door

import (
	"container/list"
	"context"
	"sync"
)

// Recent keeps what was computed last, so that a page, its pictures and their
// downloads compute once. Values are shared: nobody changes them. It is safe for
// concurrent use.
type Recent[V any] struct {
	mu    sync.Mutex
	size  int
	order *list.List // of *entry[V], latest first
	byKey map[string]*list.Element
}

type entry[V any] struct {
	key   string
	value V
}

// NewRecent returns a cache of the latest size values.
func NewRecent[V any](size int) *Recent[V] {
	return &Recent[V]{size: size, order: list.New(), byKey: map[string]*list.Element{}}
}

// Get is the value of a moment ago, or that of compute, which is kept unless there
// is an error or ctx has ended.
func (c *Recent[V]) Get(ctx context.Context, key string, compute func() (V, error)) (V, error) {
	c.mu.Lock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*entry[V]).value, nil
	}
	c.mu.Unlock()

	v, err := compute()
	if err != nil || ctx.Err() != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; !ok {
		c.byKey[key] = c.order.PushFront(&entry[V]{key, v})
	}
	for c.order.Len() > c.size {
		last := c.order.Back()
		delete(c.byKey, last.Value.(*entry[V]).key)
		c.order.Remove(last)
	}
	return v, nil
}
