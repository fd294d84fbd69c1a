package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// Backups are made at intervals; the newest are kept, and so are other files in the directory. Each
// can be restored.
func TestBackups(t *testing.T) {
	s := fresh(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.Now = func() time.Time { return now }
	b := Backups{Dir: t.TempDir(), Every: 24 * time.Hour, Keep: 3}
	require.NoError(t, os.WriteFile(filepath.Join(b.Dir, "marginlab-notes.db"), nil, 0o600))
	wait := func(want time.Duration) {
		t.Helper()
		require.Equal(t, require.Value(b.Wait(now))(t), want, "%v: the next one in", now)
	}
	wait(0)
	var files []string
	for range 5 {
		files = append(files, require.Value(s.BackUp(t.Context(), b))(t))
		wait(b.Every)
		now = now.Add(b.Every - time.Hour)
		wait(time.Hour)
		now = now.Add(time.Hour)
		wait(0)
	}
	names := func() (names []string) {
		return lists.Map(require.Value(os.ReadDir(b.Dir))(t), func(e os.DirEntry) string { return filepath.Join(b.Dir, e.Name()) })
	}
	require.Slices(t, names(), append(slices.Clone(files[2:]), filepath.Join(b.Dir, "marginlab-notes.db")), "there")
	dir := t.TempDir()
	_, _, err := Restore(t.Context(), dir, files[4])
	require.Check(t, err == nil, "%v", err)

	// The clock was ahead and is now right: the next backup is due, and is not the one deleted.
	now = now.Add(-48 * time.Hour).Add(time.Minute)
	wait(0)
	last := require.Value(s.BackUp(t.Context(), b))(t)
	got := names()
	require.Check(t, len(got) == 4 && slices.Contains(got, last), "after the clock was put back there are %q", got)

	ended, end := context.WithCancel(t.Context())
	end()
	now = now.Add(time.Hour)
	_, err = s.BackUp(ended, b)
	require.Check(t, err != nil && len(names()) == 4, "a backup that was broken off: %v, %q", err, names())
	require.Fails(t, require.Err((Backups{Dir: filepath.Join(b.Dir, "nowhere")}).Wait(now)), "", "a directory that is not there has no error")
}
