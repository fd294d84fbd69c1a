package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"marginlab/ml"
)

// MaxAttempts is how often a run is started if processes die while running it.
const MaxAttempts = 3

// Lease is how long an owner keeps a run without RenewLeases. A run whose owner has died becomes
// available after that time, or when TakeBack frees it.
const Lease = 15 * time.Second

// Owner identifies a holder of leases: one engine of one process. It is unique per engine.
type Owner string

// NewOwner returns a name of 130 random bits.
func NewOwner() Owner { return Owner(rand.Text()) }

// notEnded selects unfinished runs. It matches the condition of their partial index.
const notEnded = `status IN ('queued', 'running')`

// free selects runs available to an owner: queued, or with an expired lease of another
// owner, except submitted copies of unfinished runs, which get those runs' results. Its
// arguments, by number, are the time and the owner.
const free = notEnded + ` AND (status = 'queued' OR lease < ?1 AND owner <> ?2)
	AND NOT EXISTS (SELECT 1 FROM handins JOIN runs AS source ON source.id = handins.source WHERE handins.run = runs.id AND source.` + notEnded + `)`

// Weight classifies work by its expected duration.
type Weight int

// Weights of work: a first turn is light, a longer one medium, everything else heavy.
const (
	Light Weight = iota
	Medium
	Heavy
)

// String names the weight: "light", "medium", "heavy".
func (w Weight) String() string { return [...]string{"light", "medium", "heavy"}[w] }

// leastWork is the lower bound of the expected time of each weight, in milliseconds.
var leastWork = [...]int64{Light: 0, Medium: 10_000, Heavy: 60_000}

// weight is the SQL expression for the weight of a row.
var weight = fmt.Sprintf(`(work >= %d) + (work >= %d)`, leastWork[Medium], leastWork[Heavy])

// Waiting is the oldest waiting run or search of a workspace, course and weight.
type Waiting struct {
	ID        string // of a run, or of a search with an available cell
	Search    bool
	Workspace Workspace
	Teacher   Workspace // owner of the course under which it was created; empty: none
	HandedIn  bool
	Weight    Weight
	Work      time.Duration // estimated
	Memory    int64         // bytes, estimated
	Since     time.Time
}

// Waiting lists the work that owner could claim: hand-ins first, then the oldest first.
func (s *Store) Waiting(ctx context.Context, owner Owner) ([]Waiting, error) {
	return listed(ctx, s, func(r row, w *Waiting) error {
		return r.Scan(&w.ID, &w.Search, &w.Workspace, &w.Teacher, &w.HandedIn, &w.Weight, &w.Work, &w.Memory, asMillis(&w.Since))
	}, `
		SELECT id, search, workspace, coalesce((SELECT courses.workspace FROM courses WHERE code = course), ''), handed, weight, work * 1000000, memory, created FROM (
			SELECT id, 0 AS search, workspace, course, EXISTS (SELECT 1 FROM handins WHERE source = runs.id OR run = runs.id) AS handed, `+weight+` AS weight, work, memory, created, min(rowid) AS row
				FROM runs WHERE `+free+` GROUP BY workspace, course, handed, weight
			UNION ALL SELECT id, 1, workspace, '', 0, `+weight+` AS weight, work, memory, created, min(row)
				FROM (`+searching+`) GROUP BY workspace, weight)
		ORDER BY handed DESC, created, search, row`, s.now(), owner)
}

// ClaimRun leases an available run to an owner. ok is false if another owner was faster, or if
// MaxAttempts owners have died running it: the run then fails, because it may have killed them.
func (s *Store) ClaimRun(ctx context.Context, owner Owner, id string) (r Run, ok bool, err error) {
	err = s.note(ctx, func(tx *transaction) {
		message := fmt.Sprintf("The program stopped %d times while it trained this run. The data may be too large for this machine.", MaxAttempts)
		tx.exec(`UPDATE runs SET status = 'failed', error = ?3, finished = ?1 WHERE status = 'running' AND attempts >= ?4 AND `+free, s.now(), owner, message, MaxAttempts)
		endCopies(tx)
		r, ok = lookup(tx, scanRun, `
			UPDATE runs SET status = 'running', started = ?1, attempts = attempts + 1, owner = ?2, lease = ?3
			WHERE id = ?4 AND id IN (SELECT id FROM runs WHERE id = ?4 AND `+free+`)
			RETURNING `+runColumns, s.now(), owner, leaseEnd(s.now()), id)
	})
	return r, ok && err == nil, err
}

