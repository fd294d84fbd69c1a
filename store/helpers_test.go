package store

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"marginlab/ml"
)

// owner takes runs from the queue in tests.
const owner Owner = "tester"

// saveRun stores a run that has ended with a result.
func (s *Store) saveRun(ctx context.Context, ws Workspace, n NewRun, res *ml.Result) (Run, error) {
	r, err := s.CreateRun(ctx, ws, n)
	if err != nil {
		return r, err
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE runs SET status = 'running', started = created, owner = ? WHERE id = ?`, owner, r.ID)
		return err
	})
	if err != nil {
		return r, err
	}
	if err := s.FinishRun(ctx, owner, r.ID, res); err != nil {
		return r, err
	}
	return s.Run(ctx, ws, r.ID)
}

// forgetDeleted does what is done a day after something was deleted.
func forgetDeleted(t *testing.T, s *Store) {
	t.Helper()
	must[int](t)(s.Forget(t.Context(), s.Now().Add(time.Second)))
}
