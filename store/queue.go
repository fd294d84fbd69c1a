package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"marginlab/ml"
)

// MaxAttempts is how often a run is begun when programs die under it.
const MaxAttempts = 3

// Lease is how long a running run stays its owner's without RenewLeases. A run
// whose owner has died waits that long for another, unless TakeBack frees it.
const Lease = 15 * time.Second

// KindTrain is the kind of the runs that train one spec. A program takes only the
// kinds that it knows.
const KindTrain = "train"

// Owner names a program that takes runs from the queue. Two that work on one
// database, or one after the other, have different names.
type Owner string

// NewOwner returns a name of 130 random bits.
func NewOwner() Owner { return Owner(rand.Text()) }

// notEnded selects runs as the index of those does.
const notEnded = `status IN ('queued', 'running')`

// free selects runs that nobody works on: queued, or with a lease that ran out in
// the hands of another owner; but not copies that were handed in of runs that have not
// ended, for they get the results of those. Its arguments, by number, are the time
// and who asks.
const free = notEnded + ` AND kind = '` + KindTrain + `' AND (status = 'queued' OR lease < ?1 AND owner <> ?2)
	AND NOT EXISTS (SELECT 1 FROM handins JOIN runs AS source ON source.id = handins.source WHERE handins.run = runs.id AND source.` + notEnded + `)`

// turn orders workspaces, each with the time since when it waits, by whose turn it is:
// first who has the least under way, then who was not served for longest, then who came
// first. So nobody's work, however much it is, holds up that of others for longer than
// what has begun. Every kind of work adds what it has under way and when that began.
const turn = `
	(SELECT count(*) FROM runs WHERE runs.workspace = who.workspace AND ` + notEnded + ` AND status = 'running')
	+ (SELECT count(*) FROM cells CROSS JOIN searches ON id = search WHERE done = 0 AND lease > 0 AND searches.workspace = who.workspace),
	max( -- 0, which comes first: never
		coalesce((SELECT max(started) FROM runs WHERE runs.workspace = who.workspace), 0),
		coalesce((SELECT max(served) FROM searches WHERE searches.workspace = who.workspace), 0)),
	since`

// held is how much of all kinds of work of a workspace the owner has under way who is the
// second argument.
const held = `(
	(SELECT count(*) FROM runs WHERE runs.workspace = who.workspace AND ` + notEnded + ` AND status = 'running' AND owner = ?2)
	+ (SELECT count(*) FROM cells CROSS JOIN searches ON id = search WHERE done = 0 AND lease > 0 AND owner = ?2 AND searches.workspace = who.workspace))`

// ClaimRun gives a run that nobody works on to an owner, who holds it for a Lease: of
// the workspace whose turn it is the oldest, or, before that, of those it has handed in.
// Of one workspace an owner holds at most so much of all kinds of work. A run under which MaxAttempts owners
// have died fails instead: it may be the cause. ok is false when none is waiting.
func (s *Store) ClaimRun(ctx context.Context, owner Owner, most int) (r Run, ok bool, err error) {
	return s.claimRun(ctx, owner, most, false)
}

// ClaimRunInTurn is ClaimRun for an owner who takes cells as well. Cells of a workspace that
// waited while a run of it was trained come first until they have had as long: so a search is
// not behind all runs, however long these are, and runs are not behind all of a search.
func (s *Store) ClaimRunInTurn(ctx context.Context, owner Owner, most int) (r Run, ok bool, err error) {
	return s.claimRun(ctx, owner, most, true)
}

func (s *Store) claimRun(ctx context.Context, owner Owner, most int, inTurn bool) (r Run, ok bool, err error) {
	err = s.note(ctx, func(tx *sql.Tx) error {
		if err := failDeadly(ctx, tx, owner, s.now()); err != nil {
			return err
		}
		r, err = claimRun(ctx, tx, owner, most, inTurn, s.now())
		if errors.Is(err, ErrNotFound) {
			return nil // and keep what failed
		}
		ok = err == nil
		return err
	})
	return r, ok && err == nil, err
}