// CountWaiting counts the runs and the cells of searches that owner could claim, by weight.
func (s *Store) CountWaiting(ctx context.Context, owner Owner) (map[Weight]int, error) {
	return keyed(ctx, s, pair[Weight, int], `SELECT weight, count(*) FROM (SELECT `+weight+` AS weight FROM runs WHERE `+free+`
		UNION ALL SELECT `+weight+` FROM searches JOIN cells c ON c.search = id WHERE `+notEnded+` AND `+freeCell+`) GROUP BY weight`, s.now(), owner)
}

// Place holds the position of a waiting run.
type Place struct {
	Weight Weight
	Before int // runs ahead of it: lighter ones, and older ones of the same weight
}

// Places returns the positions of queued runs by id.
func (s *Store) Places(ctx context.Context) (map[string]Place, error) {
	return keyed(ctx, s, func(r row, id *string, p *Place) error { return r.Scan(id, &p.Weight, &p.Before) },
		`SELECT id, `+weight+` AS weight, row_number() OVER (ORDER BY `+weight+`, created, rowid) - 1 FROM runs WHERE `+notEnded+` AND status = 'queued'`)
}

// RenewLeases extends leases of owners once a third of their time has passed, and returns the
// unfinished runs and cells they hold. Missing ones were cancelled or deleted, or their lease
// expired and another owner took them.
func (s *Store) RenewLeases(ctx context.Context, owners ...Owner) (runs []string, cells []Cell, err error) {
	err = s.note(ctx, func(tx *transaction) {
		const mine = `owner IN (SELECT value FROM json_each(?1)) AND `
		const myRuns = mine + notEnded + ` AND status = 'running'`
		const myCells = mine + `done = 0 AND lease > 0 AND search IN (SELECT id FROM searches WHERE ` + notEnded + `)`
		tx.exec(`UPDATE runs SET lease = ?2 WHERE `+myRuns+` AND lease < ?3`, asJSON(&owners), leaseEnd(s.now()), leaseDue(s.now()))
		tx.exec(`UPDATE cells SET lease = ?2 WHERE `+myCells+` AND lease < ?3`, asJSON(&owners), leaseEnd(s.now()), leaseDue(s.now()))
		runs = texts(tx, `SELECT id FROM runs WHERE `+myRuns, asJSON(&owners))
		cells = listOf(tx, func(r row, c *Cell) error { return r.Scan(&c.Search, &c.Place, &c.Name) }, `SELECT search, place, name FROM cells WHERE `+myCells, asJSON(&owners))
	})
	return runs, cells, err
}

// TakeBack ends all leases, before anything is claimed. The lock of the data directory proves that
// their owners have died. The attempts count, as after an expired lease. Owners that work without
// the lock would have to be excluded here, in both tables.
func (s *Store) TakeBack(ctx context.Context, _ *Lock) error {
	return s.note(ctx, func(tx *transaction) {
		tx.exec(`UPDATE runs SET lease = 0 WHERE ` + notEnded + ` AND status = 'running'`)
		tx.exec(`UPDATE cells SET lease = 0 WHERE done = 0 AND lease > 0`)
	})
}

// State is the status of a run or search, with the reason of a failure.
type State struct {
	Status      Status
	Error       string
	Done, Total int // cells of a search
}

// States returns the states of runs and searches of any workspace by id, including runs in the
// trash; purged ones are missing.
func (s *Store) States(ctx context.Context, ids ...string) (map[string]State, error) {
	return keyed(ctx, s, func(r row, id *string, state *State) error {
		return r.Scan(id, &state.Status, &state.Error, &state.Total, &state.Done)
	}, `SELECT id, status, error, 0, 0 FROM runs WHERE id IN (SELECT value FROM json_each(?1))
		UNION ALL SELECT id, status, error, `+countCells+` FROM searches WHERE id IN (SELECT value FROM json_each(?1))`, asJSON(&ids))
}

