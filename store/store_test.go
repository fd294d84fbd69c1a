package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/store/storetest"
)

var (
	alice = WorkspaceOf("0123456789abcdef0123456789abcdef")
	bob   = WorkspaceOf("fedcba9876543210fedcba9876543210")
)

// open returns a store whose clock advances by a second at every call.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s := storetest.Open(t, dir, Open)
	var mu sync.Mutex
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	s.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
	return s
}

// fresh returns a store of its own for a parallel test.
func fresh(t *testing.T) *Store {
	t.Helper()
	t.Parallel()
	return open(t, t.TempDir())
}

// stopped returns what a parallel test begins with: a store of its own, whose clock shows now, which
// the test moves.
func stopped(t *testing.T) (s *Store, ctx context.Context, now *time.Time) {
	t.Helper()
	s, now = fresh(t), new(time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC))
	s.Now = func() time.Time { return *now }
	return s, t.Context(), now
}

// sample is a small data set that differs with seed.
func sample(seed float64) *dataset.Data {
	return &dataset.Data{
		Features: []string{"x", "größe, \"in m\""}, Label: "class", Classes: []string{"a", "b"}, Y: []int{0, 1, 1},
		X: mat.NewDense(3, 2, []float64{seed, 1.0 / 3, 0.1, -1e-300, math.Pi, math.MaxFloat64}),
	}
}

func sampleResult(accuracy float64, vectors int) *ml.Result {
	gamma, test := 1.0/3, accuracy-0.01
	model := &ml.Model{
		Features: []string{"x", "y"}, Label: "class", Classes: []string{"a", "b"}, Objects: dataset.KindVectors,
		Kernel:   kernel.RBF(gamma),
		Supports: ml.Supports{Rows: []int{0, 2}, Vectors: [][]float64{{math.Pi, 1e-300}, {math.Copysign(0, -1), 1.0 / 3}}},
		Machines: []ml.Machine{{Coef: []float64{math.Nextafter(1, 2), -1}, B: 0.1 + 0.2}}, Rule: ml.Sign,
	}
	before := *model
	before.Machines = []ml.Machine{{Coef: model.Machines[0].Coef, B: -7}}
	return &ml.Result{
		Report: ml.Report{
			N: 3, D: 2, Classes: []string{"a", "b"}, Positive: "b", Learner: "svm", Kernel: "rbf", Values: param.Values{"gamma": param.Of(gamma)},
			Status: trace.Converged, SupportVectors: vectors, TrainAccuracy: &accuracy, TestAccuracy: &test,
		},
		Model: model, Before: &before,
		Scores: mat.NewDense(3, 1, []float64{math.Pi, math.Inf(-1), math.Copysign(0, -1)}),
	}
}

func equal(a, b *mat.Dense) bool { return a == b || a != nil && b != nil && mat.Equal(a, b) }

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	require.Check(t, errors.Is(err, want), "error %v, want %v", err, want)
}

// refused checks that err names a field and contains words.
func refused(t testing.TB, err error, field, words string) {
	t.Helper()
	var ps param.Problems
	require.Check(t, errors.As(err, &ps) && ps.For(field) != "" && strings.Contains(err.Error(), words),
		"%s: %.300v, want %q", field, err, words)
}

// empty checks that tables have no rows.
func empty(t testing.TB, s *Store, tables ...string) {
	t.Helper()
	for _, table := range tables {
		require.Equal(t, count(t, s, table), 0, "rows left in %s", table)
	}
}

// count counts rows of a table.
func count(t testing.TB, s *Store, table string) (n int) {
	t.Helper()
	require.NoError(t, s.read.QueryRow(`SELECT count(*) FROM `+table).Scan(&n))
	return n
}

func TestDatasetSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not there yet", "100% mine? #1")
	ctx := t.Context()
	s := open(t, dir)
	d := sample(1)
	made := require.Value(s.CreateDataset(ctx, alice, "  Ripley\nset ", "uploaded ripley.csv", d))(t)
	require.NoError(t, s.Close())

	s = open(t, dir)
	got := require.Value(s.Dataset(ctx, alice, made.ID))(t)
	want := Dataset{
		ID: made.ID, Name: "Ripley set", Origin: "uploaded ripley.csv", Hash: d.Hash(), Kind: dataset.KindVectors, Rows: 3, Features: d.Features,
		Label: "class", Classes: []string{"a", "b"}, Created: made.Created, Updated: made.Created,
	}
	require.Equal(t, cmp.Diff(want, got), "", "diff")
	require.Equal(t, cmp.Diff(made, got), "", "as created, as read")
	back := require.Value(s.Data(ctx, got.Hash))(t)
	require.Check(t, mat.Equal(back.X, d.X) && cmp.Equal(back.Y, d.Y), "the points came back changed")
	require.Equal(t, require.Err(os.Stat(s.Path())), nil, "the error")
}

func TestDatasetNames(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	for _, name := range []string{"", " \t\n", strings.Repeat("ä", 121)} {
		refused(t, require.Err(s.CreateDataset(ctx, alice, name, "drawn", sample(1))), "name", "")
	}
	first := require.Value(s.CreateDataset(ctx, alice, strings.Repeat("ä", 120), "drawn", sample(1)))(t)
	require.Value(s.CreateDataset(ctx, alice, first.Name, "drawn", sample(1)))(t) // names are reusable
	odd := require.Value(s.CreateDataset(ctx, alice, "<b>' OR 1=1; --\x00\xff", "drawn", sample(1)))(t)
	require.Equal(t, require.Value(s.Dataset(ctx, alice, odd.ID))(t).Name, "<b>' OR 1=1; --"+" \uFFFD", "name")
	require.NoError(t, s.RenameDataset(ctx, alice, first.ID, " other "))
	got := require.Value(s.Dataset(ctx, alice, first.ID))(t)
	require.Check(t, got.Name == "other" && got.Updated.After(got.Created), "after renaming: %+v", got)
	require.Check(t, s.RenameDataset(ctx, alice, first.ID, "") != nil, "renamed to nothing")
}

func TestDatasetsNewestFirst(t *testing.T) {
	s := fresh(t)
	s.Now = func() time.Time { return time.Unix(1, 0) } // all in the same instant
	for i := range 5 {
		require.Value(s.CreateDataset(t.Context(), alice, fmt.Sprint(i), "", sample(1)))(t)
	}
	var names string
	for _, d := range require.Value(s.Datasets(t.Context(), alice))(t) {
		names += d.Name
	}
	require.Equal(t, names, "43210", "names")
	at := time.Date(2031, 2, 3, 4, 5, 6, 7_000_000, time.FixedZone("x", 3600))
	s.Now = func() time.Time { return at }
	d := require.Value(s.CreateDataset(t.Context(), alice, "d", "", sample(1)))(t)
	require.Check(t, d.Created.Equal(at) && d.Created.Location() == time.UTC, "%v", d.Created)
}

