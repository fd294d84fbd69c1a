package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/store"
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

	mu     sync.Mutex // never held while a search is loaded
	recent []*planned // most recent last
}

// planned is a search ready to be computed, once loaded.
type planned struct {
	search string

	loading sync.Mutex // held while the search is loaded; guards the fields below
	cells   []eval.Cell
	worker  *eval.Worker // nil: not loaded yet
}

// NewLocal returns an engine that computes up to slots cells at a time. load returns the plan of a
// search and its data.
func NewLocal(slots int, load func(ctx context.Context, search string) (*eval.Plan, *dataset.Data, error)) *Local {
	return &Local{load: load, slots: slots, compute: func(ctx context.Context, w *eval.Worker, c eval.Cell) (eval.CellResult, error) {
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
func (e *Local) planned(ctx context.Context, search string) (*planned, error) {
	p := e.cached(search)
	p.loading.Lock()
	defer p.loading.Unlock()
	if p.worker == nil {
		plan, d, err := e.load(ctx, search)
		if err != nil {
			return nil, fmt.Errorf("plan of search %s: %w", search, err)
		}
		p.cells, p.worker = plan.Cells(), eval.NewWorker(d, 0)
	}
	return p, nil
}

// cached returns the entry of a search, a new one if necessary.
func (e *Local) cached(search string) *planned {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.recent, func(p *planned) bool { return p.search == search })
	if i < 0 {
		i = len(e.recent)
		e.recent = append(e.recent, &planned{search: search})
	}
	p := e.recent[i]
	e.recent = append(slices.Delete(e.recent, i, i+1), p)
	if len(e.recent) > e.slots+1 {
		e.recent = slices.Delete(e.recent, 0, 1)
	}
	return p
}

// forget removes a finished search from the cache.
func (e *Local) forget(search string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recent = slices.DeleteFunc(e.recent, func(p *planned) bool { return p.search == search })
}
