package jobs

import (
	"context"
	"errors"
	"fmt"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/store"
	"marginlab/web/cache"
)

// Engine computes cells that a queue has claimed for it. Only the queue accesses the store: it
// claims and leases a cell, stores its result, and cancels ctx when the result is no longer wanted.
// Local is the engine of this process; package fleet has one for other machines.
type Engine interface {
	// Slots returns the number of cells the engine can currently compute at a time.
	Slots() int

	// Compute returns the result of a cell, the same on every machine, or an error. After
	// ErrGivenBack or ErrLost another engine may try.
	Compute(ctx context.Context, c store.Cell) (eval.CellResult, error)
}

// Reasons why a cell was not completed: no worker is available, or its worker died, perhaps because
// of it.
var (
	ErrGivenBack = errors.New("no worker is left to compute the cell")
	ErrLost      = errors.New("a worker died while it computed the cell")
)

// leasedEngine is an engine with the owner of its leases.
type leasedEngine struct {
	Engine
	owner store.Owner
}

// Use adds a second engine to the workers of this process. It must be called before Run.
func (q *Queue) Use(e Engine) { q.away = &leasedEngine{e, store.NewOwner()} }

// Found stores the result of a cell computed for an earlier process.
func (q *Queue) Found(ctx context.Context, res eval.CellResult) error {
	searches, err := q.store.FinishCells(ctx, res)
	if err == nil {
		q.publishSearches(ctx, searches)
	}
	return err
}

// Local computes cells in this process. It caches recent searches, so that their data are read once
// and cells of one path share a kernel matrix.
type Local struct {
	load  func(ctx context.Context, search string) (*eval.Plan, *dataset.Data, error)
	slots int

	compute func(context.Context, *eval.Worker, eval.Cell) (eval.CellResult, error) // eval.Worker's, except in tests

	searches *cache.Recent[planned]
}

// planned is a search ready to be computed.
type planned struct {
	cells  []eval.Cell
	worker *eval.Worker
}

// NewLocal returns an engine that computes up to slots cells at a time. load returns the plan of a
// search and its data.
func NewLocal(slots int, load func(ctx context.Context, search string) (*eval.Plan, *dataset.Data, error)) *Local {
	return &Local{load: load, slots: slots, searches: cache.New[planned](slots + 1), compute: func(ctx context.Context, w *eval.Worker, c eval.Cell) (eval.CellResult, error) {
		return w.Compute(ctx, c)
	}}
}

// Slots returns the number of cells computed at a time.
func (e *Local) Slots() int { return e.slots }

// Compute computes a cell. A panic becomes an error.
func (e *Local) Compute(ctx context.Context, c store.Cell) (eval.CellResult, error) {
	return catchPanic(func() (res eval.CellResult, err error) {
		p, err := e.planned(ctx, c.Search)
		if err != nil {
			return res, err
		}
		if c.Place >= len(p.cells) {
			return res, fmt.Errorf("search %s: cell %d of %d", c.Search, c.Place, len(p.cells))
		}
		return e.compute(ctx, p.worker, p.cells[c.Place])
	})
}

// planned returns a search from the cache or loads it; concurrent callers for the same search wait.
func (e *Local) planned(ctx context.Context, search string) (planned, error) {
	return e.searches.Get(ctx, search, func(ctx context.Context) (planned, error) {
		plan, d, err := e.load(ctx, search)
		if err != nil {
			return planned{}, fmt.Errorf("plan of search %s: %w", search, err)
		}
		return planned{plan.Cells(), eval.NewWorker(d, 0)}, nil
	})
}
