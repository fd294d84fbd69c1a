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

// Unused workspaces are deleted in two steps. Expire marks them; a day later Sweep deletes those
// that nobody has used meanwhile. Both mistrust the clock and themselves.
const (
	// clockSlack is how long a lab may stand still before its clock is mistrusted: a clock that
	// jumped ahead makes every workspace look unused.
	clockSlack = 30 * 24 * time.Hour

	// copyShare and mostShare are parts of all workspaces: a deletion of more than the first is
	// preceded by a copy of the database, and one of more than the second is refused.
	copyShare, mostShare = 0.1, 0.5

	// keepCopies is how long copies are kept that were made before something risky.
	keepCopies = 30 * 24 * time.Hour
)

// Unseen lists the workspaces that nobody has used since a moment and that have no
// open course, the longest unseen first. One that ended before that moment is not open.
func (s *Store) Unseen(ctx context.Context, since time.Time) ([]Holdings, error) {
	return result(ctx, s.view, func(tx *transaction) ([]Holdings, error) {
		names, err := unseen(tx, since)
		if err != nil {
			return nil, err
		}
		return holdingsOf(tx, names)
	})
}

// Expire marks for deletion what Unseen lists, and returns how many workspaces are newly marked.
// A visit takes the mark away. Unless force is set it refuses, with a *Error that says what to
// do, when the clock is far beyond the last use of any workspace or when most workspaces would go.
func (s *Store) Expire(ctx context.Context, since time.Time, force bool) (marked int, err error) {
	return result(ctx, s.update, func(tx *transaction) (int, error) {
		names, err := unseen(tx, since)
		if err != nil || len(names) == 0 {
			return 0, err
		}
		if !force {
			if err := s.trustClock(tx); err != nil {
				return 0, err
			}
			all, err := countUsed(tx)
			if err != nil {
				return 0, err
			}
			if float64(len(names)) > mostShare*float64(all) {
				return 0, retained("%d of %d workspaces look unused since %s, more than half: none was deleted. Check the clock of this machine and --retention. If they are to go, run marginlab purge --older DAYS --yes --force.",
					len(names), all, since.UTC().Format("2 January 2006"))
			}
		}
		for _, ws := range names {
			n, err := tx.execCount(`
				INSERT INTO workspaces (workspace, seen, expired) SELECT ?1, max(seen), ?2 FROM `+used+` WHERE workspace = ?1
				ON CONFLICT DO UPDATE SET expired = excluded.expired WHERE expired IS NULL OR expired <= seen OR expired > ?2`, ws, s.now())
			if err != nil {
				return 0, err
			}
			marked += n
		}
		return marked, nil
	})
}

// Spare takes away all marks of Expire and returns how many there were.
func (s *Store) Spare(ctx context.Context) (int, error) {
	return result(ctx, s.update, func(tx *transaction) (int, error) {
		return tx.execCount(`UPDATE workspaces SET expired = NULL WHERE expired IS NOT NULL`)
	})
}

// Sweep deletes the workspaces that were marked UndoFor ago and not used since, with all they
// hold, and returns how many those were. What was handed in to courses of others stays there.
// Where they are many it first copies the database to a file beside it, and deletes
// nothing when that fails.
func (s *Store) Sweep(ctx context.Context) (n int, err error) {
	var due []Workspace
	var all int
	err = s.view(ctx, func(tx *transaction) error {
		if due, err = expired(tx, s.Now(), ""); err != nil || len(due) == 0 {
			return err
		}
		all, err = countUsed(tx)
		return err
	})
	if err != nil || len(due) == 0 {
		return 0, err
	}
	if float64(len(due)) > copyShare*float64(all) {
		if _, err := s.copyBefore(ctx, "deletion"); err != nil {
			return 0, fmt.Errorf("%d unused workspaces are not deleted, because the copy of the database that is made before failed: %w", len(due), err)
		}
	}
	for _, ws := range due { // a transaction each: nobody waits for all of them
		err := s.update(ctx, func(tx *transaction) error {
			still, err := expired(tx, s.Now(), ws)
			if err != nil || len(still) == 0 {
				return err
			}
			n++
			return deleteWorkspace(tx, ws)
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// TrustClock is an error when the clock is so far beyond the last use of any workspace that it
// has probably jumped ahead: what depends on age must wait then.
func (s *Store) TrustClock(ctx context.Context) error {
	return s.view(ctx, func(tx *transaction) error { return s.trustClock(tx) })
}

func (s *Store) trustClock(tx *transaction) error {
	var last time.Time
	if err := tx.one(`SELECT max(seen) FROM ` + used).Scan(asMillis(&last)); err != nil || last.IsZero() {
		return err
	}
	if now := s.Now(); now.Sub(last) > clockSlack {
		return retained("The clock of this machine says %s, %d days after any workspace was last used: nothing was deleted. Correct the clock. If it is right, run marginlab purge --older DAYS --yes --force.",
			now.UTC().Format("2 January 2006"), int(now.Sub(last).Hours()/24))
	}
	return nil
}

func retained(format string, args ...any) error {
	return &Error{"conflict", fmt.Sprintf(format, args...)}
}

// owned leaves out of used the galleries of courses and the bins.
const owned = `workspace NOT LIKE 'course %' AND workspace NOT LIKE 'deleted %'`

func countUsed(tx *transaction) (int, error) {
	return value[int](tx, `SELECT count(DISTINCT workspace) FROM `+used+` WHERE `+owned)
}

// noOpenCourse selects workspaces without a course that takes hand-ins after a moment, ?1.
const noOpenCourse = `NOT EXISTS (SELECT 1 FROM courses WHERE courses.workspace = used.workspace AND NOT closed AND coalesce(ends > ?1, 1))`

func unseen(tx *transaction, since time.Time) ([]Workspace, error) {
	return listOf(tx, column[Workspace], `SELECT workspace FROM `+used+` WHERE `+owned+` GROUP BY workspace HAVING max(seen) < ?1 AND `+noOpenCourse+` ORDER BY max(seen), workspace`, since.UnixMilli())
}

// expired lists the workspaces that are to be deleted now, or only one of them.
func expired(tx *transaction, now time.Time, one Workspace) ([]Workspace, error) {
	return listOf(tx, column[Workspace], `
		SELECT workspace FROM `+used+` WHERE workspace IN (SELECT workspace FROM workspaces WHERE expired <= ?2 AND ?3 IN ('', workspace)) GROUP BY workspace
		HAVING max(seen) < (SELECT expired FROM workspaces WHERE workspaces.workspace = used.workspace) AND `+noOpenCourse+` ORDER BY workspace`, now.UnixMilli(), now.Add(-UndoFor).UnixMilli(), one)
}

// copyBefore copies the database to a file beside it, named after the upcoming operation, and
// removes the earlier copy of that name.
func (s *Store) copyBefore(ctx context.Context, what string) (file string, err error) {
	if file, err = unused(s.path + ".before-" + what + "-" + time.Now().Format("20060102-150405")); err != nil {
		return "", err
	}
	old := s.copies(what)
	reader, err := look(ctx, s.path)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	if err := reader.copyTo(ctx, file); err != nil {
		return "", err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return file, ofFiles(err)
		}
	}
	return file, nil
}

func (s *Store) copies(what string) []string {
	names, _ := filepath.Glob(s.path + ".before-" + what + "-*") // the pattern is a good one
	return names
}

// DropCopies removes copies that were made before a deletion or a migration, once they are old.
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
