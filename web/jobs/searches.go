package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/store"
)

// CancelSearch cancels an unfinished search of a workspace.
func (q *Queue) CancelSearch(ctx context.Context, ws store.Workspace, id string) error {
	return q.stopSearches(func() ([]string, error) { return []string{id}, q.store.CancelSearch(ctx, ws, id) })
}

// DeleteSearch deletes a search of a workspace and stops its running cells.
func (q *Queue) DeleteSearch(ctx context.Context, ws store.Workspace, id string) error {
	return q.stopSearches(func() ([]string, error) { return []string{id}, q.store.DeleteSearch(ctx, ws, id) })
}

// CancelStudy cancels the unfinished searches of a study; it returns store.ErrEnded if all have
// ended.
func (q *Queue) CancelStudy(ctx context.Context, ws store.Workspace, id string) error {
	return q.stopSearches(func() ([]string, error) { return q.store.CancelStudy(ctx, ws, id) })
}

// DeleteStudy deletes a study with its searches and stops their running cells.
func (q *Queue) DeleteStudy(ctx context.Context, ws store.Workspace, id string) error {
	return q.stopSearches(func() ([]string, error) { return q.store.DeleteStudy(ctx, ws, id) })
}

// stopSearches calls end, which ends searches and returns their ids, and stops their cells before
// others can start.
func (q *Queue) stopSearches(end func() (ids []string, err error)) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	ids, err := end()
	if err != nil {
		return err
	}
	q.mu.Lock()
	for _, j := range q.running {
		if slices.Contains(ids, j.search) {
			j.cancel(nil)
		}
	}
	q.mu.Unlock()
	for _, id := range ids {
		q.cells.searches.Forget(id)
		q.publish(id, Event{Status: store.Cancelled})
	}
	return nil
}

// keyOf returns a key that is unique among cells and runs.
func keyOf(c store.Cell) string { return fmt.Sprintf("%s/%d", c.Search, c.Place) }

// claimAway claims the next cell for the second engine, if it has capacity.
func (q *Queue) claimAway(ctx context.Context) (do func(), err error) {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	slots, under := q.away.Slots(), 0
	each := map[store.Workspace]int{}
	q.mu.Lock()
	for _, j := range q.running {
		if j.away {
			under++
			each[j.work.Workspace]++
		}
	}
	q.mu.Unlock()
	if under >= slots {
		return nil, nil
	}
	list, err := q.store.Waiting(ctx, q.away.owner)
	if err != nil {
		return nil, err
	}
	q.saveEnded(ctx, list)
	list = slices.DeleteFunc(list, func(w store.Waiting) bool {
		return !w.Search || each[w.Workspace] >= max(1, slots-1) // the last slot is for others
	})
	q.mu.Lock()
	w, ok := q.inTurn(list)
	q.mu.Unlock()
	if !ok {
		return nil, nil
	}
	return q.claimCell(ctx, *q.away, w)
}

// claimCell takes a cell of a search for an engine. Callers hold q.claiming.
func (q *Queue) claimCell(ctx context.Context, e leasedEngine, w store.Waiting) (do func(), err error) {
	c, ok, err := q.store.ClaimCell(ctx, e.owner, w.ID)
	if !ok || err != nil {
		return nil, err
	}
	j := q.begin(ctx, keyOf(c), w, e.owner != q.owner, 0)
	return func() { q.doCell(ctx, e, j, c); q.end(j) }, nil
}

// doCell lets an engine compute a cell and stores the result.
func (q *Queue) doCell(ctx context.Context, e leasedEngine, j *job, c store.Cell) {
	res, err := e.Compute(j.ctx, c)
	q.startSaving(j)
	lost := errors.Is(err, ErrLost)
	noRoom := err != nil && context.Cause(j.ctx) == errNoRoom
	again := lost || noRoom || errors.Is(err, ErrGivenBack)

	var searches []string
	switch {
	case err == nil:
		j.cells = 1
		q.keep(ctx, computed{e.owner, c, res})
		return
	case ctx.Err() != nil:
	case j.ctx.Err() != nil && !noRoom:
		return // the search has ended or was deleted, or another process holds the cell
	case again:
	default:
		searches = q.failCell(ctx, c, err)
	}
	if err != nil && (ctx.Err() != nil || again) { // left for others, or for the next start
		err := q.retry(ctx, 0, func(ctx context.Context) error { return q.store.ReleaseCell(ctx, e.owner, c, lost, j.requeueAs) })
		if err != nil {
			q.Log.ErrorContext(ctx, "cell not put back into the queue", "search", c.Search, "cell", c.Place, "err", err)
		}
		return
	}
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	q.publishSearches(keep, searches)
}