func TestPointsAreSharedAndDropped(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	a := require.Value(s.CreateDataset(ctx, alice, "a", "", sample(1)))(t)
	b := require.Value(s.CreateDataset(ctx, bob, "b", "", sample(1)))(t)
	run := require.Value(s.CreateRun(ctx, alice, NewRun{Dataset: a.ID, Spec: ml.DefaultSpec()}))(t)
	require.Equal(t, count(t, s, "points"), 1, "point sets of one content")

	edited := require.Value(s.ReplaceData(ctx, alice, a.ID, sample(2)))(t)
	require.Check(t, edited.Hash != a.Hash && edited.Name == "a" && edited.Updated.After(a.Updated),
		"after editing: %+v", edited)
	require.Check(t, require.Value(s.Run(ctx, alice, run.ID))(t).Hash == a.Hash,
		"editing a data set changed what its run was trained on")
	require.Value(s.ReplaceData(ctx, alice, a.ID, sample(3)))(t)
	require.Equal(t, count(t, s, "points"), 2, "point sets") // sample 2 is gone

	require.NoError(t, s.DeleteDataset(ctx, alice, a.ID))
	require.NoError(t, s.DeleteDataset(ctx, bob, b.ID))
	got := require.Value(s.Run(ctx, alice, run.ID))(t)
	require.Check(t, got.Dataset == "" && got.DatasetName == "a", "run of a deleted data set: %+v", got)
	require.Value(s.Data(ctx, got.Hash))(t)

	require.NoError(t, s.DeleteRuns(ctx, alice, []string{run.ID}))
	forgetDeleted(t, s)
	require.Equal(t, count(t, s, "points"), 0, "point sets left after everything is deleted")
	wantErr(t, require.Err(s.Data(ctx, a.Hash)), ErrNotFound)
}

// A data set that is replaced repeatedly is always read consistently, row and points.
func TestReplacedWhileRead(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	set := require.Value(s.CreateDataset(ctx, alice, "a", "", sample(0)))(t)
	var read atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for i := 1; !read.Load(); i++ {
			require.Equal(t, require.Err(s.ReplaceData(ctx, alice, set.ID, sample(float64(i)))), nil, "replacing")
		}
	})
	defer group.Wait()
	defer read.Store(true)
	for range 300 {
		now, d, err := s.DatasetWithData(ctx, alice, set.ID)
		require.Must(t, err == nil && d.Hash() == now.Hash, "points of %.6s: %v", now.Hash, err)
		var file bytes.Buffer
		require.NoError(t, s.Export(ctx, alice, &file))
		archive := require.Value(openArchive(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
		require.Must(t, len(archive.index.Datasets) == 1, "the archive lacks the data set")
	}
}

// Calls of a workspace for an item of another return ErrNotFound and change nothing.
func TestWorkspacesAreApart(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	ds := require.Value(s.CreateDataset(ctx, alice, "hers", "", sample(1)))(t)
	queued := require.Value(s.CreateRun(ctx, alice, NewRun{Dataset: ds.ID, Spec: ml.DefaultSpec(), Tags: []string{"secret"}}))(t)
	done := require.Value(s.saveRun(ctx, alice, NewRun{Dataset: ds.ID, Spec: ml.DefaultSpec()}, sampleResult(0.9, 2)))(t)
	upload := require.Value(s.SaveUpload(ctx, alice, "hers.csv", strings.NewReader("1,2")))(t)
	dump := func() string {
		d := require.Value(s.Dataset(ctx, alice, ds.ID))(t)
		q := require.Value(s.Run(ctx, alice, queued.ID))(t)
		r := require.Value(s.Run(ctx, alice, done.ID))(t)
		return fmt.Sprint(d, q, r.Name, r.Note, r.Share, r.Status, count(t, s, "uploads"))
	}
	before := dump()

	for name, try := range map[string]func(string) error{
		"Dataset":       func(id string) error { return require.Err(s.Dataset(ctx, bob, id)) },
		"RenameDataset": func(id string) error { return s.RenameDataset(ctx, bob, id, "his") },
		"ReplaceData":   func(id string) error { return require.Err(s.ReplaceData(ctx, bob, id, sample(5))) },
		"DeleteDataset": func(id string) error { return s.DeleteDataset(ctx, bob, id) },
		"CreateRun": func(id string) error {
			return require.Err(s.CreateRun(ctx, bob, NewRun{Dataset: id, Spec: ml.DefaultSpec()}))
		},
		"Run":              func(id string) error { return require.Err(s.Run(ctx, bob, id)) },
		"RunWithoutModels": func(id string) error { return require.Err(s.RunWithoutModels(ctx, bob, id)) },
		"UpdateRun":        func(id string) error { return s.UpdateRun(ctx, bob, id, new("his"), nil, nil) },
		"DeleteRuns":       func(id string) error { return s.DeleteRuns(ctx, bob, []string{id}) },
		"ShareRun":         func(id string) error { return require.Err(s.ShareRun(ctx, bob, id)) },
		"UnshareRun":       func(id string) error { return s.UnshareRun(ctx, bob, id) },
		"CancelRun":        func(id string) error { return s.CancelRun(ctx, bob, id) },
		"SharedRun":        func(id string) error { return require.Err(s.SharedRun(ctx, id)) },
		"Upload":           func(id string) error { _, _, err := s.Upload(ctx, bob, id); return err },
		"DeleteUpload":     func(id string) error { return s.DeleteUpload(ctx, bob, id) },
	} {
		for _, id := range []string{ds.ID, queued.ID, done.ID, upload, "", "no-such-id", "' OR 1=1 --"} {
			if name == "CreateRun" && id == "" {
				continue // means: no data set
			}
			require.Is(t, try(id), ErrNotFound, "%s(%q) of another workspace", name, id)
		}
	}
	require.Equal(t, len(require.Value(s.Datasets(ctx, bob))(t)), 0, "data sets of another workspace in the list")
	if list, total, err := s.Runs(ctx, bob, Filter{}); len(list) != 0 || total != 0 || err != nil {
		t.Errorf("runs of another workspace: %v %d %v", list, total, err)
	}
	list, _, _ := s.Runs(ctx, bob, Filter{Where: MustQuery("data = " + Quoted(ds.Name))})
	require.Check(t, len(list) == 0, "runs of another workspace's data set")
	require.Slices(t, require.Value(s.Tags(ctx, bob))(t), nil, "tags of another workspace")
	require.Equal(t, dump(), before, "changed by another workspace")
	require.Equal(t, count(t, s, "points"), 1, "point sets, want 1: a refused run left its points")
}

func TestTokenIsNotStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := require.Value(Open(t.Context(), dir))(t) // which creates the file
	token := "00112233445566778899aabbccddeeff"
	require.Value(s.CreateDataset(t.Context(), WorkspaceOf(token), "x", "", sample(1)))(t)
	require.NoError(t, s.Close())
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		require.Check(t, !strings.Contains(string(require.Value(os.ReadFile(f))(t)), token), "%s holds the token", f)
		info := require.Value(os.Stat(f))(t)
		require.Check(t, info.Mode().Perm()&0o077 == 0, "%s is readable by others: %v", f, info.Mode())
	}
}

