package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// inhabited returns a store with n workspaces last used at now, which the test moves.
func inhabited(t *testing.T, n int) (s *Store, now *time.Time) {
	t.Helper()
	s = open(t, t.TempDir())
	now = new(time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC))
	s.Now = func() time.Time { return *now }
	for i := range n {
		require.Value(s.CreateDataset(t.Context(), WorkspaceOf(fmt.Sprint(i)), "d", "", sample(float64(i))))(t)
	}
	return s, now
}

func refusedRetention(t *testing.T, says string, n int, err error) {
	t.Helper()
	var fault *Error
	require.Check(t, n == 0 && errors.As(err, &fault) && strings.Contains(err.Error(), says) && strings.Contains(err.Error(), "marginlab purge"),
		"%d marked, %v", n, err)
}

// TestClockAhead: a clock that jumps ahead deletes nothing, on the first day or later; workspaces
// marked by force are kept once it is right again.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	s, now := inhabited(t, 8)
	ctx := t.Context()
	right := *now
	*now = now.AddDate(0, 0, 500)
	retention := func() time.Time { return now.AddDate(0, 0, -400) }
	n, err := s.Expire(ctx, retention(), false)
	refusedRetention(t, "500 days after", n, err)

	// A visitor makes the clock look right; most workspaces still look unused.
	require.NoError(t, s.Seen(ctx, WorkspaceOf("0")))
	n, err = s.Expire(ctx, retention(), false)
	refusedRetention(t, "7 of 8 workspaces", n, err)

	require.Equal(t, require.Value(s.Expire(ctx, retention(), true))(t), 7, "marked")
	*now = right.Add(UndoFor + time.Hour)
	require.Equal(t, require.Value(s.Sweep(ctx))(t), 0, "deleted by marks of the future")
	require.Equal(t, count(t, s, "datasets"), 8, "data sets are left")
}

// TestMarkedComeBack: a visit keeps a marked workspace, and so does Spare; before many are deleted,
// all are copied, and the copy expires.
func TestMarkedComeBack(t *testing.T) {
	t.Parallel()
	s, now := inhabited(t, 3)
	ctx := t.Context()
	*now = now.AddDate(0, 0, 20)
	for i := range 6 {
		require.Value(s.CreateDataset(ctx, WorkspaceOf(fmt.Sprint("young", i)), "d", "", sample(float64(i))))(t)
	}
	*now = now.AddDate(0, 0, 20)
	mark := func(want int) {
		t.Helper()
		require.Equal(t, require.Value(s.Expire(ctx, now.AddDate(0, 0, -30), false))(t), want, "marked")
	}
	sweep := func(want int) {
		t.Helper()
		*now = now.Add(UndoFor)
		require.Equal(t, require.Value(s.Sweep(ctx))(t), want, "deleted")
	}
	mark(3)
	mark(0)
	*now = now.Add(time.Hour)
	require.NoError(t, s.Seen(ctx, WorkspaceOf("1")))
	require.Equal(t, require.Value(s.Spare(ctx))(t), 3, "spared")
	sweep(0)
	mark(2)
	sweep(2)
	copies := s.copies("deletion")
	require.Must(t, len(copies) == 1, "copies %q", copies)
	damage, have, err := Check(ctx, copies[0])
	require.Check(t, err == nil && len(damage) == 0 && have.Datasets == 9, "the copy: %q, %v, %v", damage, have, err)
	require.Check(t, require.Value(s.Holdings(ctx, WorkspaceOf("1")))(t).Datasets == 1, "who came back has lost a data set")
	require.NoError(t, s.DropCopies(time.Now()))
	require.Check(t, len(s.copies("deletion")) == 1, "the copy is gone at once")
	require.NoError(t, s.DropCopies(time.Now().Add(keepCopies+time.Hour)))
	require.Check(t, len(s.copies("deletion")) == 0, "the copy is kept for ever")
}

