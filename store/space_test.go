package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// TestLowDisk: when the disk is nearly full, large items are refused, while hand-ins, answers and
// deletions still work; the trash is emptied to make room.
func TestLowDisk(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	free := int64(900 << 20)
	s.Disk = func() (int64, int64, error) { return free, 1 << 30, nil }
	set := require.Value(s.CreateDataset(ctx, alice, "d", "", sample(1)))(t)
	course := require.Value(s.CreateCourse(ctx, bob, NewCourse{Title: "c", Target: "/lab"}))(t)
	run := require.Value(s.CreateRun(ctx, alice, NewRun{Dataset: set.ID, Spec: ml.DefaultSpec(), Course: course.Code}))(t)
	require.Value(s.Tend(ctx))(t)
	info, err := os.Stat(s.reserve())
	require.Check(t, err == nil && info.Size() == reserveSize(1<<30), "no reserve: %v", err)

	free = 2 << 20
	wantErr(t, s.Roomy(ctx), ErrLow)
	for what, err := range map[string]error{
		"data set": require.Err(s.CreateDataset(ctx, alice, "e", "", sample(2))),
		"run":      require.Err(s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()})),
		"search":   require.Err(s.CreateSearch(ctx, alice, asked(t))),
		"upload":   require.Err(s.SaveUpload(ctx, alice, "f", strings.NewReader("1,2\n"))),
		"archive":  require.Err(s.CreateCourse(ctx, alice, NewCourse{Title: "c", Target: "/lab"})),
	} {
		require.Check(t, errors.Is(err, ErrLow), "%s: %v", what, err)
	}
	require.Fails(t, require.Err(os.Stat(s.reserve())), "", "the reserve is kept though the disk is full")
	require.Value(s.HandIn(ctx, alice, run.ID, "Ada"))(t)
	require.Value(s.CreateHandin(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: course.Code}, "Bea"))(t)
	require.NoError(t, s.SaveAnswer(ctx, alice, "a/b/c", Answer{Given: "1"}))
	require.NoError(t, s.DeleteDataset(ctx, alice, set.ID))
	require.NoError(t, s.Ready(ctx))
	require.Equal(t, require.Value(s.Tend(ctx))(t), 1, "things forgotten for room")
	list := require.Value(s.Deletions(ctx, alice))(t)
	require.Check(t, len(list) == 0, "the trash still has %+v", list)

	free = 900 << 20
	require.Value(s.Tend(ctx))(t)
	require.Equal(t, require.Err(os.Stat(s.reserve())), nil, "the reserve did not come back")
	s.MaxDisk = 1 << 10
	wantErr(t, require.Err(s.CreateDataset(ctx, alice, "e", "", sample(2))), ErrMaxDisk)
	s.MaxDisk = 1 << 30
	require.Value(s.CreateDataset(ctx, alice, "e", "", sample(2)))(t)
}

// TestLogIsEmptied: after a while without writes, all saved data are in the database file.
func TestLogIsEmptied(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	set := require.Value(s.CreateDataset(ctx, alice, "d", "", sample(1)))(t)
	require.Value(s.Tend(ctx))(t) // there were writes since the last call
	require.Value(s.Tend(ctx))(t)
	dir := t.TempDir()
	text := require.Value(os.ReadFile(s.Path()))(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), text, 0o600)) // without its log
	require.Value(open(t, dir).Dataset(ctx, alice, set.ID))(t)
}

// TestReady: a database that cannot be written is not ready.
func TestReady(t *testing.T) {
	s := fresh(t)
	require.NoError(t, s.Ready(t.Context()))
	before := s.writes.Load()
	require.NoError(t, s.Ready(t.Context()))
	require.Check(t, s.writes.Load() == before, "two questions at once cost two writes")
	s.probedAt = time.Time{}
	require.NoError(t, os.Remove(s.Path()))
	wantErr(t, s.Ready(t.Context()), ErrGone)
}

// TestSpoolIsSwept: files left by a killed program are removed at the next start.
func TestSpoolIsSwept(t *testing.T) {
	t.Parallel()
	lock := require.Value(TakeLock(t.TempDir(), "serve"))(t)
	defer lock.Release()
	dir := require.Value(lock.SweepSpool())(t)
	left := filepath.Join(dir, "multipart-1")
	require.NoError(t, os.WriteFile(left, []byte("points"), 0o600))
	require.Equal(t, require.Value(lock.SweepSpool())(t), dir, "then")
	require.Fails(t, require.Err(os.Stat(left)), "", "the file is still there")
}
