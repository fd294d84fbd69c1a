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
	"marginlab/store/storetest"
)

// childEnv makes this test program run a command: "write DIR", "open DIR" or "check DIR".
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
	for i := 0; ; i++ { // print the id of every run once it is reported saved
		n := NewRun{Data: sample(float64(i)), Spec: ml.DefaultSpec()}
		r, err := s.CreateRun(ctx, alice, n)
		if err != nil {
			return err
		}
		if _, _, err := s.ClaimRun(ctx, owner, r.ID); err != nil {
			return err
		}
		if err := s.FinishRun(ctx, owner, r.ID, sampleResult(1, i)); err != nil {
			return err
		}
		fmt.Println(r.ID)
	}
}

// A program killed while saving leaves a directory that another can use at once, and a database
// that opens and holds every run reported saved, none of them incomplete.
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
		for n := 0; lines.Scan(); n++ { // including runs reported between signal and death
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
		require.Equal(t, require.Err(s.Data(t.Context(), r.Hash)), nil, "points of reported run %s", id)
	}
	var half int
	require.NoError(t, s.read.QueryRow(`SELECT count(*) FROM runs WHERE status = 'done' AND (SELECT count(*) FROM models WHERE run = id) != 2`).Scan(&half))
	require.Check(t, half <= 0 && len(reported) >= 4, "%d runs by half, %d reported", half, len(reported))
}

// fill prevents the database from growing; the returned function undoes that.
func fill(t *testing.T, s *Store) (free func()) {
	t.Helper()
	limit := func(n int) {
		require.Value(s.write.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, n)))(t)
	}
	limit(1) // SQLite raises it to the current size
	return func() { limit(1 << 30) }
}

func TestDiskFull(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	running := require.Value(s.CreateRun(ctx, alice, NewRun{Data: sample(1), Spec: ml.DefaultSpec()}))(t)
	s.claimRun(t, owner)
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

// Only notes do not wait for the disk; commits after a note do, whatever its outcome.
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
		_ = s.note(ctx, func(tx *transaction) {
			require.Equal(t, mode(tx), normal, "synchronous in a note")
			tx.fail(end(cancel))
		})
		cancel()
		require.Equal(t, mode(s.write), full, "%s: synchronous afterwards", name)
	}
	require.NoError(t, s.note(t.Context(), func(tx *transaction) { tx.exec(`INSERT INTO workspaces (workspace, seen) VALUES ('w', 1)`) }))
	var n int
	require.NoError(t, s.read.QueryRow(`SELECT count(*) FROM workspaces`).Scan(&n))
	require.Check(t, n == 1, "a note is not kept")
}

// Reading large points waits for memory; reading small ones does not.
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
	require.Is(t, require.Err(s.Data(ctx, large.Hash)), context.DeadlineExceeded, "without memory")
	require.Value(s.Data(t.Context(), small.Hash))(t)
	s.decoding.Release(decodingBytes)
	require.Value(s.Data(t.Context(), large.Hash))(t)
	require.Check(t, s.decoding.TryAcquire(decodingBytes), "memory is not given back")
}

// If the database is deleted, moved or replaced, nothing is reported as saved.
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
			wantErr(t, require.Err(s.CreateDataset(t.Context(), alice, name, "", sample(2))), ErrGone)
			wantErr(t, s.Ping(t.Context()), ErrGone)
		}
	}
}

// A database that cannot be opened is refused with one line that names its directory; a foreign
// database gets no tables.
func TestOpenFaults(t *testing.T) {
	t.Parallel()
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	foreign := ""
	for name, c := range map[string]struct {
		make func(dir string)
		want error // nil: any
	}{
		"not a database": {func(dir string) { write(DatabaseIn(dir), strings.Repeat("a letter to a friend\n", 500)) }, ErrNotDatabase},
		"of another program": {func(dir string) {
			foreign = dir
			storetest.Exec(t, DatabaseIn(dir), `CREATE TABLE runs (distance REAL)`)
		}, ErrForeign},
		"newer": {func(dir string) {
			require.NoError(t, open(t, dir).Close())
			storetest.Exec(t, DatabaseIn(dir), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
		}, ErrNewer},
		"a file in the way": {func(dir string) { require.NoError(t, os.Remove(dir)); write(dir, "") }, nil},
	} {
		dir := t.TempDir()
		c.make(dir)
		_, err := Open(t.Context(), dir)
		require.Check(t, err != nil && (c.want == nil || errors.Is(err, c.want)) && strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), "\n"),
			"%s: %v", name, err)
	}
	db := require.Value(sql.Open("sqlite3", DatabaseIn(foreign)))(t)
	defer db.Close()
	var tables int
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables))
	require.Equal(t, tables, 1, "tables in a database that was not ours")
}