// TestCopyBeforeMigration: a database whose rows the next migration changes is copied first; a new
// one is not.
func TestCopyBeforeMigration(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := writtenBy(t, 4, "testdata/rows_v4.sql")
	s := open(t, dir)
	copies := s.copies("schema")
	require.Must(t, len(copies) == 1, "copies %q", copies)
	old := require.Value(openReadOnly(ctx, copies[0]))(t)
	defer old.Close()
	require.Equal(t, require.Value(version(ctx, old.read))(t), 4, "the copy has schema")
	require.NoError(t, s.Close())
	again := open(t, dir).copies("schema")
	require.Check(t, len(again) == 1 && again[0] == copies[0], "copied again: %q", again)

	require.Check(t, !require.Value(changesRows(latestSchema()))(t), "no migration at all changes rows")
	fresh := t.TempDir()
	open(t, fresh)
	names, _ := filepath.Glob(filepath.Join(fresh, "*.before-*"))
	require.Check(t, len(names) == 0, "a new database was copied: %q", names)
}

// TestTrashCountsAsHeld: items in the trash count towards the quota and are purged, oldest first,
// to make room for new ones.
func TestTrashCountsAsHeld(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	one := require.Value(s.CreateDataset(ctx, alice, "first", "", sample(1)))(t)
	each := require.Value(s.Holdings(ctx, alice))(t).Bytes
	s.Quota = Quota{Bytes: 4 * each}
	require.NoError(t, s.DeleteDataset(ctx, alice, one.ID))
	for i := range 6 {
		set := require.Value(s.CreateDataset(ctx, alice, "next", "", sample(float64(i+2))))(t)
		require.NoError(t, s.DeleteDataset(ctx, alice, set.ID))
		all := require.Value(s.Holdings(ctx, trash(alice)))(t).Bytes + require.Value(s.Holdings(ctx, alice))(t).Bytes
		require.Check(t, all <= s.Quota.Bytes+each, "%d bytes are held, %d may be", all, s.Quota.Bytes)
	}
	list := require.Value(s.Deletions(ctx, alice))(t)
	require.Check(t, len(list) >= 2 && list[len(list)-1].Names[0] != "first", "deletions %+v", list)
}

// A migration is preceded by a copy if one of its statements can lose row data.
func TestRowChange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ALTER TABLE runs ADD COLUMN cost REAL;":                             false,
		"CREATE INDEX by_cost ON runs (cost);\n-- UPDATE is in no statement": false,
		"UPDATE runs SET cost = 0;":                                          true,
		"-- why\n  delete from runs;":                                        true,
		"WITH old AS (SELECT id FROM runs)\nDELETE FROM runs;":               true,
		"with old as (select id from runs) update runs set cost = 0;":        true,
		"ALTER TABLE runs DROP COLUMN cost;":                                 true,
		"CREATE TABLE new (id);\nINSERT INTO new SELECT id FROM runs;":       true,
	} {
		require.Equal(t, rowChange().MatchString(text), want, "%q", text)
	}
}

