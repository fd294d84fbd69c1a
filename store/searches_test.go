package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// rings returns a data set that can be split into folds.
func rings(t *testing.T) *dataset.Data {
	t.Helper()
	var points [][2]float64
	var labels []string
	for i := range 24 {
		points = append(points, [2]float64{float64(i * i % 17), float64(i * 5 % 11)})
		labels = append(labels, string(rune('a'+i%2)))
	}
	return require.Value(dataset.FromPoints(points, labels))(t)
}

// asked returns a search of 4 settings in 2 paths, each of 3 cells.
func asked(t *testing.T) NewSearch {
	t.Helper()
	return NewSearch{Data: rings(t), DatasetName: "rings", Spec: ml.DefaultSpec(), Grid: eval.Grid{"C": eval.Numbers(1, 10), "gamma": eval.Numbers(0.1, 1)}, Scheme: eval.Scheme{Folds: 3, Repeats: 1}}
}

// work computes cells for an owner until none is left or most are done, and returns their names.
func (s *Store) work(t testing.TB, owner Owner, most int) (names []string) {
	t.Helper()
	for len(names) < most {
		c, ok := s.claimCell(t, owner)
		if !ok {
			break
		}
		names = append(names, c.Name)
		require.Value(s.FinishCells(t.Context(), s.compute(t, c)))(t)
	}
	return names
}

func (s *Store) compute(t testing.TB, c Cell) eval.CellResult {
	t.Helper()
	plan, d, err := s.PlanOf(t.Context(), c.Search)
	require.NoError(t, err)
	cell := plan.Cells()[c.Place]
	require.Equal(t, require.Value(cell.Name())(t), c.Name, "name of cell %d, and in the table", c.Place)
	return require.Value(eval.NewWorker(d, 0).Compute(t.Context(), cell))(t)
}

// A search computed cell by cell has the result of a single process, and an equal one has nothing
// left to compute.
func TestSearch(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	n := asked(t)
	search := require.Value(s.CreateSearch(ctx, alice, n))(t)
	require.Must(t, search.Status == Queued && search.Total == 6 && search.Done == 0 && search.DatasetName == "rings" && len(require.Value(s.Reached(ctx, search.ID))(t).Settings) <= 0,
		"%+v", search)
	require.Check(t, len(require.Value(s.Waiting(ctx, owner))(t)) != 0, "no cell waits")
	wantErr(t, require.Err(s.Search(ctx, bob, search.ID)), ErrNotFound)
	plan, _, err := s.PlanOf(ctx, search.ID)
	require.NoError(t, err)
	names := require.Value(plan.Names())(t)
	open := require.Value(s.OpenCells(ctx, append(names, "another")))(t)
	require.Check(t, len(open) == 6 && !slices.Contains(open, "another"), "open: %q", open)

	s.work(t, owner, 4) // the first path, and one cell of the second
	search = require.Value(s.Search(ctx, alice, search.ID))(t)
	reached := require.Value(s.Reached(ctx, search.ID))(t).Settings
	require.Must(t, search.Status == Running && search.Done == 4 && search.Result == nil && len(reached) == 2 && reached[0].Values.Text("gamma") == "0.1",
		"%+v, %+v", search, reached)
	names = s.work(t, owner, 100)
	require.Check(t, len(names) == 2 && len(require.Value(s.Waiting(ctx, owner))(t)) <= 0, "%d cells were left", len(names))
	search = require.Value(s.Search(ctx, alice, search.ID))(t)
	want := require.Value(eval.CrossValidate(ctx, n.Data, n.Spec, n.Grid, n.Scheme, nil))(t)
	diff := cmp.Diff(want, search.Result)
	require.Check(t, search.Status == Done && !search.Finished.IsZero() && diff == "", "%s: %s", search.Status, diff)

	again := require.Value(s.CreateSearch(ctx, bob, n))(t)
	if diff := cmp.Diff(want, again.Result); again.Status != Done || again.Known != 6 || diff != "" {
		t.Errorf("%s, %d cells known: %s", again.Status, again.Known, diff)
	}
	n.Grid["gamma"] = eval.Numbers(1, 2) // one of the paths is known
	part := require.Value(s.CreateSearch(ctx, bob, n))(t)
	require.Check(t, part.Known == 3 && len(s.work(t, owner, 100)) == 3, "%+v", part)
	list, total, err := s.Searches(ctx, bob, 1, 0)
	require.Check(t, err == nil && total == 2 && len(list) == 1 && list[0].Known == 3,
		"%d of %d, %v", len(list), total, err)

	// Results that no search needs any longer are deleted.
	for _, id := range []string{list[0].ID, again.ID} {
		wantErr(t, s.DeleteSearch(ctx, alice, id), ErrNotFound)
		require.NoError(t, s.DeleteSearch(ctx, bob, id))
	}
	require.Equal(t, count(t, s, "results"), 6, "results are left of a search of 6 cells")
	require.NoError(t, s.DeleteSearch(ctx, alice, search.ID))
	empty(t, s, "results", "cells", "searches", "points")
}

