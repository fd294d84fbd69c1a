package store

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// childEnv makes this test program play another part: "write DIR", "open DIR" or "check DIR".
const childEnv = "MARGINLAB_STORE_TEST"

func TestMain(m *testing.M) {
	if part, dir, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		if err := play(part, dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(part, dir string) error {
	ctx := context.Background()
	if part == "check" {
		damage, _, err := Check(ctx, DatabaseIn(dir))
		if err == nil && len(damage) == 0 {
			err = errors.New("whole")
		}
		return err
	}
	if part == "write" { // as a server does
		if _, err := TakeLock(dir, "serve"); err != nil {
			return err
		}
	}
	s, err := Open(ctx, dir)
	if err != nil || part == "open" {
		return err
	}
	for i := 0; ; i++ { // print the id of every run once it was reported saved
		n := NewRun{Data: sample(float64(i)), Spec: ml.DefaultSpec()}
		if i%2 == 0 {
			r, err := s.saveRun(ctx, alice, n, sampleResult(1, i))
			if err != nil {
				return err
			}
			fmt.Println(r.ID)
			continue
		}
		if _, err := s.CreateRun(ctx, alice, n); err != nil {
			return err
		}
		r, _, err := s.claimRun(ctx, owner)
		if err != nil {
			return err
		}
		if err := s.FinishRun(ctx, owner, r.ID, sampleResult(1, i)); err != nil {
			return err
		}
		fmt.Println(r.ID)
	}
}

// A program killed while it saves leaves a directory that another can take at once and
// a database that opens, with every run that was reported saved, and none by half.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var reported []string
	for range 4 {
		cmd := exec.Command(require.Value(os.Executable())(t))
		cmd.Env = append(os.Environ(), childEnv+"=write "+dir)
		out := require.Value(cmd.StdoutPipe())(t)
		require.NoError(t, cmd.Start())
		after := 1 + rand.IntN(60)
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ { // also what was reported between signal and death
			reported = append(reported, lines.Text())
			if n == after {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Must(t, cmd.Wait() != nil, "the writer ended by itself")
	}

	s := open(t, dir)
	var verdict string
	require.NoError(t, s.read.QueryRow(`PRAGMA integrity_check`).Scan(&verdict))
	require.Equal(t, verdict, "ok", "verdict")
	for _, id := range reported {
		r, err := s.Run(t.Context(), alice, id)
		require.Must(t, err == nil && r.Status == Done && r.Model != nil && r.Before != nil && r.Report != nil,
			"reported run %s: %+v, %v", id, r, err)
		_, err = s.Data(t.Context(), r.Hash)
		require.Check(t, err == nil, "points of reported run %s: %v", id, err)
	}
	var half int
	require.NoError(t, s.read.QueryRow(`SELECT count(*) FROM runs WHERE status = 'done' AND (SELECT count(*) FROM models WHERE run = id) != 2`).Scan(&half))
	require.Check(t, half <= 0 && len(reported) >= 4, "%d runs by half, %d reported", half, len(reported))
}

// fill lets the database grow no further; the function it returns undoes that.
func fill(t *testing.T, s *Store) (free func()) {
	t.Helper()
	limit := func(n int) {
		require.Value(s.write.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, n)))(t)
	}
	limit(1) // SQLite raises it to the present size
	return func() { limit(1 << 30) }
}

func TestDiskFull(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	running := require.Value(s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}))(t)
	require.Value(second(s.claimRun(ctx, owner)))(t)
	tables := func() string {
		return fmt.Sprint(count(t, s, "points"), count(t, s, "datasets"), count(t, s, "runs"), count(t, s, "models"))
	}
	before := tables()
	big := sampleResult(1, 1)
	for range 5000 {
		big.Model.Supports.Vectors = append(big.Model.Supports.Vectors, []float64{rand.Float64(), rand.Float64()})
	}

	large := mat.NewDense(2000, 2, nil)
	for i := range 2000 {
		large.SetRow(i, []float64{rand.Float64(), rand.Float64()})
	}
	points := sample(1)
	points.X, points.Y = large, make([]int, 2000)
	points.Y[0] = 1

	free := fill(t, s)
	_, err := s.CreateRun(ctx, alice, NewRun{Data: points, Spec: ml.DefaultSpec()})
	wantErr(t, err, ErrFull)
	wantErr(t, s.FinishRun(ctx, owner, running.ID, big), ErrFull)
	require.Equal(t, tables(), before, "half-written and before")
	r := require.Value(s.Run(ctx, alice, running.ID))(t)
	require.Check(t, r.Status == Running && r.Report == nil, "half-finished: %+v", r)
	var fault *Error
	require.Check(t, errors.As(err, &fault) && fault.Kind() == "storage" && strings.Contains(fault.Error(), "Nothing was saved"),
		"%v", err)

	free()
	require.NoError(t, s.FinishRun(ctx, owner, running.ID, big))
	require.Value(s.CreateRun(ctx, alice, NewRun{Data: points, Spec: ml.DefaultSpec()}))(t)
}

// Commits reach the disk before anybody is told of them.
func TestCommitsWaitForTheDisk(t *testing.T) {
	s := fresh(t)
	var mode int
	require.NoError(t, s.write.QueryRow(`PRAGMA synchronous`).Scan(&mode))
	require.Equal(t, mode, 2, "synchronous")
}