// Waiting tells whether ClaimRun would find a run.
func (s *Store) Waiting(ctx context.Context, owner Owner) (waiting bool, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM runs WHERE `+free+`)`, s.now(), owner).Scan(&waiting)
	})
	return waiting, err
}

// RenewLeases extends the leases of an owner and returns the runs it holds. One
// that is missing was cancelled or deleted, or its lease ran out and somebody else
// took it.
func (s *Store) RenewLeases(ctx context.Context, owner Owner) (held []string, err error) {
	err = s.note(ctx, func(tx *sql.Tx) error {
		held, err = renewLeases(ctx, tx, owner, leaseEnd(s.now()))
		return err
	})
	return held, err
}

// TakeBack ends all leases: whoever holds the lock of the data directory knows that those
// who had them have died. The attempts count, as after a lease that ran out. It is called
// before anything is claimed. Owners that work without the lock would be left out here, in
// both tables.
func (s *Store) TakeBack(ctx context.Context, _ *Lock) error {
	return s.note(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE runs SET lease = 0 WHERE `+notEnded+` AND status = 'running'`); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE cells SET lease = 0 WHERE done = 0 AND lease > 0`)
		return err
	})
}

// State is where a run stands, and of a failed one why.
type State struct {
	Status Status
	Error  string
}

// RunStates tells where runs of any workspace stand, by their ids. One that is gone is
// missing.
func (s *Store) RunStates(ctx context.Context, ids ...string) (states map[string]State, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		states, err = runStates(ctx, tx, ids)
		return err
	})
	return states, err
}

// FinishRun stores the result of a run that owner holds: report, models and status
// at once. It returns ErrNotFound for a run that was cancelled, deleted or taken by
// somebody else meanwhile.
func (s *Store) FinishRun(ctx context.Context, owner Owner, id string, res *ml.Result) error {
	e, err := encodeResult(res)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tx *sql.Tx) error { return finishRun(ctx, tx, owner, id, e, s.now()) })
}

// FailRun ends a run that owner holds with a message for the person who made it. It
// returns ErrNotFound as FinishRun does.
func (s *Store) FailRun(ctx context.Context, owner Owner, id, message string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		err := affected(tx.ExecContext(ctx, `UPDATE runs SET status = 'failed', error = ?, finished = ? WHERE id = ? AND status = 'running' AND owner = ?`,
			message, s.now(), id, owner))
		if err != nil {
			return err
		}
		return endCopies(ctx, tx)
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

// ReleaseRun puts a run that owner holds back into the queue: the program is
// stopping in good order, so that the attempt does not count. It returns
// ErrNotFound as FinishRun does.
func (s *Store) ReleaseRun(ctx context.Context, owner Owner, id string) error {
	return s.note(ctx, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx,
			`UPDATE runs SET status = 'queued', started = NULL, attempts = attempts - 1 WHERE id = ? AND status = 'running' AND owner = ?`, id, owner))
	})
}

// leaseEnd is when a lease that begins now ends.
func leaseEnd(now int64) int64 { return now + Lease.Milliseconds() }

// roomInQueue is ErrTooMany when MaxQueuedEach runs of a workspace are waiting, and
// ErrQueueFull when MaxQueued runs are, without copies that were handed in.
func roomInQueue(ctx context.Context, tx *sql.Tx, ws Workspace) error {
	own, err := waitingOf(ctx, tx, ws)
	if err != nil {
		return err
	}
	var all int
	err = tx.QueryRowContext(ctx, `
		SELECT count(*) FROM runs WHERE `+notEnded+` AND status = 'queued' AND NOT EXISTS (SELECT 1 FROM handins WHERE run = id)`).Scan(&all)
	switch {
	case err != nil:
		return err
	case own >= MaxQueuedEach:
		return ErrTooMany
	case all >= MaxQueued:
		return ErrQueueFull
	}
	return nil
}

// waitingOf counts the runs of a workspace that are queued.
func waitingOf(ctx context.Context, tx *sql.Tx, ws Workspace) (n int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM runs WHERE workspace = ? AND `+notEnded+` AND status = 'queued'`, ws).Scan(&n)
	return n, err
}

func failDeadly(ctx context.Context, tx *sql.Tx, owner Owner, now int64) error {
	message := fmt.Sprintf("The program stopped %d times while it trained this run. The data may be too large for this machine.", MaxAttempts)
	_, err := tx.ExecContext(ctx, `UPDATE runs SET status = 'failed', error = ?3, finished = ?1 WHERE status = 'running' AND attempts >= ?4 AND `+free,
		now, owner, message, MaxAttempts)
	if err != nil {
		return err
	}
	return endCopies(ctx, tx)
}

// owed selects workspaces of which a run has ended that kept cells waiting, by less time ago
// than it did. Its arguments, by number, are those of searching.
const owed = `SELECT waits.workspace FROM (SELECT workspace, min(created) AS since FROM (` + searching + `) GROUP BY workspace) AS waits
	WHERE EXISTS (SELECT 1 FROM runs WHERE runs.workspace = waits.workspace AND finished > since AND 2 * finished - max(started, since) > ?1)`

func claimRun(ctx context.Context, tx *sql.Tx, owner Owner, most int, inTurn bool, now int64) (Run, error) {
	r, err := scanRun(tx.QueryRowContext(ctx, `
		WITH
			waiting AS (
				SELECT id, rowid AS row, workspace, created, EXISTS (SELECT 1 FROM handins WHERE source = runs.id) AS handed
				FROM runs WHERE `+free+`),
			who AS (SELECT workspace, min(created) AS since FROM waiting WHERE ?3 = 0 OR workspace NOT IN (`+owed+`) GROUP BY workspace)
		UPDATE runs SET status = 'running', started = ?1, attempts = attempts + 1, owner = ?2, lease = ?4
		WHERE id = (
			SELECT id FROM waiting WHERE workspace = (
				SELECT workspace FROM who WHERE `+held+` < ?5 ORDER BY `+turn+` LIMIT 1)
			ORDER BY handed DESC, created, row LIMIT 1)
		RETURNING `+runColumns, now, owner, inTurn, leaseEnd(now), most))
	return r, found(err)
}

func runStates(ctx context.Context, tx *sql.Tx, ids []string) (map[string]State, error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, status, error FROM runs WHERE id IN (SELECT value FROM json_each(?))`, asJSON(&ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	states := map[string]State{}
	for rows.Next() {
		var id string
		var state State
		if err := rows.Scan(&id, &state.Status, &state.Error); err != nil {
			return nil, err
		}
		states[id] = state
	}
	return states, rows.Err()
}

func renewLeases(ctx context.Context, tx *sql.Tx, owner Owner, until int64) (held []string, err error) {
	rows, err := tx.QueryContext(ctx, `UPDATE runs SET lease = ? WHERE `+notEnded+` AND status = 'running' AND owner = ? RETURNING id`, until, owner)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		held = append(held, id)
	}
	return held, rows.Err()
}
