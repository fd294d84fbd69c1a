package jobs

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"marginlab/ml/eval"
	"marginlab/store"
)

// CancelSearch ends a search of a workspace that is queued or running.
func (q *Queue) CancelSearch(ctx context.Context, ws store.Workspace, id string) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	if err := q.store.CancelSearch(ctx, ws, id); err != nil {
		return err
	}
	q.stopSearch(id)
	return nil
}

// DeleteSearch deletes a search of a workspace and stops its cells under way.
func (q *Queue) DeleteSearch(ctx context.Context, ws store.Workspace, id string) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	if err := q.store.DeleteSearch(ctx, ws, id); err != nil {
		return err
	}
	q.stopSearch(id)
	return nil
}

// stopSearch stops the cells of a search that has ended.
func (q *Queue) stopSearch(id string) {
	q.mu.Lock()
	for _, j := range q.running {
		if j.search == id {
			j.cancel()
		}
	}
	q.mu.Unlock()
	q.plans.drop(id)
	q.publish(id, Event{Status: store.Cancelled})
}

// keyOf tells cells apart from each other and from runs.
func keyOf(c store.Cell) string { return fmt.Sprintf("%s/%d", c.Search, c.Place) }

// takeCell computes the next cell of a search, if one is waiting.
func (q *Queue) takeCell(ctx context.Context) (bool, error) {
	j, c, ok, err := q.claimCell(ctx)
	if ok {
		q.Notify() // there may be more, for the other workers
		q.doCell(ctx, j, c)
		q.end(j)
	}
	return ok, err
}

// claimCell takes the next cell from the queue.
func (q *Queue) claimCell(ctx context.Context) (*job, store.Cell, bool, error) {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	c, ok, err := q.store.ClaimCell(ctx, q.owner, q.each())
	if !ok || err != nil {
		return nil, c, false, err
	}
	return q.begin(ctx, keyOf(c), c.Search, 0), c, true, nil
}

// doCell computes one cell and stores what it gave.
func (q *Queue) doCell(ctx context.Context, j *job, c store.Cell) {
	res, err := sound(func() (eval.CellResult, error) { return q.compute(j.ctx, c) })

	var searches []string
	switch {
	case err == nil:
		err = q.insist(ctx, tries, func(ctx context.Context) (err error) { searches, err = q.store.FinishCell(ctx, res); return err })
		if err != nil && ctx.Err() == nil {
			searches = q.failCell(ctx, c, err)
		}
	case ctx.Err() != nil:
	case j.ctx.Err() != nil:
		return // the search was cancelled, deleted, or failed, or another program has the cell
	default:
		searches = q.failCell(ctx, c, err)
	}
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
	defer cancel()
	if err != nil && ctx.Err() != nil { // it is for the next start
		if err := q.store.ReleaseCell(keep, q.owner, c); err != nil {
			q.log.ErrorContext(ctx, "cell not put back into the queue", "search", c.Search, "cell", c.Place, "err", err)
		}
		return
	}
	q.tellSearches(keep, searches)
}

// tellSearches tells the watchers of searches how far these are, and forgets the plans of
// those that have ended.
func (q *Queue) tellSearches(ctx context.Context, ids []string) {
	q.telling.Lock()
	defer q.telling.Unlock()
	states, err := q.states(ctx, ids...)
	if err != nil {
		q.log.ErrorContext(ctx, "state of searches not read", "err", err)
		return
	}
	for id, e := range states {
		if e.Status.Ended() {
			q.plans.drop(id)
		}
		q.publish(id, e)
	}
}

// failCell ends the searches that wait for a cell, with the reason.
func (q *Queue) failCell(ctx context.Context, c store.Cell, reason error) (searches []string) {
	message := q.explain(ctx, reason, "search", c.Search)
	_ = q.insist(ctx, 0, func(ctx context.Context) (err error) {
		searches, err = q.store.FailCell(ctx, c.Name, message)
		return err
	}) // tried again, or for the next start
	return searches
}

// compute does the work of a cell.
func (q *Queue) compute(ctx context.Context, c store.Cell) (res eval.CellResult, err error) {
	p, err := q.plans.get(c.Search, func() (*planned, error) {
		plan, d, err := q.store.PlanOf(ctx, c.Search)
		if err != nil {
			return nil, fmt.Errorf("plan of search %s: %w", c.Search, err)
		}
		return &planned{c.Search, plan.Cells(), eval.NewWorker(d, 0)}, nil
	})
	if err != nil {
		return res, err
	}
	if c.Place >= len(p.cells) {
		return res, fmt.Errorf("search %s: cell %d of %d", c.Search, c.Place, len(p.cells))
	}
	return q.computeCell(ctx, p.worker, p.cells[c.Place])
}

// planner keeps the searches that cells were computed of last: their data are read once,
// and cells of one path share a kernel matrix.
type planner struct {
	most int // searches

	mu     sync.Mutex
	recent []*planned // the last one last
}

// planned is a search ready to be computed.
type planned struct {
	search string
	cells  []eval.Cell
	worker *eval.Worker
}

// get is the search of a moment ago, or what load reads. Whoever asks meanwhile waits.
func (p *planner) get(search string, load func() (*planned, error)) (s *planned, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.recent, func(s *planned) bool { return s.search == search })
	if i >= 0 {
		s = p.recent[i]
		p.recent = slices.Delete(p.recent, i, i+1)
	} else if s, err = load(); err != nil {
		return nil, err
	}
	p.recent = append(p.recent, s)
	if len(p.recent) > p.most {
		p.recent = slices.Delete(p.recent, 0, 1)
	}
	return s, nil
}

// drop forgets a search.
func (p *planner) drop(search string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recent = slices.DeleteFunc(p.recent, func(s *planned) bool { return s.search == search })
}
