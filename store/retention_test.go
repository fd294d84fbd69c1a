package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
)

// inhabited returns a store with n workspaces last used at now, which the test moves.
func inhabited(t *testing.T, n int) (s *Store, ctx context.Context, now *time.Time) {
	t.Helper()
	s, ctx, now = stopped(t)
	for i := range n {
		require.Value(s.CreateDataset(ctx, WorkspaceOf(fmt.Sprint(i)), "d", "", sample(float64(i))))(t)
	}
	return s, ctx, now
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
	s, ctx, now := inhabited(t, 8)
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
	s, ctx, now := inhabited(t, 3)
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
	require.NoError(t, os.WriteFile(s.path+".before-deletion-20260101-000000", nil, 0o600)) // an earlier copy goes
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
