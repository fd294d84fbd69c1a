package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

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
