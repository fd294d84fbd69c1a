package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Unused workspaces are deleted in two steps: Expire marks them, and a day later Sweep deletes
// those still unused. Both guard against a wrong clock and against deleting too much.
const (
	// clockSlack is how long all workspaces may be unused before the clock is mistrusted: a clock
	// that jumped ahead makes every workspace look unused.
	clockSlack = 30 * 24 * time.Hour

	// copyShare and mostShare are fractions of all workspaces: a deletion of more than the first is
	// preceded by a copy of the database; one of more than the second is refused.
	copyShare, mostShare = 0.1, 0.5

	// keepCopies is how long safety copies are kept.
	keepCopies = 30 * 24 * time.Hour
)

// Unseen lists the workspaces not used since a time and without an open course, longest unused
// first. A course that ended before that time is not open.
func (s *Store) Unseen(ctx context.Context, since time.Time) ([]Holdings, error) {
	return result(ctx, s.view, func(tx *transaction) []Holdings { return holdingsOf(tx, unseen(tx, since)) })
}

// Expire marks the workspaces of Unseen for deletion and returns how many are newly marked. A visit
// removes the mark. Unless force is set, it refuses with an *Error if the clock is far beyond the
// last use of any workspace or if most workspaces would be deleted.
func (s *Store) Expire(ctx context.Context, since time.Time, force bool) (marked int, err error) {
	return result(ctx, s.update, func(tx *transaction) int {
		names := unseen(tx, since)
		if len(names) > 0 && !force {
			s.trustClock(tx)
			if all := countUsed(tx); float64(len(names)) > mostShare*float64(all) {
				tx.fail(retained("%d of %d workspaces look unused since %s, more than half: none was deleted. Check the clock of this machine and --retention. If they are to go, run marginlab purge --older DAYS --yes --force.",
					len(names), all, since.UTC().Format("2 January 2006")))
			}
		}
		for _, ws := range names {
			marked += tx.exec(`
				INSERT INTO workspaces (workspace, seen, expired) SELECT ?1, max(seen), ?2 FROM `+used+` WHERE workspace = ?1
				ON CONFLICT DO UPDATE SET expired = excluded.expired WHERE expired IS NULL OR expired <= seen OR expired > ?2`, ws, s.now())
		}
		return marked
	})
}

// Spare removes all marks of Expire and returns their number.
func (s *Store) Spare(ctx context.Context) (int, error) {
	return result(ctx, s.update, func(tx *transaction) int {
		return tx.exec(`UPDATE workspaces SET expired = NULL WHERE expired IS NOT NULL`)
	})
}

// Sweep deletes the workspaces that were marked UndoFor ago and not used since, with their
// contents, and returns their number. Their submissions to other courses stay. If they are many, it
// first copies the database, and deletes nothing if that fails.
func (s *Store) Sweep(ctx context.Context) (n int, err error) {
	var due []Workspace
	var all int
	err = s.view(ctx, func(tx *transaction) { due, all = expired(tx, s.Now(), ""), countUsed(tx) })
	if err != nil || len(due) == 0 {
		return 0, err
	}
	if float64(len(due)) > copyShare*float64(all) {
		if err := s.copyBefore(ctx, "deletion"); err != nil {
			return 0, fmt.Errorf("%d unused workspaces are not deleted, because copying the database first failed: %w", len(due), err)
		}
	}
	for _, ws := range due { // a transaction each, to keep them short
		err := s.update(ctx, func(tx *transaction) {
			if still := expired(tx, s.Now(), ws); len(still) > 0 {
				n++
				deleteWorkspace(tx, ws)
			}
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// TrustClock returns an error if the clock is so far beyond the last use of any workspace that it
// has probably jumped ahead; age-dependent deletions must then wait.
func (s *Store) TrustClock(ctx context.Context) error {
	return s.view(ctx, func(tx *transaction) { s.trustClock(tx) })
}

func (s *Store) trustClock(tx *transaction) {
	var last time.Time
	tx.one(`SELECT max(seen) FROM ` + used)(asMillis(&last))
	if now := s.Now(); !last.IsZero() && now.Sub(last) > clockSlack {
		tx.fail(retained("The clock of this machine says %s, %d days after any workspace was last used: nothing was deleted. Correct the clock. If it is right, run marginlab purge --older DAYS --yes --force.",
			now.UTC().Format("2 January 2006"), int(now.Sub(last).Hours()/24)))
	}
}

func retained(format string, args ...any) error {
	return &Error{"conflict", fmt.Sprintf(format, args...)}
}

// owned excludes the pseudo-workspaces of galleries and trash from used.
const owned = `workspace NOT LIKE 'course %' AND workspace NOT LIKE 'deleted %'`

func countUsed(tx *transaction) int {
	return value[int](tx, `SELECT count(DISTINCT workspace) FROM `+used+` WHERE `+owned)
}

// noOpenCourse selects workspaces without a course that accepts hand-ins after the time ?1.
const noOpenCourse = `NOT EXISTS (SELECT 1 FROM courses WHERE courses.workspace = used.workspace AND NOT closed AND coalesce(ends > ?1, 1))`

func unseen(tx *transaction, since time.Time) []Workspace {
	return listOf(tx, column[Workspace], `SELECT workspace FROM `+used+` WHERE `+owned+` GROUP BY workspace HAVING max(seen) < ?1 AND `+noOpenCourse+` ORDER BY max(seen), workspace`, since.UnixMilli())
}

// expired lists the workspaces due for deletion, or checks a single one.
func expired(tx *transaction, now time.Time, one Workspace) []Workspace {
	return listOf(tx, column[Workspace], `
		SELECT workspace FROM `+used+` WHERE workspace IN (SELECT workspace FROM workspaces WHERE expired <= ?2 AND ?3 IN ('', workspace)) GROUP BY workspace
		HAVING max(seen) < (SELECT expired FROM workspaces WHERE workspaces.workspace = used.workspace) AND `+noOpenCourse+` ORDER BY workspace`, now.UnixMilli(), now.Add(-UndoFor).UnixMilli(), one)
}

// copyBefore copies the database to a file beside it, named after the upcoming operation, and
// removes the earlier copy of that name.
func (s *Store) copyBefore(ctx context.Context, what string) error {
	file, err := unused(s.path + ".before-" + what + "-" + time.Now().Format("20060102-150405"))
	if err != nil {
		return err
	}
	old := s.copies(what)
	reader, err := openReadOnly(ctx, s.path)
	if err != nil {
		return err
	}
	defer reader.Close()
	if err := reader.copyTo(ctx, file); err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return fileError(err)
		}
	}
	return nil
}

func (s *Store) copies(what string) []string {
	names, _ := filepath.Glob(s.path + ".before-" + what + "-*") // the pattern is valid
	return names
}

// DropCopies removes the copies made before deletions and migrations that are older than
// keepCopies.
func (s *Store) DropCopies(now time.Time) error {
	var errs []error
	for _, name := range append(s.copies("deletion"), s.copies("schema")...) {
		if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > keepCopies {
			if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