// Cells of a dead owner are computed again after their lease expires, and count once.
func TestCellLeases(t *testing.T) {
	s, ctx, now := stopped(t)
	search := require.Value(s.CreateSearch(ctx, alice, asked(t)))(t)
	lost, ok := s.claimCell(t, "dead")
	kept, _ := s.claimCell(t, "dead")
	require.Must(t, ok && lost.Place == 0 && kept.Place == 1, "%+v, %+v", lost, kept)
	other := require.Value(s.CreateSearch(ctx, bob, asked(t)))(t)
	names := s.work(t, owner, 100)
	require.Check(t, len(names) == 4 && !slices.Contains(names, lost.Name),
		"%d cells, %d held by another owner", len(names), 2)
	_, held := s.renew(t, "dead")
	require.Check(t, slices.Equal(held, []Cell{lost, kept}), "held %+v", held)
	*now = now.Add(Lease + time.Millisecond)
	require.Slices(t, s.work(t, owner, 100), []string{lost.Name, kept.Name}, "taken up again")
	_, held = s.renew(t, "dead")
	require.Check(t, len(held) == 0, "held %+v", held)
	on, err := s.FinishCells(ctx, s.compute(t, lost))
	require.Check(t, err == nil && len(on) == 0, "brought on %v, %v", on, err) // the owner was alive
	require.Equal(t, count(t, s, "results"), 6, "results of 6 cells")
	for ws, id := range map[Workspace]string{alice: search.ID, bob: other.ID} {
		got := require.Value(s.Search(ctx, ws, id))(t)
		require.Check(t, got.Status == Done && got.Result != nil, "%+v", got)
	}
}

// A cell that kills its owners fails its search, and so does one that cannot be computed.
func TestSearchFails(t *testing.T) {
	s, ctx, now := stopped(t)
	deadly := require.Value(s.CreateSearch(ctx, alice, asked(t)))(t)
	for i := range MaxAttempts {
		c, ok := s.claimCell(t, Owner(fmt.Sprint(i)))
		require.Must(t, ok && c.Place == 0, "%+v, %v", c, ok)
		*now = now.Add(Lease + time.Millisecond)
	}
	c, ok := s.claimCell(t, "stopping")
	got := require.Value(s.Search(ctx, alice, deadly.ID))(t)
	require.Check(t, !ok && got.Status == Failed && got.Error != "", "%+v, %v: %+v", c, ok, got)

	twins := []Search{require.Value(s.CreateSearch(ctx, alice, asked(t)))(t), require.Value(s.CreateSearch(ctx, bob, asked(t)))(t)}
	for range MaxAttempts { // the program stops in an orderly way
		c, ok = s.claimCell(t, "stopping")
		require.Must(t, ok, "no cell")
		require.NoError(t, s.ReleaseCell(ctx, "stopping", c, false, Light))
	}
	c, ok = s.claimCell(t, owner)
	failed := require.Value(s.FailCell(ctx, c.Name, "why"))(t)
	slices.Sort(failed)
	want := []string{twins[0].ID, twins[1].ID}
	slices.Sort(want)
	require.Check(t, ok && slices.Equal(failed, want) && len(require.Value(s.Waiting(ctx, owner))(t)) <= 0,
		"failed %v of %v", failed, want)
	on, err := s.FinishCells(ctx, s.compute(t, c))
	require.Check(t, err == nil && len(on) == 0 && require.Value(s.Search(ctx, bob, twins[1].ID))(t).Status == Failed, "%v, %v", on, err)
}

// A cancelled search releases its cells, also to other searches.
func TestCancelSearch(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	search := require.Value(s.CreateSearch(ctx, alice, asked(t)))(t)
	c, _ := s.claimCell(t, owner)
	wantErr(t, s.CancelSearch(ctx, bob, search.ID), ErrNotFound)
	require.NoError(t, s.CancelSearch(ctx, alice, search.ID))
	wantErr(t, s.CancelSearch(ctx, alice, search.ID), ErrEnded)
	_, held := s.renew(t, owner)
	require.Check(t, len(held) == 0 && len(require.Value(s.Waiting(ctx, "other"))(t)) <= 0, "held %+v", held)
	require.Value(s.CreateSearch(ctx, bob, asked(t)))(t)
	twin, ok := s.claimCell(t, "other")
	require.Check(t, ok && twin.Name == c.Name, "%+v, %v", twin, ok)
	require.Value(s.FinishCells(ctx, s.compute(t, twin)))(t)
	require.Equal(t, require.Value(s.Search(ctx, alice, search.ID))(t).Done, 0, "cells done after cancelling")
	states := require.Value(s.States(ctx, search.ID, "gone"))(t)
	require.Check(t, len(states) == 1 && states[search.ID].Status == Cancelled, "%+v", states)
}

