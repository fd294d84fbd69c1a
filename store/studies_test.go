package store

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// askedStudy returns a study of the search returned by asked and one with other values of gamma.
func askedStudy(t *testing.T) NewStudy {
	t.Helper()
	first, second := asked(t), asked(t)
	second.Data = first.Data
	second.Grid = eval.Grid{"C": eval.Numbers(1, 10), "gamma": eval.Numbers(0.01, 2)}
	return NewStudy{Title: "two", File: "two", Sizes: []int{len(first.Data.Y)}, Searches: []NewSearch{first, second}}
}

// A study is cancelled as a whole, including running cells, and deleted with the results that only
// it needs.
func TestStudyEnds(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	of := require.Value(s.CreateStudy(ctx, alice, askedStudy(t)))(t)
	has := require.Value(s.Holdings(ctx, alice))(t)
	require.Check(t, has.Studies == 1 && has.Searches == 0, "held: %v", has)
	other := require.Value(s.CreateSearch(ctx, bob, asked(t)))(t)
	s.work(t, owner, 8) // some of each search
	_, ok := s.claimCell(t, owner)
	require.Must(t, ok, "no cell waits")
	wantErr(t, require.Err(s.CancelStudy(ctx, bob, of.ID)), ErrNotFound)
	ended := require.Value(s.CancelStudy(ctx, alice, of.ID))(t)
	after := require.Value(s.Study(ctx, alice, of.ID))(t)
	for _, one := range after.Searches {
		require.Equal(t, one.Status == Cancelled && !one.Finished.IsZero(), one.Done < one.Total,
			"%d of %d cells are done of a search that is %s", one.Done, one.Total, one.Status)
	}
	require.Check(t, len(ended) != 0 && after.Status() == Cancelled, "cancelled: %q, the study is %s", ended, after.Status())
	_, held := s.renew(t, owner)
	for _, c := range held {
		require.Check(t, c.Search == other.ID, "held: %+v", c)
	}
	wantErr(t, require.Err(s.CancelStudy(ctx, alice, of.ID)), ErrEnded)

	s.work(t, "other", 99)
	wantErr(t, require.Err(s.DeleteStudy(ctx, bob, of.ID)), ErrNotFound)
	gone := require.Value(s.DeleteStudy(ctx, alice, of.ID))(t)
	require.Check(t, len(gone) == 2, "gone: %q", gone)
	wantErr(t, require.Err(s.Study(ctx, alice, of.ID)), ErrNotFound)
	left := require.Value(s.Search(ctx, bob, other.ID))(t)
	require.Check(t, left.Status == Done && require.Value(s.Reached(ctx, other.ID))(t) != nil,
		"the other search: %+v", left)
	require.Equal(t, count(t, s, "results"), left.Total, "results kept")
	require.NoError(t, s.DeleteSearch(ctx, bob, other.ID))
	empty(t, s, "cells", "results", "searches", "studies", "points")
}

// A study whose cells are all known is done at once, with the same results.
func TestKnownStudy(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	first := require.Value(s.CreateStudy(ctx, alice, askedStudy(t)))(t)
	s.work(t, owner, 99)
	again := require.Value(s.CreateStudy(ctx, bob, askedStudy(t)))(t)
	require.Must(t, again.Status() == Done, "%+v", again)
	for i, one := range again.Searches {
		require.Check(t, one.Known == one.Total && !one.Started.IsZero(),
			"%d of %d cells were known, begun %v", one.Known, one.Total, one.Started)
		got, want := require.Value(s.Search(ctx, bob, one.ID))(t), require.Value(s.Search(ctx, alice, first.Searches[i].ID))(t)
		diff := cmp.Diff(want.Result, got.Result)
		require.Check(t, diff == "" && got.Result != nil, "%v", diff)
	}
}

// Cells are counted without a plan, correctly, and a study with too many is refused by that count.
func TestCellsAreCounted(t *testing.T) {
	t.Parallel()
	n := asked(t)
	for _, scheme := range []eval.Scheme{{Folds: 4, Repeats: 3}, {Folds: 3, Repeats: 1, Nested: true}, {LeaveOneOut: true, Repeats: 1}, {HoldOut: 0.25, Repeats: 7}} {
		n.Scheme = scheme
		_, plan, err := planned(n, points{})
		require.Must(t, err == nil, "%+v: %v", scheme, err)
		got, err := cellsOf(n)
		want := len(require.Value(plan.Names())(t))
		require.Check(t, err == nil && got == want, "%+v: %d cells, the plan has %d; %v", scheme, got, want, err)
	}
	n.Scheme = eval.Scheme{Folds: len(n.Data.Y) - 1, Repeats: 1600 / (len(n.Data.Y) - 1)} // no class has that many points: planning fails
	n.Grid = eval.Grid{"gamma": eval.Numbers(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}               // nearly 9 600 cells
	large := NewStudy{Title: "large", File: "large", Sizes: []int{len(n.Data.Y)}, Searches: slices.Repeat([]NewSearch{n}, 6)}
	_, err := open(t, t.TempDir()).CreateStudy(t.Context(), alice, large)
	refusal := new(param.Refusal)
	require.Check(t, errors.As(err, &refusal) && strings.Contains(err.Error(), "more than 50000 cells"), "a study of some 57 000 cells: %v", err)
}