// computed is the result of a cell with its owner.
type computed struct {
	owner store.Owner
	cell  store.Cell
	eval.CellResult
}

// batchTime is how long results of cells are collected before they are stored in one transaction:
// one for each would multiply the bytes written. If the process dies, the cells are computed again.
const batchTime = 250 * time.Millisecond

// keep collects the result of a cell for storing. It blocks while results are being stored, because
// other results could not be stored either.
func (q *Queue) keep(ctx context.Context, c computed) {
	q.saving.Lock()
	defer q.saving.Unlock()
	if q.computed = append(q.computed, c); len(q.computed) == 1 {
		time.AfterFunc(batchTime, func() { q.saveCells(ctx) })
	}
}

// saveEnded stores at once the results of searches with no cells left waiting or running, unless
// results are being stored, which may take long.
func (q *Queue) saveEnded(ctx context.Context, waiting []store.Waiting) {
	if !q.saving.TryLock() {
		return
	}
	q.mu.Lock()
	ended := slices.ContainsFunc(q.computed, func(c computed) bool {
		return !slices.ContainsFunc(waiting, func(w store.Waiting) bool { return w.ID == c.cell.Search }) && !q.computing(c.cell.Search)
	})
	q.mu.Unlock()
	q.saving.Unlock()
	if ended {
		go q.saveCells(ctx) // may take long on a full disk
	}
}

// computing reports whether a cell of a search is being computed. Callers hold q.mu.
func (q *Queue) computing(search string) bool {
	for _, j := range q.running {
		if j.search == search {
			return true
		}
	}
	return false
}

// saveCells stores buffered results and notifies the watchers of their searches.
func (q *Queue) saveCells(ctx context.Context) {
	q.saving.Lock()
	defer q.saving.Unlock()
	list := q.computed
	if q.computed = nil; len(list) == 0 {
		return
	}
	results := lists.Map(list, func(c computed) eval.CellResult { return c.CellResult })
	var searches []string
	err := q.retry(ctx, saveTries, func(ctx context.Context) (err error) {
		searches, err = q.store.FinishCells(ctx, results...)
		return err
	})
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	for _, c := range list {
		switch {
		case err == nil:
		case ctx.Err() == nil:
			searches = append(searches, q.failCell(ctx, c.cell, err)...)
		default: // left for others, or for the next start
			if err := q.store.ReleaseCell(keep, c.owner, c.cell, false, store.Light); err != nil {
				q.Log.ErrorContext(ctx, "cell not put back into the queue", "search", c.cell.Search, "cell", c.cell.Place, "err", err)
			}
		}
	}
	q.publishSearches(keep, searches)
}

// publishSearches sends watchers the progress of searches and drops the plans of finished ones.
func (q *Queue) publishSearches(ctx context.Context, ids []string) {
	q.publishing.Lock()
	defer q.publishing.Unlock()
	states, err := q.states(ctx, ids...)
	if err != nil {
		q.Log.ErrorContext(ctx, "state of searches not read", "err", err)
		return
	}
	for id, e := range states {
		if e.Status.Ended() {
			q.cells.searches.Forget(id)
		}
		q.publish(id, e)
	}
}

// failCell ends the searches that wait for a cell, with the reason.
func (q *Queue) failCell(ctx context.Context, c store.Cell, reason error) (searches []string) {
	message := q.explain(ctx, reason, "search", c.Search)
	_ = q.retry(ctx, 0, func(ctx context.Context) (err error) {
		searches, err = q.store.FailCell(ctx, c.Name, message)
		return err
	}) // left for others, or for the next start
	return searches
}
