package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/store/storetest"
)

// A copy made during writes is intact and holds everything saved before it began.
func TestBackupWhileOthersWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	var mu sync.Mutex
	var saved []string
	stop := make(chan struct{})
	begun := make(chan struct{}, 1000)
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				set, err := s.CreateDataset(ctx, alice, fmt.Sprint(w, i), "", sample(float64(w*1000+i)))
				if err == nil {
					_, err = s.saveRun(ctx, alice, NewRun{Dataset: set.ID, Spec: ml.DefaultSpec()}, sampleResult(1, i))
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				saved = append(saved, set.ID)
				mu.Unlock()
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
	}
	for n := range 4 {
		for range 10 {
			<-begun
		}
		mu.Lock()
		before := slices.Clone(saved)
		mu.Unlock()
		into := t.TempDir()
		have := require.Value(Backup(ctx, dir, DatabaseIn(into)))(t)
		require.Check(t, have.Datasets >= len(before) && have.Bytes != 0,
			"copy %d: %v, and %d data sets were saved before", n, have, len(before))
		require.Slices(t, require.Value(damageOf(t, DatabaseIn(into)))(t), nil, "copy %d", n)
		c := open(t, into)
		for _, id := range before {
			set := require.Value(c.Dataset(ctx, alice, id))(t)
			runs, _, err := c.Runs(ctx, alice, Filter{Where: MustQuery("data = " + Quoted(set.Name))})
			require.Check(t, err == nil && len(runs) == 1 && runs[0].Status == Done, "copy %d: %v, %v", n, runs, err)
		}
		require.NoError(t, c.Close())
	}
	close(stop)
	writers.Wait()
}

func damageOf(t *testing.T, path string) ([]string, error) {
	t.Helper()
	damage, _, err := Check(t.Context(), path)
	return damage, err
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wantErr(t, require.Err(Backup(t.Context(), dir, filepath.Join(t.TempDir(), "copy"))), os.ErrNotExist)
	open(t, dir)
	taken := filepath.Join(t.TempDir(), "letter")
	require.NoError(t, os.WriteFile(taken, []byte("dear"), 0o600))
	require.Fails(t, require.Err(Backup(t.Context(), dir, taken)), "not overwritten", "the error")
	require.Equal(t, string(require.Value(os.ReadFile(taken))(t)), "dear", "the file holds")
	spoil(t, DatabaseIn(dir), "uploads")
	spoiled := filepath.Join(filepath.Dir(taken), "spoiled")
	wantErr(t, require.Err(Backup(t.Context(), dir, spoiled)), ErrNotDatabase)
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(taken), "?*"))
	require.Check(t, len(left) == 1, "left behind: %q", left)
}

// Restoring keeps the previous database, brings back the saved one, and works after a server died
// and left its log.
func TestRestore(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy.db")
	ctx := t.Context()
	s := open(t, dir)
	kept := require.Value(s.CreateDataset(ctx, alice, "kept", "", sample(1)))(t)
	require.Value(Backup(ctx, dir, copied))(t)
	lost := require.Value(s.CreateDataset(ctx, alice, "lost", "", sample(2)))(t)

	l := require.Value(TakeLock(dir, "serve"))(t)
	require.NoError(t, l.At("http://127.0.0.1:8080"))
	_, _, err := Restore(ctx, dir, copied)
	wantErr(t, err, ErrHeld)
	for _, says := range []string{dir, "marginlab serve at http://127.0.0.1:8080", fmt.Sprint("process ", os.Getpid()), "stop it first"} {
		require.Check(t, err != nil && strings.Contains(err.Error(), says), "%v does not say %q", err, says)
	}
	wantErr(t, require.Err(TakeLock(dir, "serve")), ErrHeld)
	require.NoError(t, l.Release())
	require.NoError(t, s.Close())

	aside, have, err := Restore(ctx, dir, copied)
	require.NoError(t, err)
	require.Check(t, have.Datasets == 1, "restored: %v", have)
	s = open(t, dir)
	require.Value(s.Dataset(ctx, alice, kept.ID))(t)
	wantErr(t, require.Err(s.Dataset(ctx, alice, lost.ID)), ErrNotFound)
	require.NoError(t, s.Close())

	_, have, err = Restore(ctx, filepath.Join(t.TempDir(), "new"), aside)
	require.NoError(t, err)
	require.Check(t, have.Datasets == 2, "the database put aside: %v", have)

	// In quick succession, too, no database put aside is lost.
	names := map[string]bool{aside: true}
	for range 3 {
		aside, _, err := Restore(ctx, dir, copied)
		require.NoError(t, err)
		require.Check(t, !names[aside], "%s is used twice", aside)
		names[aside] = true
	}
	for name := range names {
		require.Value(contentsOf(ctx, name))(t)
	}
}

