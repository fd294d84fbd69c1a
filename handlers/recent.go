package handlers

import (
	"container/list"
	"context"
	"sync"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// recent keeps what was computed last, so that a page, its pictures and their
// downloads compute once. Values are shared: nobody changes them. It is safe for
// concurrent use.
type recent[V any] struct {
	mu    sync.Mutex
	size  int
	order *list.List // of *entry[V], latest first
	byKey map[string]*list.Element
}

type entry[V any] struct {
	key   string
	value V
}

func newRecent[V any](size int) *recent[V] {
	return &recent[V]{size: size, order: list.New(), byKey: map[string]*list.Element{}}
}

// get is the value of a moment ago, or that of compute, which is kept unless there
// is an error or ctx has ended.
func (c *recent[V]) get(ctx context.Context, key string, compute func() (V, error)) (V, error) {
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

// trained is ml.Train, or its result of a moment ago.
func (a *App) trained(ctx context.Context, d *dataset.Data, spec ml.Spec) (*ml.Result, error) {
	js, err := spec.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return a.results.get(ctx, d.Hash()+string(js), func() (*ml.Result, error) { return ml.Train(ctx, d, spec, nil) })
}
