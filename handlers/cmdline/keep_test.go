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
	says(": deleted", "purge", "--older", "90d", "--yes", "--data-dir", dir)
	says("Whole: 0 data sets", "check", "--data-dir", dir)
}
