package store

import (
	"context"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

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