// Only who works on what does not wait for the disk, and whatever becomes of that, the
// commits after it do.
func TestNotesDoNotWaitForTheDisk(t *testing.T) {
	s := fresh(t)
	mode := func(row interface{ QueryRow(string, ...any) *sql.Row }) (mode int) {
		require.NoError(t, row.QueryRow(`PRAGMA synchronous`).Scan(&mode))
		return mode
	}
	const normal, full = 1, 2
	fault := errors.New("a fault")
	for name, end := range map[string]func(context.CancelFunc) error{
		"done":      func(context.CancelFunc) error { return nil },
		"at fault":  func(context.CancelFunc) error { return fault },
		"given up":  func(cancel context.CancelFunc) error { cancel(); return nil },
		"given up ": func(cancel context.CancelFunc) error { cancel(); return fault },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_ = s.note(ctx, func(tx *transaction) error {
			require.Equal(t, mode(tx), normal, "synchronous in a note")
			return end(cancel)
		})
		cancel()
		require.Equal(t, mode(s.write), full, "%s: synchronous afterwards", name)
	}
	require.NoError(t, s.note(t.Context(), func(tx *transaction) error {
		_, err := tx.Exec(`INSERT INTO workspaces (workspace, seen) VALUES ('w', 1)`)
		return err
	}))
	var n int
	require.NoError(t, s.read.QueryRow(`SELECT count(*) FROM workspaces`).Scan(&n))
	require.Check(t, n == 1, "a note is not kept")
}

// Large points wait for memory while they are read, small ones do not.
func TestPointsWaitForMemory(t *testing.T) {
	s := fresh(t)
	small := require.Value(s.CreateDataset(t.Context(), alice, "small", "", sample(1)))(t)
	points, labels := make([][2]float64, smallText/8), make([]string, smallText/8)
	for i := range points {
		points[i], labels[i] = [2]float64{float64(i), 1}, strconv.Itoa(i%2)
	}
	large := require.Value(s.CreateDataset(t.Context(), alice, "large", "", require.Value(dataset.FromPoints(points, labels))(t)))(t)
	require.NoError(t, s.decoding.Acquire(t.Context(), decodingBytes))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Data(ctx, large.Hash)
	require.Check(t, errors.Is(err, context.DeadlineExceeded), "without memory: %v", err)
	require.Value(s.Data(t.Context(), small.Hash))(t)
	s.decoding.Release(decodingBytes)
	require.Value(s.Data(t.Context(), large.Hash))(t)
	require.Check(t, s.decoding.TryAcquire(decodingBytes), "memory is not given back")
}

// Where the database is deleted, moved away or replaced, nothing is reported as saved.
func TestDirectoryTakenAway(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(dir string){
		"deleted": func(dir string) { require.NoError(t, os.RemoveAll(dir)) },
		"moved":   func(dir string) { require.NoError(t, os.Rename(dir, dir+" elsewhere")) },
		"replaced": func(dir string) {
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, open(t, dir).Close())
		},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		s := open(t, dir)
		require.Value(s.CreateDataset(t.Context(), alice, "d", "", sample(1)))(t)
		require.NoError(t, s.Ping(t.Context()))
		take(dir)
		for range 2 {
			_, err := s.CreateDataset(t.Context(), alice, name, "", sample(2))
			wantErr(t, err, ErrGone)
			wantErr(t, s.Ping(t.Context()), ErrGone)
		}
	}
}

func TestTurnedReadOnly(t *testing.T) {
	s := fresh(t)
	require.Value(s.CreateDataset(t.Context(), alice, "d", "", sample(1)))(t)
	_, err := s.write.Exec(`PRAGMA query_only = on`)
	require.NoError(t, err)
	_, err = s.CreateDataset(t.Context(), alice, "e", "", sample(2))
	wantErr(t, err, ErrReadOnly)
	list := require.Value(s.Datasets(t.Context(), alice))(t)
	require.Check(t, len(list) == 1, "%d data sets", len(list))
}

func TestOpenFaults(t *testing.T) {
	t.Parallel()
	oneLine := func(t *testing.T, err error, dir string) {
		t.Helper()
		require.Check(t, err != nil && strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), "\n"),
			"not one line that names the directory: %v", err)
	}
	t.Run("not a database", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "marginlab.db"), []byte(strings.Repeat("a letter to a friend\n", 500)), 0o600))
		_, err := Open(t.Context(), dir)
		wantErr(t, err, ErrNotDatabase)
		oneLine(t, err, dir)
	})
	t.Run("of another program", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		db, err := sql.Open("sqlite3", filepath.Join(dir, "marginlab.db"))
		require.NoError(t, err)
		defer db.Close()
		require.Value(db.Exec(`CREATE TABLE runs (distance REAL)`))(t)
		_, err = Open(t.Context(), dir)
		wantErr(t, err, ErrForeign)
		oneLine(t, err, dir)
		var tables int
		require.NoError(t, db.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables))
		require.Equal(t, tables, 1, "tables are in a database that was not ours")
	})
	t.Run("newer", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := open(t, dir)
		_, err := s.write.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		_, err = Open(t.Context(), dir)
		wantErr(t, err, ErrNewer)
		oneLine(t, err, dir)
	})
	t.Run("a file in the way", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(dir, nil, 0o600))
		_, err := Open(t.Context(), dir)
		oneLine(t, err, dir)
	})
}

// Opening a database again changes nothing.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 3 {
		require.NoError(t, open(t, dir).Close())
	}
}