// A search that is too large or invalid is refused before folds are drawn.
func TestSearchIsBounded(t *testing.T) {
	s := fresh(t)
	many := lists.Make(2000, func(i int) float64 { return float64(i + 1) })
	for name, change := range map[string]func(*NewSearch){
		"one fold":       func(n *NewSearch) { n.Scheme.Folds = 1 },
		"too many folds": func(n *NewSearch) { n.Scheme.Folds = 13 },
		"huge folds":     func(n *NewSearch) { n.Scheme.Folds = 1 << 62 },
		"huge repeats":   func(n *NewSearch) { n.Scheme.Repeats = 1 << 62 },
		"negative":       func(n *NewSearch) { n.Scheme.Folds, n.Scheme.Repeats = -3, -1 },
		"nested":         func(n *NewSearch) { n.Scheme = eval.Scheme{Folds: 12, Repeats: 1000, Nested: true} },
		"many paths":     func(n *NewSearch) { n.Grid["gamma"] = eval.Numbers(many...); n.Grid["C"] = nil; n.Scheme.Folds = 6 },
		"no parameter":   func(n *NewSearch) { n.Grid["beauty"] = eval.Numbers(1) },
		"no value":       func(n *NewSearch) { n.Grid["C"] = eval.Numbers(-1) },
	} {
		n := asked(t)
		change(&n)
		_, err := s.CreateSearch(t.Context(), alice, n)
		var problems param.Problems
		var refusal *param.Refusal
		require.Check(t, errors.As(err, &problems) || errors.As(err, &refusal), "%s: %v", name, err)
	}
	n := asked(t)
	n.Dataset = "nowhere"
	wantErr(t, require.Err(s.CreateSearch(t.Context(), alice, n)), ErrNotFound)
	n = asked(t)
	for range maxSearchingEach {
		require.Value(s.CreateSearch(t.Context(), alice, n))(t)
	}
	wantErr(t, require.Err(s.CreateSearch(t.Context(), alice, n)), ErrSearching)
	run(t, s, `
		WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
		INSERT INTO searches (id, workspace, dataset_name, hash, spec, grid, scheme, axes, plan, status, known, created)
		SELECT n, 'of ' || n, '', hash, spec, grid, scheme, axes, plan, status, known, created FROM i, (SELECT * FROM searches LIMIT 1)`, MaxSearching-maxSearchingEach-1)
	require.Value(s.CreateSearch(t.Context(), WorkspaceOf("the last"), n))(t) // other users' searches leave room
	wantErr(t, require.Err(s.CreateSearch(t.Context(), bob, n)), ErrQueueFull)
}

// BenchmarkCells measures the store for one cell of a search of thousands.
func BenchmarkCells(b *testing.B) {
	s := require.Value(Open(b.Context(), b.TempDir()))(b)
	defer s.Close()
	d := require.Value(dataset.Generate("moons", 1000, 0.3, 1))(b)
	values := func(n int) (v []float64) {
		return lists.Make(n, func(i int) float64 { return float64(i + 1) })
	}
	one := eval.Fold{Shares: &eval.Shares{Accuracy: 0.9, TrainAccuracy: 0.9}, Status: "converged", SupportVectors: 100}
	folds := slices.Repeat([]eval.Fold{one}, 7)
	var search Search
	for n := 0; b.Loop(); n++ {
		if n%2000 == 0 {
			search = require.Value(s.CreateSearch(b.Context(), alice, NewSearch{
				Data: d, Spec: ml.DefaultSpec(), Grid: eval.Grid{"C": eval.Numbers(values(7)...), "gamma": eval.Numbers(values(400)...)},
				Scheme: eval.Scheme{Folds: 5, Repeats: 1, Seed: uint64(n)},
			}))(b)
		}
		c, ok := s.claimCell(b, owner)
		require.Must(b, ok && c.Search == search.ID, "%v %v", c, ok)
		require.Value(s.FinishCells(b.Context(), eval.CellResult{Cell: c.Name, Folds: folds}))(b)
		require.Value(s.States(b.Context(), search.ID))(b)
	}
}
