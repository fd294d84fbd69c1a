package handlers

import (
	"container/list"
	"context"
	"sync"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// recent keeps the last results of the lab, so that a page, its pictures and
// their downloads train once. It is safe for concurrent use.
type recent struct {
	mu    sync.Mutex
	size  int
	order *list.List // of *entry, latest first
	byKey map[string]*list.Element
}

type entry struct {
	key string
	res *ml.Result
}

func newRecent(size int) *recent {
	return &recent{size: size, order: list.New(), byKey: map[string]*list.Element{}}
}

// train is ml.Train, or its result of a moment ago. Only results that ended by
// themselves are kept.
func (c *recent) train(ctx context.Context, d *dataset.Data, spec ml.Spec) (*ml.Result, error) {
	js, err := spec.MarshalJSON()
	if err != nil {
		return nil, err
	}
	key := d.Hash() + string(js)
	c.mu.Lock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*entry).res, nil
	}
	c.mu.Unlock()

	res, err := ml.Train(ctx, d, spec, nil)
	if err != nil || ctx.Err() != nil {
		return res, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; !ok {
		c.byKey[key] = c.order.PushFront(&entry{key, res})
	}
	for c.order.Len() > c.size {
		last := c.order.Back()
		delete(c.byKey, last.Value.(*entry).key)
		c.order.Remove(last)
	}
	return res, nil
}
