package jobs

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/store/storetest"
)

// asked returns a nested search of 12 cells.
func asked(t *testing.T) store.NewSearch {
	t.Helper()
	d := require.Value(dataset.Generate("moons", 24, 0.3, 1))(t)
	return store.NewSearch{Data: d, Spec: ml.DefaultSpec(), Grid: eval.Grid{"C": eval.Numbers(1, 10), "gamma": eval.Numbers(0.1, 1)}, Scheme: eval.Scheme{Folds: 2, Repeats: 1, Nested: true, Seed: 4}}
}

func (f *fixture) search(n store.NewSearch) string {
	f.Helper()
	s := require.Value(f.st.CreateSearch(f.Context(), alice, n))(f)
	f.q.Notify()
	return s.ID
}

func (f *fixture) follow(id string) <-chan Event {
	f.Helper()
	return require.Value(f.q.SubscribeSearch(f.Context(), alice, id))(f)
}

// A search computed by two processes, after a third has died, has the result of a single process,
// bit for bit, and every cell counts once.
func TestSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, there := setup(t, dir, 2, nil), setup(t, dir, 1, nil)
	n := asked(t)
	id := here.search(n)
	real := here.st.Now
	here.st.Now = func() time.Time { return real().Add(-time.Hour) }
	for range 2 {
		_, ok, err := here.st.ClaimCell(t.Context(), "dead", id)
		require.Must(t, ok && err == nil, "%v %v", ok, err)
	}
	here.st.Now = real
	run := here.create("beside it")
	events := here.follow(id)
	here.start()
	there.start()
	last, most := Event{}, 0
	for e := range events {
		last = e
		if e.Cells != nil {
			require.Check(t, e.Cells.Done >= most && e.Cells.Total == 12,
				"%d of %d cells after %d", e.Cells.Done, e.Cells.Total, most)
			most = e.Cells.Done
		}
	}
	got, err := here.st.Search(t.Context(), alice, id)
	require.Must(t, err == nil && last.Status == store.Done && got.Done == 12, "%+v, %+v, %v", last, got, err)
	want, err := eval.CrossValidate(t.Context(), n.Data, n.Spec, n.Grid, n.Scheme, nil)
	diff := cmp.Diff(want, got.Result)
	require.Check(t, diff == "" && err == nil, "%s, %v", diff, err)
	e := here.end(run)
	require.Check(t, e.Status == store.Done, "%+v", e)
	_, more := <-here.follow(id)
	require.Check(t, more, "no event of a search that has ended")
}

// A search can be cancelled and deleted while cells are running, here or elsewhere, and a stopping
// program returns its cells.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fixture, id string) error{
		"cancelled": func(f *fixture, id string) error { return f.q.CancelSearch(f.Context(), alice, id) },
		"deleted":   func(f *fixture, id string) error { return f.q.DeleteSearch(f.Context(), alice, id) },
		"elsewhere": func(f *fixture, id string) error { return f.st.CancelSearch(f.Context(), alice, id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, t.TempDir(), 1, nil)
			begun := make(chan struct{})
			stopped := make(chan error)
			f.q.cells.compute = func(ctx context.Context, w *eval.Worker, c eval.Cell) (eval.CellResult, error) {
				close(begun)
				<-ctx.Done()
				stopped <- ctx.Err()
				return eval.CellResult{}, ctx.Err()
			}
			id := f.search(asked(t))
			events := f.follow(id)
			f.start()
			<-begun
			require.NoError(t, end(f, id))
			<-stopped
			last := lastOf(events)
			require.Check(t, last.Status == store.Cancelled, "%+v", last)
			waits, err := f.st.Waiting(t.Context(), "other")
			require.Check(t, len(waits) == 0 && err == nil, "a cell still waits %v", err)
		})
	}
	t.Run("stopping", func(t *testing.T) {
		t.Parallel()
		f := setup(t, t.TempDir(), 1, nil)
		begun := make(chan struct{}, 1)
		f.q.cells.compute = func(ctx context.Context, w *eval.Worker, c eval.Cell) (eval.CellResult, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return eval.CellResult{}, ctx.Err()
		}
		id := f.search(asked(t))
		f.start()
		<-begun
		f.stop()
		c, ok, err := f.st.ClaimCell(t.Context(), "next", id)
		require.Check(t, ok && c.Place == 0 && err == nil, "%+v, %v, %v", c, ok, err)
	})
}

// A cell that cannot be computed fails its search with the reason; one that panics, with a short
// message to its owner and the details in the log.
func TestSearchFails(t *testing.T) {
	f := fresh(t, 1, nil)
	f.q.cells.compute = func(ctx context.Context, w *eval.Worker, c eval.Cell) (eval.CellResult, error) {
		panic("oh dear")
	}
	id := f.search(asked(t))
	events := f.follow(id)
	f.start()
	last := lastOf(events)
	f.stop()
	require.Check(t, last.Status == store.Failed && !strings.Contains(last.Error, "oh dear") && strings.Contains(f.log.String(), "oh dear"),
		"%+v; %s", last, f.log)
}