// A file that cannot be restored is refused with a message and changes nothing.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, dir)
	require.Value(s.CreateDataset(ctx, alice, "mine", "", sample(1)))(t)
	require.NoError(t, s.Close())
	in := t.TempDir()
	file := func(name string, write func(path string)) string {
		path := filepath.Join(in, name)
		write(path)
		return path
	}
	statement := func(query string) func(string) {
		return func(path string) { storetest.Exec(t, path, query) }
	}
	foreignGoose := `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP);
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (3, 1); CREATE TABLE runs (distance REAL)`
	for path, want := range map[string]error{
		filepath.Join(in, "nowhere"): os.ErrNotExist,
		file("letter", func(p string) { require.NoError(t, os.WriteFile(p, []byte(strings.Repeat("dear ", 999)), 0o600)) }): ErrNotDatabase,
		file("foreign", statement(`CREATE TABLE runs (distance REAL)`)):                                                     ErrForeign,
		file("foreign with versions", statement(foreignGoose)):                                                              ErrForeign,
		file("empty", statement(`PRAGMA user_version = 1`)):                                                                 ErrForeign,
		file("newer", func(p string) {
			require.Value(Backup(ctx, dir, p))(t)
			statement(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)(p)
		}): ErrNewer,
		file("damaged", func(p string) { require.Value(Backup(ctx, dir, p))(t); spoil(t, p, "points") }): ErrNotDatabase,
		DatabaseIn(dir): nil,
	} {
		_, _, err := Restore(ctx, dir, path)
		require.Check(t, err != nil && (want == nil || errors.Is(err, want)), "%s: %v, want %v", path, err, want)
		require.Check(t, err == nil || strings.Contains(err.Error(), path) && !strings.Contains(err.Error(), "goose"),
			"%s: %v", path, err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.db[.]*"))
	require.Check(t, len(names) == 0, "in the directory: %q", names)
	require.Equal(t, count(t, open(t, dir), "datasets"), 1, "data sets")
	// Opening a data directory refuses such a file as well.
	with := t.TempDir()
	statement(foreignGoose)(DatabaseIn(with))
	wantErr(t, require.Err(Open(ctx, with)), ErrForeign)
}

// spoil overwrites the page at which a table begins.
func spoil(t *testing.T, path, table string) {
	t.Helper()
	db := require.Value(sql.Open("sqlite3", path))(t)
	var page, size int64
	require.NoError(t, db.QueryRow(`SELECT rootpage FROM sqlite_master WHERE name = ?`, table).Scan(&page))
	require.NoError(t, db.QueryRow(`PRAGMA page_size`).Scan(&size))
	require.Value(db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`))(t)
	require.NoError(t, db.Close())
	f := require.Value(os.OpenFile(path, os.O_WRONLY, 0))(t)
	require.Value(f.WriteAt([]byte(strings.Repeat("\xee", int(size))), (page-1)*size))(t)
	require.NoError(t, f.Close())
}

// Check names the damage: a page, a row that cannot be read, a dangling
// reference.
func TestCheck(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, dir)
	require.Value(s.CreateDataset(ctx, alice, "Ripley", "", sample(1)))(t)
	require.Value(s.CreateSearch(ctx, alice, asked(t)))(t)
	done := require.Value(s.saveRun(ctx, alice, NewRun{Data: sample(2), Spec: ml.DefaultSpec(), Name: "my best"}, sampleResult(1, 1)))(t)
	require.Value(s.CreateCourse(ctx, alice, NewCourse{Title: "Moons", Target: "/lab"}))(t)
	damage, have, err := Check(ctx, s.Path())
	require.Check(t, err == nil && len(damage) == 0 && have.Datasets == 1 && have.Runs == 1, "while it is open: %q, %v, %v", damage, have, err)
	require.NoError(t, s.Close())
	for name, c := range map[string]struct {
		harm func(s *Store, path string)
		says []string
	}{
		"a page of points": {func(_ *Store, path string) { spoil(t, path, "points") }, []string{"points", "Ripley"}},
		"a page of models": {func(_ *Store, path string) { spoil(t, path, "models") }, []string{"models of run " + done.ID, "my best"}},
		"other points": {func(s *Store, _ string) {
			run(t, s, `UPDATE points SET csv = (SELECT csv FROM points WHERE hash = ?)`, done.Hash)
		}, []string{`of the data set "Ripley"`, "do not match their hash"}},
		"half a model": {func(s *Store, _ string) { run(t, s, `UPDATE models SET model = substr(model, 1, 40)`) }, []string{"models of run " + done.ID + " (my best)"}},
		"no model":     {func(s *Store, _ string) { run(t, s, `DELETE FROM models`) }, []string{"run " + done.ID + " (my best): its model is missing"}},
		"features":     {func(s *Store, _ string) { run(t, s, `UPDATE datasets SET features = 'x, y'`) }, []string{"data set", "(Ripley)"}},
		"tags":         {func(s *Store, _ string) { run(t, s, `UPDATE runs SET tags = '{'`) }, []string{"run " + done.ID + " (my best)"}},
		"course":       {func(s *Store, _ string) { run(t, s, `UPDATE courses SET hidden = '{'`) }, []string{"course ", "(Moons)"}},
		"reference": {func(s *Store, _ string) {
			run(t, s, `PRAGMA foreign_keys = off`)
			run(t, s, `DELETE FROM points WHERE hash = ?`, done.Hash)
		}, []string{"runs refers to a row of points"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harmed := t.TempDir()
			require.Value(Backup(ctx, dir, DatabaseIn(harmed)))(t)
			if !strings.HasPrefix(name, "a page") {
				s := open(t, harmed)
				c.harm(s, "")
				require.NoError(t, s.Close())
			} else {
				c.harm(nil, DatabaseIn(harmed))
			}
			damage, _, err := Check(ctx, DatabaseIn(harmed))
			require.NoError(t, err)
			all := strings.Join(damage, "\n")
			require.SaysAll(t, all, c.says, "%q", damage)
		})
	}
}

// A server detects a damaged page that nothing has read, and its health check reports it.
func TestInspect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	require.Value(s.CreateDataset(t.Context(), alice, "d", "", sample(1)))(t)
	require.NoError(t, s.Inspect(t.Context()))
	require.NoError(t, s.Ping(t.Context()))
	require.NoError(t, s.Close())
	spoil(t, DatabaseIn(dir), "uploads")
	s = open(t, dir)
	require.NoError(t, s.Ping(t.Context()))
	wantErr(t, s.Inspect(mltest.Ended()), context.Canceled)
	require.NoError(t, s.Ping(t.Context()))
	wantErr(t, s.Inspect(t.Context()), ErrDamaged)
	wantErr(t, s.Ping(t.Context()), ErrDamaged)
	require.Value(s.Datasets(t.Context(), alice))(t)
}

func run(t *testing.T, s *Store, query string, args ...any) {
	t.Helper()
	require.Value(s.write.Exec(query, args...))(t)
}

// Only workspaces unused for long are deleted, never one with an open course; the points and
// hand-ins of others stay.
func TestPurge(t *testing.T) {
	s, ctx, now := stopped(t)
	carol, dave := WorkspaceOf("carol"), WorkspaceOf("dave")
	require.Value(s.CreateDataset(ctx, alice, "old", "", sample(1)))(t)
	require.Value(s.CreateDataset(ctx, bob, "same points", "", sample(1)))(t)
	open := require.Value(s.CreateCourse(ctx, carol, NewCourse{Title: "open", Target: "/lab", Points: sample(3), Data: "three"}))(t)
	mine := require.Value(s.saveRun(ctx, alice, NewRun{Data: sample(2), Spec: ml.DefaultSpec(), Course: open.Code}, sampleResult(1, 1)))(t)
	require.Value(s.HandIn(ctx, alice, mine.ID, "Alice"))(t)
	own := require.Value(s.CreateCourse(ctx, alice, NewCourse{Title: "over", Target: "/lab", Points: sample(4), Data: "four"}))(t)
	require.NoError(t, s.CloseCourse(ctx, own.Code, true))
	require.Value(s.CreateSearch(ctx, alice, asked(t)))(t)
	require.NoError(t, s.Seen(ctx, dave))
	require.Check(t, count(t, s, "workspaces") == 0, "a visitor without anything is kept in mind")

	*now = now.AddDate(0, 0, 60)
	require.NoError(t, s.Seen(ctx, bob))
	*now = now.AddDate(0, 0, 60)
	since := now.AddDate(0, 0, -90)
	list := require.Value(s.Unseen(ctx, since))(t)
	require.Must(t, len(list) == 1 && list[0].Workspace == alice && list[0].Datasets == 1 && list[0].Runs == 1 && list[0].Searches == 1 && list[0].Courses == 1 && list[0].Bytes != 0,
		"%+v", list)
	require.Equal(t, require.Value(s.Expire(ctx, since, true))(t), 1, "workspaces marked")
	require.Check(t, require.Value(s.Sweep(ctx))(t) == 0, "deleted without a day to come back")
	*now = now.Add(UndoFor)
	require.Check(t, require.Value(s.Sweep(ctx))(t) == 1, "nothing was deleted")
	h := require.Value(s.Holdings(ctx, alice))(t)
	require.Check(t, h.Datasets+h.Runs+h.Searches+h.Courses == 0 && h.Bytes == 0, "left: %v", h)
	n := count(t, s, "points")
	require.Check(t, n == 3, "%d point sets", n) // of bob's data set, of the open course and of the run in its gallery
	c := require.Value(s.Course(ctx, open.Code))(t)
	require.Check(t, c.Handins == 1, "a purge has emptied the gallery of an open course")
	require.NoError(t, s.DeleteWorkspace(ctx, alice))
	require.Check(t, require.Value(s.Course(ctx, open.Code))(t).Handins == 0, "what was handed in is still there")
	require.NoError(t, s.DeleteWorkspace(ctx, carol))
	require.NoError(t, s.DeleteWorkspace(ctx, bob))
	empty(t, s, "points", "datasets", "runs", "models", "searches", "cells", "courses", "handins", "workspaces")
}

// The use of a workspace is recorded once a day.
func TestSeen(t *testing.T) {
	s, ctx, now := stopped(t)
	require.Value(s.CreateDataset(ctx, alice, "d", "", sample(1)))(t)
	seen := func() time.Time {
		require.NoError(t, s.Seen(ctx, alice))
		return require.Value(s.Holdings(ctx, alice))(t).Seen
	}
	first := *now
	for range 3 {
		got := seen()
		require.Check(t, got.Equal(first), "seen %v, want %v", got, first)
		*now = now.Add(7 * time.Hour)
	}
	*now = first.Add(25 * time.Hour)
	got := seen()
	require.Check(t, got.Equal(*now), "the day after: %v", got)
}

// Backups are made at intervals; the newest are kept, and so are other files in the directory. Each
// can be restored.
func TestBackups(t *testing.T) {
	s, _, now := stopped(t)
	b := Backups{Dir: t.TempDir(), Every: 24 * time.Hour, Keep: 3}
	require.NoError(t, os.WriteFile(filepath.Join(b.Dir, "marginlab-notes.db"), nil, 0o600))
	wait := func(want time.Duration) {
		t.Helper()
		require.Equal(t, require.Value(b.Wait(*now))(t), want, "%v: the next one in", *now)
	}
	wait(0)
	var files []string
	for range 5 {
		files = append(files, require.Value(s.BackUp(t.Context(), b))(t))
		wait(b.Every)
		*now = now.Add(b.Every - time.Hour)
		wait(time.Hour)
		*now = now.Add(time.Hour)
		wait(0)
	}
	names := func() (names []string) {
		return lists.Map(require.Value(os.ReadDir(b.Dir))(t), func(e os.DirEntry) string { return filepath.Join(b.Dir, e.Name()) })
	}
	require.Slices(t, names(), append(slices.Clone(files[2:]), filepath.Join(b.Dir, "marginlab-notes.db")), "there")
	_, _, err := Restore(t.Context(), t.TempDir(), files[4])
	require.Check(t, err == nil, "%v", err)

	// The clock was ahead and is now right: the next backup is due, and is not the one deleted.
	*now = now.Add(-48 * time.Hour).Add(time.Minute)
	wait(0)
	last := require.Value(s.BackUp(t.Context(), b))(t)
	got := names()
	require.Check(t, len(got) == 4 && slices.Contains(got, last), "after the clock was put back there are %q", got)

	ended := mltest.Ended()
	*now = now.Add(time.Hour)
	_, err = s.BackUp(ended, b)
	require.Check(t, err != nil && len(names()) == 4, "a backup that was broken off: %v, %q", err, names())
	require.Fails(t, require.Err((Backups{Dir: filepath.Join(b.Dir, "nowhere")}).Wait(*now)), "", "a directory that is not there has no error")
}
