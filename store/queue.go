package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"marginlab/ml"
)

// MaxAttempts is how often a run is begun when the program dies under it.
const MaxAttempts = 3

// ClaimRun turns the oldest queued run into a running one and returns it. ok is
// false when none is waiting.
func (s *Store) ClaimRun(ctx context.Context) (r Run, ok bool, err error) {
	err = s.update(ctx, func(tx *sql.Tx) error {
		r, err = claimRun(ctx, tx, s.now())
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return Run{}, false, nil
	}
	return r, err == nil, err
}

// RunStatus tells where a run of any workspace stands.
func (s *Store) RunStatus(ctx context.Context, id string) (status Status, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return found(tx.QueryRowContext(ctx, `SELECT status FROM runs WHERE id = ?`, id).Scan(&status))
	})
	return status, err
}

// FinishRun stores the result of a running run: report, models and status at
// once. It returns ErrNotFound for a run that was cancelled or deleted meanwhile.
func (s *Store) FinishRun(ctx context.Context, id string, res *ml.Result) error {
	e, err := encodeResult(res)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tx *sql.Tx) error { return finishRun(ctx, tx, id, e, s.now()) })
}

// FailRun ends a running run with a message for its owner. It returns
// ErrNotFound for a run that was cancelled or deleted meanwhile.
func (s *Store) FailRun(ctx context.Context, id, message string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, `UPDATE runs SET status = 'failed', error = ?, finished = ? WHERE id = ? AND status = 'running'`,
			message, s.now(), id))
	})
}

// CancelRun ends a run that is queued or running; ErrEnded if it has ended.
func (s *Store) CancelRun(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		r, err := findRun(ctx, tx, `workspace = ? AND id = ?`, ws, id)
		if err != nil {
			return err
		}
		if r.Status.Ended() {
			return ErrEnded
		}
		_, err = tx.ExecContext(ctx, `UPDATE runs SET status = 'cancelled', finished = ? WHERE id = ?`, s.now(), id)
		return err
	})
}

// ReleaseRun puts a running run back into the queue: the program is stopping in
// good order, so that the attempt does not count.
func (s *Store) ReleaseRun(ctx context.Context, id string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx,
			`UPDATE runs SET status = 'queued', started = NULL, attempts = attempts - 1 WHERE id = ? AND status = 'running'`, id))
	})
}

// Requeue puts runs back into the queue that were running when the program
// died. A run under which it has died MaxAttempts times fails instead: it may be
// the cause.
func (s *Store) Requeue(ctx context.Context) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		message := fmt.Sprintf("The program stopped %d times while it trained this run. The data may be too large for this machine.", MaxAttempts)
		if _, err := tx.ExecContext(ctx, `UPDATE runs SET status = 'failed', error = ?, finished = ? WHERE status = 'running' AND attempts >= ?`,
			message, s.now(), MaxAttempts); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE runs SET status = 'queued', started = NULL WHERE status = 'running'`)
		return err
	})
}

// roomInQueue is ErrQueueFull when MaxQueued runs are waiting.
func roomInQueue(ctx context.Context, tx *sql.Tx) error {
	var waiting int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM runs WHERE status = 'queued'`).Scan(&waiting)
	if err == nil && waiting >= MaxQueued {
		err = ErrQueueFull
	}
	return err
}

func claimRun(ctx context.Context, tx *sql.Tx, now int64) (Run, error) {
	r, err := scanRun(tx.QueryRowContext(ctx, `
		UPDATE runs SET status = 'running', started = ?, attempts = attempts + 1
		WHERE id = (SELECT id FROM runs WHERE status = 'queued' ORDER BY created, rowid LIMIT 1)
		RETURNING `+runColumns, now))
	return r, found(err)
}