// TestUndoWorksForADay: deleted items are not found; they can be restored for a day and are then
// purged.
func TestUndoWorksForADay(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return now }
	s.Quota = Quota{Datasets: 2, Runs: 3, Bytes: 1 << 30}
	set := require.Value(s.CreateDataset(ctx, alice, "set", "", sample(1)))(t)
	ofSet := require.Value(s.saveRun(ctx, alice, NewRun{Name: "of the set", Dataset: set.ID, Spec: ml.DefaultSpec(), Tags: []string{"x"}}, sampleResult(1, 1)))(t)
	waits := require.Value(s.CreateRun(ctx, alice, NewRun{Name: "waits", Data: sample(2), Spec: ml.DefaultSpec(), Request: Request{Key: "r"}}))(t)
	share := require.Value(s.ShareRun(ctx, alice, ofSet.ID))(t)
	course := require.Value(s.CreateCourse(ctx, alice, NewCourse{Title: "course", Target: "/lab"}))(t)

	before := require.Value(s.Run(ctx, alice, ofSet.ID))(t)
	require.NoError(t, s.DeleteRuns(ctx, alice, []string{ofSet.ID, waits.ID}))
	require.NoError(t, s.DeleteDataset(ctx, alice, set.ID)) // at the same moment: another deletion
	now = now.Add(time.Hour)
	require.NoError(t, s.DeleteCourse(ctx, course.Code))

	// Deleted items are not found.
	for what, err := range map[string]error{
		"run":       require.Err(s.Run(ctx, alice, ofSet.ID)),
		"shared":    require.Err(s.SharedRun(ctx, share)),
		"data set":  require.Err(s.Dataset(ctx, alice, set.ID)),
		"course":    require.Err(s.Course(ctx, course.Code)),
		"its token": require.Err(s.TaughtCourse(ctx, course.Token)),
	} {
		require.Check(t, errors.Is(err, ErrNotFound), "%s: %v", what, err)
	}
	_, ok := s.claimRun(t, owner)
	require.Check(t, !ok, "a deleted run is trained")
	h := require.Value(s.Holdings(ctx, alice))(t)
	require.Check(t, h.Runs+h.Datasets+h.Courses == 0 && h.Bytes == 0, "holdings %v", h)
	require.Slices(t, require.Value(s.Tags(ctx, alice))(t), nil, "tags")

	list := require.Value(s.Deletions(ctx, alice))(t)
	require.Must(t, len(list) == 3 && list[0].Courses == 1 && list[1].Datasets == 1 && list[2].Runs == 2 && slices.Equal(list[2].Names, []string{"of the set", "waits"}),
		"deletions %+v", list)
	wantErr(t, require.Err(s.Restore(ctx, bob, list[2].At)), ErrNotFound)

	// The same request creates another run; restoring needs room.
	require.Value(s.CreateRun(ctx, alice, NewRun{Name: "waits", Data: sample(2), Spec: ml.DefaultSpec(), Request: Request{Key: "r"}}))(t)
	require.Value(s.CreateRun(ctx, alice, NewRun{Name: "third", Data: sample(2), Spec: ml.DefaultSpec()}))(t)
	var full *Error
	_, err := s.Restore(ctx, alice, list[2].At)
	require.Check(t, errors.As(err, &full) && full.Kind() == "storage", "over the quota: %v", err)
	s.Quota.Runs = 4
	d := require.Value(s.Restore(ctx, alice, list[2].At))(t)
	require.Check(t, d.Runs == 2, "restored %+v", d)
	wantErr(t, require.Err(s.Restore(ctx, alice, list[2].At)), ErrNotFound)
	got := require.Value(s.Run(ctx, alice, ofSet.ID))(t)
	require.Check(t, got.Dataset == "" && got.Share == share && got.Model != nil, "the run came back as %+v", got)
	r := require.Value(s.Run(ctx, alice, waits.ID))(t)
	require.Check(t, r.Status == Cancelled && !r.Finished.IsZero(), "the run that waited is %s, ended %v", r.Status, r.Finished)
	require.Value(s.Restore(ctx, alice, list[1].At))(t)
	got = require.Value(s.Run(ctx, alice, ofSet.ID))(t)
	require.Check(t, got.Dataset == before.Dataset, "its data set is %q, was %q", got.Dataset, before.Dataset)

	// A day later the course cannot be restored, and is then purged.
	now = now.Add(UndoFor)
	wantErr(t, require.Err(s.Restore(ctx, alice, list[0].At)), ErrNotFound)
	n := require.Value(s.Forget(ctx, now.Add(-UndoFor+time.Millisecond)))(t)
	require.Check(t, n == 1 && count(t, s, "courses") == 0, "%d things forgotten", n)
}

// TestDeletedIsBounded: creating and deleting items never takes more than twice the quota.
func TestDeletedIsBounded(t *testing.T) {
	s := fresh(t)
	s.Quota = Quota{Datasets: 3}
	for i := range 10 {
		set := require.Value(s.CreateDataset(t.Context(), alice, "set", "", sample(float64(i))))(t)
		require.NoError(t, s.DeleteDataset(t.Context(), alice, set.ID))
	}
	n, points := count(t, s, "datasets"), count(t, s, "points")
	require.Check(t, n == 3 && points == 3, "%d data sets and %d point sets are kept", n, points)
	s.Quota = Quota{Bytes: 1}
	for i := range 10 {
		code := require.Value(s.CreateCourse(t.Context(), alice, NewCourse{Title: "c", Target: "/lab", Points: sample(float64(i)), Data: "d"}))(t).Code
		require.NoError(t, s.DeleteCourse(t.Context(), code))
	}
	n, points = count(t, s, "courses"), count(t, s, "points")
	require.Check(t, n == 1 && points == 1, "%d courses and %d point sets are kept", n, points)
	require.NoError(t, s.DeleteWorkspace(t.Context(), alice))
	require.Equal(t, count(t, s, "datasets")+count(t, s, "points"), 0, "… left of a deleted workspace")
}
