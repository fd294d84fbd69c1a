package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml"
)

// TestLowDisk: when the disk is nearly full, large items are refused, while hand-ins, answers and
// deletions still work; the trash is emptied to make room.
func TestLowDisk(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	free := int64(900 << 20)
	s.Disk = func() (int64, int64, error) { return free, 1 << 30, nil }
	set := must[Dataset](t)(s.CreateDataset(ctx, alice, "d", "", sample(1)))
	course := must[Course](t)(s.CreateCourse(ctx, bob, NewCourse{Title: "c", Target: "/lab"}))
	run := must[Run](t)(s.CreateRun(ctx, alice, NewRun{Dataset: set.ID, Spec: ml.DefaultSpec(), Course: course.Code}))
	must[int](t)(s.Tend(ctx))
	if info, err := os.Stat(s.reserve()); err != nil || info.Size() != reserveSize(1<<30) {
		t.Errorf("no reserve: %v", err)
	}

	free = 2 << 20
	wantErr(t, s.Roomy(ctx), ErrLow)
	for what, err := range map[string]error{
		"data set": func() error { _, err := s.CreateDataset(ctx, alice, "e", "", sample(2)); return err }(),
		"run": func() error {
			_, err := s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()})
			return err
		}(),
		"search":  func() error { _, err := s.CreateSearch(ctx, alice, asked(t)); return err }(),
		"upload":  func() error { _, err := s.SaveUpload(ctx, alice, "f", strings.NewReader("1,2\n")); return err }(),
		"archive": func() error { _, err := s.CreateCourse(ctx, alice, NewCourse{Title: "c", Target: "/lab"}); return err }(),
	} {
		if !errors.Is(err, ErrLow) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(s.reserve()); err == nil {
		t.Error("the reserve is kept though the disk is full")
	}
	must[Handin](t)(s.HandIn(ctx, alice, run.ID, "Ada"))
	must[Run](t)(s.CreateHandin(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec(), Course: course.Code}, "Bea"))
	check(t, s.SaveAnswer(ctx, alice, "a/b/c", Answer{Given: "1"}))
	check(t, s.DeleteDataset(ctx, alice, set.ID))
	check(t, s.Ready(ctx))
	if n := must[int](t)(s.Tend(ctx)); n != 1 {
		t.Errorf("%d things forgotten for room", n)
	}
	if list := must[[]Deletion](t)(s.Deletions(ctx, alice)); len(list) != 0 {
		t.Errorf("the trash still has %+v", list)
	}

	free = 900 << 20
	must[int](t)(s.Tend(ctx))
	if _, err := os.Stat(s.reserve()); err != nil {
		t.Errorf("the reserve did not come back: %v", err)
	}
	s.MaxDisk = 1 << 10
	_, err := s.CreateDataset(ctx, alice, "e", "", sample(2))
	wantErr(t, err, ErrMaxDisk)
	s.MaxDisk = 1 << 30
	must[Dataset](t)(s.CreateDataset(ctx, alice, "e", "", sample(2)))
}

// TestLogIsEmptied: when nobody writes for a while, what was saved is in the database file.
func TestLogIsEmptied(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	ctx := t.Context()
	set := must[Dataset](t)(s.CreateDataset(ctx, alice, "d", "", sample(1)))
	must[int](t)(s.Tend(ctx)) // somebody has written since the last time
	must[int](t)(s.Tend(ctx))
	dir := t.TempDir()
	text := must[[]byte](t)(os.ReadFile(s.Path()))
	check(t, os.WriteFile(filepath.Join(dir, fileName), text, 0o600)) // without its log
	must[Dataset](t)(open(t, dir).Dataset(ctx, alice, set.ID))
}

// TestReady: a database that cannot be written is not ready.
func TestReady(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	check(t, s.Ready(t.Context()))
	before := s.writes.Load()
	check(t, s.Ready(t.Context()))
	if s.writes.Load() != before {
		t.Error("two questions at once cost two writes")
	}
	s.asked = time.Time{}
	check(t, os.Remove(s.Path()))
	wantErr(t, s.Ready(t.Context()), ErrGone)
}

// TestSpoolIsSwept: what a killed program has left behind is gone with the next start.
func TestSpoolIsSwept(t *testing.T) {
	t.Parallel()
	lock := must[*Lock](t)(TakeLock(t.TempDir(), "serve"))
	defer lock.Release()
	dir := must[string](t)(lock.SweepSpool())
	left := filepath.Join(dir, "multipart-1")
	check(t, os.WriteFile(left, []byte("points"), 0o600))
	if again := must[string](t)(lock.SweepSpool()); again != dir {
		t.Errorf("%s, then %s", dir, again)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("the file is still there")
	}
}