// Two programs may share a directory; the second waits for the first.
func TestTwoStoresOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := Open(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := range 10 {
				require.Equal(t, require.Err(s.CreateDataset(t.Context(), alice, "x", "", sample(float64(i)))), nil, "the error")
			}
		})
	}
	wg.Wait()
	require.Equal(t, len(require.Value(open(t, dir).Datasets(t.Context(), alice))(t)), 80, "data sets")
}

// Neither a reader nor who has left changes anything, nor anybody once the database is read-only.
func TestRefusedWrites(t *testing.T) {
	s := fresh(t)
	wantErr(t, s.view(t.Context(), func(tx *transaction) { tx.exec(`DELETE FROM points`) }), ErrReadOnly)
	wantErr(t, require.Err(s.CreateDataset(mltest.Ended(), alice, "x", "", sample(1))), context.Canceled)
	require.Check(t, count(t, s, "datasets") == 0, "saved all the same")
	require.Value(s.CreateDataset(t.Context(), alice, "d", "", sample(1)))(t)
	require.Value(s.write.Exec(`PRAGMA query_only = on`))(t)
	wantErr(t, require.Err(s.CreateDataset(t.Context(), alice, "e", "", sample(2))), ErrReadOnly)
	require.Equal(t, len(require.Value(s.Datasets(t.Context(), alice))(t)), 1, "data sets")
}

