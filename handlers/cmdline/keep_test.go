package cmdline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml/dataset"
	"marginlab/store"
)

// relative is the path from where the test runs.
func relative(t *testing.T, path string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(here, path)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// A year in short: back up, lose something, restore it, check, and delete what nobody
// has used.
func TestKeeping(t *testing.T) {
	t.Parallel()
	dir, copied := relative(t, t.TempDir()), relative(t, filepath.Join(t.TempDir(), "monday.db"))
	ctx := t.Context()
	old := store.WorkspaceOf("old")
	st, err := store.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	st.Now = func() time.Time { return time.Now().AddDate(0, 0, -100) }
	d, err := dataset.Generate("moons", 20, 0.1, 1)
	if err != nil {
		t.Fatal(err)
	}
	set, err := st.CreateDataset(ctx, old, "moons", "generated", d)
	if err != nil {
		t.Fatal(err)
	}
	says := func(want string, args ...string) {
		t.Helper()
		if out := must(t, args...); !strings.Contains(out, want) {
			t.Errorf("%q says %q, not %q", args, out, want)
		}
	}
	says("1 data set and 0 runs", "backup", "--data-dir", dir, copied)
	if err := st.DeleteDataset(ctx, old, set.ID); err != nil {
		t.Fatal(err)
	}
	says("Whole: 0 data sets", "check", "--data-dir", dir)
	says("Whole: 1 data set", "check", copied)
	lock, err := store.TakeLock(dir, "serve")
	if err != nil {
		t.Fatal(err)
	}
	if o := run(ctx, "", "restore", "--data-dir", dir, copied); o.code != 1 || !strings.Contains(o.err, "marginlab serve") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	st.Close()
	says("marginlab.db.before-", "restore", "--data-dir", dir, copied)
	says("Whole: 1 data set", "check", "--data-dir", dir)
	says("within 101 days", "purge", "--older", "101d", "--data-dir", dir)
	says("1 data set, ", "purge", "--older", "90", "--data-dir", dir)
	says("Nothing was deleted", "purge", "--older", "90d", "--data-dir", dir)

	// It is the only workspace, and the clock 100 days beyond its last use.
	purge := []string{"purge", "--older", "90d", "--yes", "--data-dir", dir}
	if o := run(ctx, "", purge...); o.code != 1 || !strings.Contains(o.err, "Correct the clock") || !strings.Contains(o.err, "--force") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	says("Marked for deletion", append(purge, "--force")...)
	says("kept that were marked for deletion: 1", "purge", "--undo", "--data-dir", dir)
	says("Marked for deletion", append(purge, "--force")...)
	says("Whole: 1 data set", "check", "--data-dir", dir)
	if st, err = store.Open(ctx, dir); err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	st.Now = func() time.Time { return time.Now().Add(store.UndoFor + time.Minute) }
	if n, err := st.Sweep(ctx); n != 1 || err != nil {
		t.Errorf("%d workspaces deleted: %v", n, err)
	}
	says("Whole: 0 data sets", "check", "--data-dir", dir)
	if copies, _ := filepath.Glob(filepath.Join(dir, "marginlab.db.before-deletion-*")); len(copies) != 1 {
		t.Errorf("copies %q", copies)
	} else {
		says("Whole: 1 data set", "check", copies[0])
	}
}
