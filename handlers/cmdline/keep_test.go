package cmdline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// relative is the path from where the test runs.
func relative(t *testing.T, path string) string {
	t.Helper()
	here := require.Value(os.Getwd())(t)
	return require.Value(filepath.Rel(here, path))(t)
}

// A year in short: back up, lose something, restore it, check, and delete what nobody
// has used.
func TestKeeping(t *testing.T) {
	t.Parallel()
	dir, copied := relative(t, t.TempDir()), relative(t, filepath.Join(t.TempDir(), "monday.db"))
	ctx := t.Context()
	old := store.WorkspaceOf("old")
	st := require.Value(store.Open(ctx, dir))(t)
	defer st.Close()
	st.Now = func() time.Time { return time.Now().AddDate(0, 0, -100) }
	d := require.Value(dataset.Generate("moons", 20, 0.1, 1))(t)
	set := require.Value(st.CreateDataset(ctx, old, "moons", "generated", d))(t)
	says := func(want string, args ...string) {
		t.Helper()
		require.Says(t, must(t, args...), want, "%q says", args)
	}
	says("1 data set and 0 runs", "backup", "--data-dir", dir, copied)
	require.NoError(t, st.DeleteDataset(ctx, old, set.ID))
	says("OK: 0 data sets", "check", "--data-dir", dir)
	says("OK: 1 data set", "check", copied)
	lock := require.Value(store.TakeLock(dir, "serve"))(t)
	fails(t, 1, "marginlab serve", "restore", "--data-dir", dir, copied)
	require.NoError(t, lock.Release())
	st.Close()
	says("marginlab.db.before-", "restore", "--data-dir", dir, copied)
	says("OK: 1 data set", "check", "--data-dir", dir)
	says("within the last 101 days", "purge", "--older", "101d", "--data-dir", dir)
	says("1 data set, ", "purge", "--older", "90", "--data-dir", dir)
	says("Nothing was deleted", "purge", "--older", "90d", "--data-dir", dir)

	// It is the only workspace, and the clock 100 days beyond its last use.
	purge := []string{"purge", "--older", "90d", "--yes", "--data-dir", dir}
	o := run(ctx, "", purge...)
	require.Check(t, o.code == 1 && strings.Contains(o.err, "Correct the clock") && strings.Contains(o.err, "--force"), "exit %d: %s", o.code, o.err)
	says("Marked for deletion", append(purge, "--force")...)
	says("Marked workspaces kept: 1", "purge", "--undo", "--data-dir", dir)
	says("Marked for deletion", append(purge, "--force")...)
	says("OK: 1 data set", "check", "--data-dir", dir)
	st = require.Value(store.Open(ctx, dir))(t)
	defer st.Close()
	st.Now = func() time.Time { return time.Now().Add(store.UndoFor + time.Minute) }
	n, err := st.Sweep(ctx)
	require.Check(t, n == 1 && err == nil, "%d workspaces deleted: %v", n, err)
	says("OK: 0 data sets", "check", "--data-dir", dir)
	if copies, _ := filepath.Glob(filepath.Join(dir, "marginlab.db.before-deletion-*")); len(copies) != 1 {
		t.Errorf("copies %q", copies)
	} else {
		says("OK: 1 data set", "check", copies[0])
	}
}