// FinishRun stores the result of a run leased to owner: report, models and status
// together. It returns ErrNotFound if the run was cancelled, deleted or taken by
// another owner.
func (s *Store) FinishRun(ctx context.Context, owner Owner, id string, res *ml.Result) error {
	e, err := encodeResult(res)
	if err != nil {
		return err
	}
	return s.endRun(ctx, owner, id, Done, `report`, e.report, func(tx *transaction) { insertModels(tx, id, e) })
}

// FailRun ends a run leased to owner with a message for its user. It returns ErrNotFound like
// FinishRun.
func (s *Store) FailRun(ctx context.Context, owner Owner, id, message string) error {
	return s.endRun(ctx, owner, id, Failed, `error`, message, endCopies)
}

// endRun ends a run leased to owner, stores text in column, and calls then in the same transaction.
func (s *Store) endRun(ctx context.Context, owner Owner, id string, status Status, column, text string, then func(*transaction)) error {
	return s.update(ctx, func(tx *transaction) {
		tx.execFound(`UPDATE runs SET status = ?, `+column+` = ?, finished = ? WHERE id = ? AND status = 'running' AND owner = ?`, status, text, s.now(), id, owner)
		then(tx)
	})
}

// CancelRun cancels a queued or running run; it returns ErrEnded if it has ended.
func (s *Store) CancelRun(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *transaction) {
		if findRun(tx, `workspace = ? AND id = ?`, ws, id).Status.Ended() {
			tx.fail(ErrEnded)
		}
		tx.exec(`UPDATE runs SET status = 'cancelled', finished = ? WHERE id = ?`, s.now(), id)
	})
}

// ReleaseRun returns a run leased to owner to the queue without counting the attempt, because the
// process is shutting down or the run has turned out to be of weight as. It returns ErrNotFound
// like FinishRun.
func (s *Store) ReleaseRun(ctx context.Context, owner Owner, id string, as Weight) error {
	return s.note(ctx, func(tx *transaction) {
		tx.execFound(`UPDATE runs SET status = 'queued', started = NULL, attempts = attempts - 1, work = max(work, ?) WHERE id = ? AND status = 'running' AND owner = ?`, leastWork[as], id, owner)
	})
}

// leaseEnd returns the expiry of a lease that begins now.
func leaseEnd(now int64) int64 { return now + Lease.Milliseconds() }

// leaseDue returns the expiry below which leases are renewed. Renewing them every second would
// account for most writes of a long run.
func leaseDue(now int64) int64 { return now + Lease.Milliseconds()*2/3 }

// share fails with tooMany if a workspace already holds each places of a queue, and with
// ErrQueueFull if the queue, of size room, has no place for it: all workspaces at one network
// address may together hold no more places than are free, and one workspace no more than a quarter
// of the free places its address has not used up. A workspace with nothing waiting may exceed this
// while more than a tenth of the queue is free.
func (s *Store) share(tx *transaction, ws Workspace, what string, each int, tooMany error, room int) {
	held := byKey(tx, pair[Workspace, int], `SELECT workspace, count(*) FROM `+what+` GROUP BY workspace`)
	own, near, all := held[ws], 0, 0
	if own >= each {
		tx.fail(tooMany)
	}
	network := s.NetworkOf(ws)
	for who, n := range held {
		all += n
		if s.NetworkOf(who) == network {
			near += n
		}
	}
	free := room - all
	full := near >= free && 10*free <= room
	if own > 0 {
		full = near >= free || 4*own >= free-near
	}
	if full {
		tx.fail(ErrQueueFull)
	}
}

// NetworkOf returns the network address that a workspace was last used from, or the workspace
// itself if unknown.
func (s *Store) NetworkOf(ws Workspace) string {
	if s.Network != nil {
		if name := s.Network(ws); name != "" {
			return name
		}
	}
	return string(ws)
}
