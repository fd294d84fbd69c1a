package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// Items over the quota are refused with the limit and the remedy; each workspace has its own quota,
// and deleting items frees it.
func TestQuota(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	full := func(err error, says string) {
		t.Helper()
		var fault *Error
		require.Check(t, errors.As(err, &fault) && fault.Kind() == "storage" && strings.Contains(err.Error(), says) && strings.Contains(err.Error(), "Delete what you do not need"),
			"%v does not say %q", err, says)
	}
	archive := busy(t, s, bob)

	s.Quota = Quota{Datasets: 2, Runs: 1}
	var sets []Dataset
	for i := range 2 {
		sets = append(sets, require.Value(s.CreateDataset(ctx, alice, fmt.Sprint(i), "", sample(float64(i))))(t))
	}
	full(require.Err(s.CreateDataset(ctx, alice, "third", "", sample(3))), "holds 2 data sets")
	require.Value(s.ReplaceData(ctx, alice, sets[0].ID, sample(4)))(t)
	run := require.Value(s.CreateRun(ctx, alice, NewRun{Dataset: sets[0].ID, Spec: ml.DefaultSpec()}))(t)
	full(require.Err(s.CreateRun(ctx, alice, NewRun{Dataset: sets[1].ID, Spec: ml.DefaultSpec()})), "holds 1 run,")
	full(require.Err(s.Import(ctx, alice, bytes.NewReader(archive), int64(len(archive)))), "holds 2 data sets")
	require.NoError(t, s.DeleteDataset(ctx, alice, sets[1].ID))
	require.NoError(t, s.DeleteRuns(ctx, alice, []string{run.ID}))
	require.Value(s.CreateDataset(ctx, alice, "third", "", sample(3)))(t)
	require.Value(s.CreateRun(ctx, alice, NewRun{Data: sample(5), Spec: ml.DefaultSpec()}))(t)

	carol := WorkspaceOf("carol")
	s.Quota = Quota{Bytes: 100}
	require.Value(s.SaveUpload(ctx, carol, "f", strings.NewReader(strings.Repeat("1,2\n", 100)+fmt.Sprint(sample(1).X.RawMatrix()))))(t)
	h := require.Value(s.Holdings(ctx, carol))(t)
	require.Value(s.CreateDataset(ctx, carol, "d", "", sample(1)))(t)
	now := require.Value(s.Holdings(ctx, carol))(t)
	require.Check(t, h.Bytes != 0 && now.Bytes > h.Bytes, "%d bytes, then %d", h.Bytes, now.Bytes)
	full(require.Err(s.CreateDataset(ctx, carol, "e", "", sample(2))), "on disk")
	full(require.Err(s.CreateSearch(ctx, carol, asked(t))), "on disk")
	full(require.Err(s.CreateCourse(ctx, carol, NewCourse{Title: "c", Target: "/lab"})), "on disk")
}

// All disk use of a workspace counts: cancelled searches, courses or links cannot fill the disk.
func TestQuotaCountsEverything(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1500)
	values := lists.Make(40, func(i int) float64 { return 1 + float64(i)/100 })
	for name, make := range map[string]func(s *Store, i int) error{
		"searches": func(s *Store, i int) error {
			n := asked(t)
			n.Grid = eval.Grid{"gamma": eval.Numbers(values...)}
			n.Scheme = eval.Scheme{Folds: 5, Repeats: 4, Seed: uint64(i)}
			search, err := s.CreateSearch(t.Context(), alice, n)
			if err != nil {
				return err
			}
			return s.CancelSearch(t.Context(), alice, search.ID)
		},
		"courses": func(s *Store, i int) error {
			return require.Err(s.CreateCourse(t.Context(), alice, NewCourse{Title: "c", Target: "/lab?points=" + long}))
		},
		"small courses": func(s *Store, i int) error {
			return require.Err(s.CreateCourse(t.Context(), alice, NewCourse{Title: "c", Target: "/lab"}))
		},
		"links": func(s *Store, i int) error {
			return require.Err(s.CreateLink(t.Context(), alice, NewLink{Title: "l", Target: fmt.Sprint("/lab?C=", i, "&points=", long)}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			before := require.Value(s.Holdings(t.Context(), alice))(t).Bytes
			pages := size(t, s)
			for i := range 40 {
				require.NoError(t, make(s, i))
			}
			grown, counted := size(t, s)-pages, require.Value(s.Holdings(t.Context(), alice))(t).Bytes-before
			require.Check(t, counted >= grown/2 && counted <= 2*grown,
				"%d bytes on the disk count as %d", grown, counted)
		})
	}
}

// size returns the bytes of the database in use.
func size(t *testing.T, s *Store) (bytes int64) {
	t.Helper()
	require.NoError(t, s.read.QueryRowContext(t.Context(), `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&bytes))
	return bytes
}

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
