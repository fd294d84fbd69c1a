package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// killed returns a data directory as a program leaves it when killed after saving n data sets,
// which are only in the log.
func killed(t *testing.T, n int) (dir string) {
	t.Helper()
	live, dir := t.TempDir(), t.TempDir()
	s := open(t, live)
	require.NoError(t, s.checkpoint(t.Context(), "TRUNCATE"))
	for i := range n {
		require.Value(s.CreateDataset(t.Context(), alice, fmt.Sprint(i), "", sample(float64(i))))(t)
	}
	for _, name := range []string{fileName, fileName + "-wal"} {
		text := require.Value(os.ReadFile(filepath.Join(live, name)))(t)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

// TestDamagedLog: if a byte of the log has changed, the transactions that SQLite drops are
// reported, at the start and by later checks; a log torn by a kill is not damage.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, c := range map[string]struct {
		change func(log []byte) []byte
		lost   bool
	}{
		"as it was":            {func(log []byte) []byte { return log }, false},
		"a byte in the middle": {func(log []byte) []byte { log[len(log)/2] ^= 1; return log }, true},
		"a byte at the end":    {func(log []byte) []byte { log[len(log)-5] ^= 1; return log }, true},
		"the header":           {func(log []byte) []byte { log[9] ^= 0x40; return log }, true},
		"torn":                 {func(log []byte) []byte { return log[:len(log)-100] }, false},
		"torn, filled with nothing": {func(log []byte) []byte {
			copy(log[len(log)-4096:], make([]byte, 4096))
			return log
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := killed(t, 5)
			path := DatabaseIn(dir) + "-wal"
			require.NoError(t, os.WriteFile(path, c.change(require.Value(os.ReadFile(path))(t)), 0o600))
			lock := require.Value(TakeLock(dir, "serve"))(t)
			defer lock.Release()
			damage := require.Value(lock.InspectLog())(t)
			require.Check(t, (damage.Commits > 0) == c.lost, "%+v", damage)
			require.Equal(t, require.Value(lock.InspectLog())(t), damage, "looked at again and before")
			s := open(t, dir)
			sets := require.Value(s.Datasets(ctx, alice))(t)
			require.Check(t, (name != "as it was" || len(sets) == 5) && (!c.lost || len(sets) != 5),
				"%d data sets are there", len(sets))
			faults, _, err := Check(ctx, s.Path())
			require.Check(t, err == nil && (len(faults) > 0) == c.lost && (!c.lost || strings.Contains(faults[0], damage.Copy)),
				"%q, %v", faults, err)
		})
	}
}

// FuzzReadLog checks that no log makes the reader fail, and that no more is reported lost than
// exists.
func FuzzReadLog(f *testing.F) {
	f.Add([]byte{})
	f.Add(append([]byte{0x37, 0x7f, 6, 0x82, 0, 0x2d, 0xe2, 0x18, 0, 0, 2, 0}, make([]byte, 2000)...))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := readLog(bytes.NewReader(text))
		require.Check(t, err == nil && d.Commits <= d.Frames && d.Frames <= len(text)/frameHeader, "%+v, %v", d, err)
	})
}
