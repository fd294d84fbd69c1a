package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Space holds the disk space that a database uses and has available.
type Space struct {
	Free, Total int64 // on its file system
	Low         int64 // with less free, only small writes are accepted
	Database    int64 // its file
	Reusable    int64 // bytes of the file that are free for new content
	Log         int64 // the write-ahead log
	Most        int64 // MaxDisk
}

// held returns the size of the database's contents in bytes.
func (sp Space) held() int64 { return sp.Database - sp.Reusable }

// A twentieth of the file system (for a small one a quarter, up to leastLow bytes), but at most
// mostLow, is kept free for small writes: deletions, submissions, answers. Half of that, but at
// most mostReserve bytes, is reserved in a file that is deleted when something else has filled the
// disk.
const (
	leastLow    = 16 << 20
	mostLow     = 512 << 20
	mostReserve = 32 << 20
)

func lowMark(total int64) int64     { return min(max(total/20, min(total/4, leastLow)), mostLow) }
func reserveSize(total int64) int64 { return min(lowMark(total)/2, mostReserve) }

// reserveName is the file that reserves space for small writes on a full disk.
const reserveName = "marginlab.reserve"

func (s *Store) reserve() string { return filepath.Join(filepath.Dir(s.path), reserveName) }

// full returns ErrLow if the disk has space for small writes only.
func (sp Space) full() error {
	switch {
	case sp.Total > 0 && (sp.Free < sp.Low/4 || sp.Free+sp.Reusable < sp.Low):
		return fmt.Errorf("%w (%s free, %s reserved)", ErrLow, param.Bytes(sp.Free), param.Bytes(sp.Low))
	case sp.Most > 0 && sp.held()+sp.Log > sp.Most:
		return fmt.Errorf("%w (%s of %s)", ErrMaxDisk, param.Bytes(sp.held()+sp.Log), param.Bytes(sp.Most))
	}
	return nil
}

// Space returns the used and available disk space.
func (s *Store) Space(ctx context.Context) (Space, error) {
	return result(ctx, s.view, s.space)
}

func (s *Store) space(tx *transaction) (sp Space) {
	sp.Most = s.MaxDisk
	var err error
	if sp.Free, sp.Total, err = s.Disk(); err != nil { // not supported by the system
		sp.Free, sp.Total = 0, 0
	}
	sp.Low = lowMark(sp.Total)
	if info, err := os.Stat(s.path + "-wal"); err == nil {
		sp.Log = info.Size()
	}
	tx.one(`SELECT page_count * page_size, freelist_count * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)(&sp.Database, &sp.Reusable)
	return sp
}

// Roomy returns ErrLow if the disk has no space for large writes, and ErrMaxDisk if all
// workspaces together hold MaxDisk. It ignores errors of the database itself.
func (s *Store) Roomy(ctx context.Context) error {
	if sp, err := s.Space(ctx); err == nil {
		return sp.full()
	}
	return nil
}

// room returns an error if the disk or the workspace has no room for further data sets and runs.
func (s *Store) room(tx *transaction, ws Workspace, datasets, runs int) {
	tx.fail(s.space(tx).full())
	s.Quota.room(tx, ws, datasets, runs)
	s.checkNewcomer(tx, ws)
}

// checkNewcomer asks Newcomer whether an empty workspace may store something.
func (s *Store) checkNewcomer(tx *transaction, ws Workspace) {
	if s.Newcomer == nil {
		return
	}
	known := value[bool](tx, `SELECT EXISTS (SELECT 1 FROM `+used+` WHERE workspace IN (?1, ?2)) OR EXISTS (SELECT 1 FROM uploads WHERE workspace = ?1)`, ws, trash(ws))
	if tx.err == nil && !known {
		tx.fail(s.Newcomer(ws))
	}
}

// releaseReserve deletes the reserve when the disk is so full that a small write may fail.
func (s *Store) releaseReserve() {
	free, total, err := s.Disk()
	if err == nil && free < reserveSize(total)/2 {
		_ = os.Remove(s.reserve()) // may already be gone
	}
}

// Tend recreates the reserve if there is space, and keeps the write-ahead log short by
// checkpointing it when idle. If the disk is low, it purges the oldest deletion and
// returns the number of items purged.
func (s *Store) Tend(ctx context.Context) (forgotten int, err error) {
	sp, err := s.Space(ctx)
	if err != nil {
		return 0, err
	}
	low := sp.full() != nil
	if low {
		if forgotten, err = s.forgetOldest(ctx); err != nil {
			return forgotten, err
		}
	}
	err = s.keepReserve(sp)
	writes := s.writes.Load()
	idle := writes == s.tendedWrites
	if s.tendedWrites = writes; idle && s.checkpointedWrites != writes || forgotten > 0 || sp.Log > mostLog {
		mode := lists.Either(low || sp.Log > mostLog, "TRUNCATE", "PASSIVE")
		if err := s.checkpoint(ctx, mode); err != nil {
			return forgotten, err
		}
		s.checkpointedWrites = writes
	}
	return forgotten, err
}

// mostLog is the length above which the write-ahead log is truncated.
const mostLog = 64 << 20

// checkpoint moves the contents of the write-ahead log into the database, as far as
// readers allow.
func (s *Store) checkpoint(ctx context.Context, mode string) error {
	_, err := s.write.ExecContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`)
	if err = explain(err); errors.Is(err, ErrBusy) {
		return nil // the next one will
	}
	return err
}

// keepReserve creates the reserve, unless it exists or the disk is low even without it.
func (s *Store) keepReserve(sp Space) error {
	size := reserveSize(sp.Total)
	if _, err := os.Lstat(s.reserve()); err == nil || size == 0 || sp.Free < sp.Low+size {
		return nil
	}
	f, err := os.OpenFile(s.reserve(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fileError(err)
	}
	if err = allocate(f, size); err != nil {
		_, err = io.CopyN(f, rand.Reader, size) // incompressible
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fileError(err), os.Remove(s.reserve()))
	}
	return nil
}

// forgetOldest purges the oldest deletion of any workspace.
func (s *Store) forgetOldest(ctx context.Context) (int, error) {
	return result(ctx, s.update, func(tx *transaction) int {
		var ws string
		var at int64
		if !tx.queryFirst(func(r row) error { return r.Scan(&ws, &at) }, `SELECT workspace, deleted FROM `+inTrash+` ORDER BY deleted, workspace LIMIT 1`) {
			return 0
		}
		return forget(tx, `workspace = ? AND deleted = ?`, ws, at)
	})
}

// Ready returns nil if the store can save: the database exists, is not known to be damaged and
// accepts a write. A database kept busy by others counts as ready. Of several calls in quick
// succession, only one writes.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Ping(ctx); err != nil {
		return err
	}
	s.probing.Lock()
	defer s.probing.Unlock()
	if time.Since(s.probedAt) < readyFor {
		return s.probeErr
	}
	err := s.exec(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, s.now()/1000&0x7fffffff)) // writes a page without user data
	if errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil
	}
	s.probedAt, s.probeErr = time.Now(), err
	return err
}

// readyFor is how long Ready reuses the result of a write.
const readyFor = time.Second

// SweepSpool empties the directory for temporary files in the data directory, creating it if
// necessary, and returns its path. Requiring the lock ensures that the files are left over from
// killed processes.
func (l *Lock) SweepSpool() (dir string, err error) {
	dir = filepath.Join(filepath.Dir(l.flock.Path()), "spool")
	if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fileError(err)
	}
	return dir, fileError(os.Mkdir(dir, 0o700))
}
