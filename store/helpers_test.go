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

// saveRun stores a run that has ended with a result.
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

// claimRun claims the run that is the next by age, or the next that was handed in.
func (s *Store) claimRun(ctx context.Context, owner Owner) (r Run, ok bool, err error) {
	err = s.eachWaiting(ctx, owner, false, func(id string) bool { r, ok, err = s.ClaimRun(ctx, owner, id); return ok || err != nil })
	return r, ok, err
}

// claimCell claims a cell of the oldest search that has one.
func (s *Store) claimCell(ctx context.Context, owner Owner) (c Cell, ok bool, err error) {
	err = s.eachWaiting(ctx, owner, true, func(id string) bool { c, ok, err = s.ClaimCell(ctx, owner, id); return ok || err != nil })
	return c, ok, err
}

// eachWaiting calls claim with the ids of runs or searches that wait until it has one; as one
// that cannot be claimed may hide others, twice.
func (s *Store) eachWaiting(ctx context.Context, owner Owner, searches bool, claim func(id string) bool) error {
	for range 2 {
		list, err := s.Waiting(ctx, owner)
		if err != nil {
			return err
		}
		for _, w := range list {
			if w.Search == searches && claim(w.ID) {
				return nil
			}
		}
	}
	return nil
}

// renew renews the leases of an owner and returns what it holds.
func (s *Store) renew(t *testing.T, owner Owner) (runs []string, cells []Cell) {
	t.Helper()
	runs, cells, err := s.RenewLeases(t.Context(), owner)
	require.NoError(t, err)
	return runs, cells
}