// A conditional change is made in the state that its check saw: reads by the check belong to the
// transaction of the change.
func TestOnlyIf(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	set := require.Value(s.CreateDataset(ctx, alice, "first", "drawn", sample(1)))(t)
	changed := errors.New("changed")
	const writers = 8
	errs := make([]error, writers)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			still := OnlyIf(ctx, func(ctx context.Context) error {
				now, err := s.Dataset(ctx, alice, set.ID)
				if err == nil && now.Name != "first" {
					err = changed
				}
				return err
			})
			errs[i] = s.RenameDataset(still, alice, set.ID, fmt.Sprint(i))
		})
	}
	group.Wait()
	made := -1
	for i, err := range errs {
		switch {
		case err == nil && made < 0:
			made = i
		case !errors.Is(err, changed):
			t.Errorf("writer %d: %v, after %d", i, err, made)
		}
	}
	now := require.Value(s.Dataset(ctx, alice, set.ID))(t)
	require.Check(t, made >= 0 && now.Name == fmt.Sprint(made), "%q, but %d was told that it changed it", now.Name, made)

	asked := 0
	once := OnlyIf(ctx, func(context.Context) error {
		if asked++; asked > 1 {
			return changed
		}
		return nil
	})
	wantErr(t, s.RenameDataset(once, alice, "missing", "x"), ErrNotFound) // not stored, so the next change is the first
	wantErr(t, s.RenameDataset(once, alice, set.ID, "x"), changed)
}

// owner takes runs from the queue in tests.
const owner Owner = "tester"

// saveRun stores a finished run with its result.
func (s *Store) saveRun(ctx context.Context, ws Workspace, n NewRun, res *ml.Result) (Run, error) {
	r, err := s.CreateRun(ctx, ws, n)
	if err != nil {
		return r, err
	}
	if err := s.exec(ctx, `UPDATE runs SET status = 'running', started = created, owner = ? WHERE id = ?`, owner, r.ID); err != nil {
		return r, err
	}
	if err := s.FinishRun(ctx, owner, r.ID, res); err != nil {
		return r, err
	}
	return s.Run(ctx, ws, r.ID)
}

// forgetDeleted runs the cleanup due a day after a deletion.
func forgetDeleted(t *testing.T, s *Store) {
	t.Helper()
	require.Value(s.Forget(t.Context(), s.Now().Add(time.Second)))(t)
}

// claimRun claims the next run: the first submitted one, else the oldest.
func (s *Store) claimRun(t testing.TB, owner Owner) (Run, bool) {
	t.Helper()
	return claimNext(t, s, owner, false, s.ClaimRun)
}

// claimCell claims a cell of the oldest search with an available one.
func (s *Store) claimCell(t testing.TB, owner Owner) (Cell, bool) {
	t.Helper()
	return claimNext(t, s, owner, true, s.ClaimCell)
}

// claimNext calls claim with the ids of waiting runs or searches until one is claimed. It lists
// them twice, because one that cannot be claimed may hide others.
func claimNext[V any](
	t testing.TB, s *Store, owner Owner, searches bool, claim func(context.Context, Owner, string) (V, bool, error),
) (none V, ok bool) {
	t.Helper()
	for range 2 {
		for _, w := range require.Value(s.Waiting(t.Context(), owner))(t) {
			if w.Search != searches {
				continue
			}
			v, ok, err := claim(t.Context(), owner, w.ID)
			require.NoError(t, err)
			if ok {
				return v, true
			}
		}
	}
	return none, false
}

// renew renews the leases of an owner and returns what it holds.
func (s *Store) renew(t *testing.T, owner Owner) (runs []string, cells []Cell) {
	t.Helper()
	runs, cells, err := s.RenewLeases(t.Context(), owner)
	require.NoError(t, err)
	return runs, cells
}