// A search shares the processors with the long runs of its own workspace: cells kept waiting by a
// run are computed before the next run begins.
func TestSearchBesideLongRuns(t *testing.T) {
	t.Parallel()
	var runs, cells atomic.Int64
	f := setup(t, t.TempDir(), 2, func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error) {
		runs.Add(1)
		return nil, errors.New("no result")
	})
	start := time.Now()
	f.st.Now = func() time.Time {
		return start.Add(time.Duration(runs.Load())*10*time.Minute + time.Duration(cells.Load())*time.Second)
	}
	var before int64 // runs started before the last cell
	compute := f.q.cells.compute
	f.q.cells.compute = func(ctx context.Context, w *eval.Worker, c eval.Cell) (eval.CellResult, error) {
		if cells.Add(1) == 12 {
			before = runs.Load()
		}
		return compute(ctx, w, c)
	}
	ids := lists.Make(6, func(int) string { return f.create("long") })
	search := f.follow(f.search(asked(t)))
	f.start()
	for range search {
	}
	for _, id := range ids {
		f.end(id)
	}
	require.Check(t, before <= 1 && runs.Load() == 6, "%d runs before the last cell, %d in all", before, runs.Load())
}

// While results of cells are stored, which takes long on a full disk, runs start and are cancelled.
func TestRunsWhileCellsAreStored(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 1)
	f := setup(t, t.TempDir(), 1, stuck(begun))
	f.q.saving.Lock()
	defer f.q.saving.Unlock()
	id := f.create("a run")
	f.start()
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("no run starts")
	}
	require.NoError(t, f.q.Cancel(t.Context(), alice, id))
}

// givingBack is an engine that gives back the first cell, after a fault.
type givingBack struct {
	Engine
	fault func()
	given atomic.Bool
}

func (e *givingBack) Compute(ctx context.Context, c store.Cell) (eval.CellResult, error) {
	if e.given.Swap(true) {
		return e.Engine.Compute(ctx, c)
	}
	e.fault()
	return eval.CellResult{}, ErrGivenBack
}

// A cell that cannot be put back into the queue at once, as while the database is busy, is put back
// later.
func TestCellGivenBackLater(t *testing.T) {
	f := fresh(t, 1, nil)
	f.q.pause = time.Millisecond
	change := func(statement string) { storetest.Exec(t, f.st.Path(), statement) }
	f.q.here.Engine = &givingBack{Engine: f.q.here.Engine, fault: func() {
		change(`CREATE TRIGGER fault BEFORE UPDATE OF lease ON cells WHEN new.lease = 0 AND new.done = 0 BEGIN SELECT raise(FAIL, 'a fault'); END`)
		time.AfterFunc(100*time.Millisecond, func() { change(`DROP TRIGGER fault`) })
	}}
	events := f.follow(f.search(asked(t)))
	f.start()
	e := lastOf(events)
	require.Check(t, e.Status == store.Done, "%+v", e)
}

// While one search is being loaded, others can be computed and forgotten.
func TestSearchesAreLoadedApart(t *testing.T) {
	t.Parallel()
	loading, end := make(chan struct{}), errors.New("loaded")
	e := NewLocal(1, func(ctx context.Context, search string) (*eval.Plan, *dataset.Data, error) {
		if search == "large" {
			close(loading)
			<-ctx.Done()
		}
		return nil, nil, end
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { _, err := e.planned(ctx, "large"); ended <- err }()
	<-loading
	go func() { _, err := e.planned(ctx, "small"); e.searches.Forget("large"); ended <- err }()
	select {
	case err := <-ended:
		require.Check(t, errors.Is(err, end), "%v", err)
	case <-time.After(time.Minute):
		t.Error("a small search waits for a large one")
	}
	cancel()
	<-ended
}

// Time without a running cell does not count as time of a search.
func TestWork(t *testing.T) {
	t.Parallel()
	start := time.Now()
	now := start
	st := storetest.Open(t, t.TempDir(), store.Open)
	st.Now = func() time.Time { return now }
	q := New(st, Config{})
	at := func(s int) { now = start.Add(time.Duration(s) * time.Second) }
	begin := func(s int, key string) *job {
		at(s)
		return q.begin(t.Context(), key, store.Waiting{ID: "search", Search: true}, true, 0)
	}
	end := func(s int, j *job, cells int) {
		at(s)
		j.cells = cells
		q.end(j)
	}
	worked := func(s int) Work {
		at(s)
		w, ok := q.Worked("search")
		require.Must(t, ok, "no work at %d", s)
		return Work{Took: w.Took, Cells: w.Cells, Idle: w.Idle}
	}
	_, ok := q.Worked("search")
	require.Check(t, !ok, "work before any has begun")
	first, second := begin(1, "search/0"), begin(3, "search/1") // two at a time
	end(4, first, 1)
	end(6, second, 0) // returned
	require.Equal(t, worked(106), Work{Took: 5 * time.Second, Cells: 1, Idle: 100 * time.Second}, "work")
	begin(106, "search/1")
	require.Equal(t, worked(108), Work{Took: 7 * time.Second, Cells: 1}, "work")
}
