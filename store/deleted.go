package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// UndoFor is how long deleted items can be restored.
const UndoFor = 24 * time.Hour

// Deletion lists the items deleted by one action.
type Deletion struct {
	At                               time.Time // to the millisecond; it names the deletion within its workspace
	Runs, Datasets, Courses, Reports int
	Names                            []string // the first of what they were called
}

// String describes the deleted items: "2 runs".
func (d Deletion) String() string {
	return Holdings{Runs: d.Runs, Datasets: d.Datasets, Courses: d.Courses, Reports: d.Reports}.String()
}

// keptNames is the largest number of names in a Deletion.
const keptNames = 3

// trash returns the pseudo-workspace that holds what a workspace has deleted: no token opens it.
func trash(ws Workspace) Workspace { return "deleted " + ws }

// isGallery tells the workspace of a course's gallery.
func isGallery(ws Workspace) bool { return strings.HasPrefix(string(ws), "course ") }

// deletionTime names a deletion: now, or a moment later where that is taken.
func deletionTime(ctx context.Context, tx *sql.Tx, ws Workspace, now int64) (at int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT max(?2, 1 + coalesce(max(deleted), 0)) FROM (
		SELECT deleted FROM runs WHERE workspace = ?1 UNION ALL SELECT deleted FROM datasets WHERE workspace = ?1 UNION ALL SELECT deleted FROM courses WHERE workspace = ?1
		UNION ALL SELECT deleted FROM reports WHERE workspace = ?1)`,
		trash(ws), now).Scan(&at)
	return at, err
}

// softDelete puts a run, data set, course or report into the trash. key is the name of the column
// that id is in.
func softDelete(ctx context.Context, tx *sql.Tx, table, key string, ws Workspace, id string, at int64) error {
	also := ""
	if table != "courses" { // the same request may come again
		also = `, request = NULL`
	}
	if table == "runs" { // one that has not ended never will
		also += `, finished = coalesce(finished, iif(` + notEnded + `, ?2, NULL)), status = iif(` + notEnded + `, 'cancelled', status)`
	}
	return affected(tx.ExecContext(ctx, `UPDATE `+table+` SET workspace = ?1, deleted = ?2`+also+` WHERE workspace = ?3 AND `+key+` = ?4`, trash(ws), at, ws, id))
}

// Deletions lists what a workspace has deleted and can have back, the latest first.
func (s *Store) Deletions(ctx context.Context, ws Workspace) (list []Deletion, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = listDeletions(ctx, tx, ws, s.Now().Add(-UndoFor))
		return err
	})
	return list, err
}

func listDeletions(ctx context.Context, tx *sql.Tx, ws Workspace, since time.Time) (list []Deletion, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT deleted, kind, name FROM (
			SELECT deleted, 1 AS kind, name, workspace FROM runs UNION ALL SELECT deleted, 2, name, workspace FROM datasets UNION ALL SELECT deleted, 3, title, workspace FROM courses
			UNION ALL SELECT deleted, 4, title, workspace FROM reports)
		WHERE workspace = ? AND deleted > ? ORDER BY deleted DESC, kind DESC, name`, trash(ws), since.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var at int64
		var kind int
		var name string
		if err := rows.Scan(&at, &kind, &name); err != nil {
			return nil, err
		}
		if len(list) == 0 || list[len(list)-1].At.UnixMilli() != at {
			list = append(list, Deletion{At: fromMillis(at)})
		}
		d := &list[len(list)-1]
		*[]*int{&d.Runs, &d.Datasets, &d.Courses, &d.Reports}[kind-1]++
		if len(d.Names) < keptNames {
			d.Names = append(d.Names, name)
		}
	}
	return list, rows.Err()
}

// Restore brings back what a workspace has deleted at a moment. Runs that had not ended
// are cancelled ones. Errors: ErrNotFound when that is UndoFor ago or never was, or those of
// the quota and of MaxReports.
func (s *Store) Restore(ctx context.Context, ws Workspace, at time.Time) (d Deletion, err error) {
	err = s.update(ctx, func(tx *sql.Tx) error {
		list, err := listDeletions(ctx, tx, ws, s.Now().Add(-UndoFor))
		if err != nil {
			return err
		}
		for _, d = range list {
			if d.At.Equal(at) {
				if err := s.Quota.room(ctx, tx, ws, d.Datasets, d.Runs); err != nil {
					return err
				}
				if err := roomForReports(ctx, tx, ws, d.Reports); err != nil {
					return err
				}
				for _, table := range []string{"runs", "datasets", "courses", "reports"} {
					if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET workspace = ?, deleted = NULL WHERE workspace = ? AND deleted = ?`, ws, trash(ws), at.UnixMilli()); err != nil {
						return err
					}
				}
				return nil
			}
		}
		return ErrNotFound
	})
	if err != nil {
		return Deletion{}, err
	}
	return d, nil
}

// Forget deletes for good what was deleted before a moment, and tells how many things that
// were.
func (s *Store) Forget(ctx context.Context, before time.Time) (n int, err error) {
	err = s.update(ctx, func(tx *sql.Tx) error {
		n, err = forget(ctx, tx, `deleted < ?`, before.UnixMilli())
		return err
	})
	return n, err
}

// forget deletes for good what of the deleted meets a condition.
func forget(ctx context.Context, tx *sql.Tx, where string, args ...any) (n int, err error) {
	codes, err := texts(ctx, tx, `SELECT code FROM courses WHERE `+where, args...)
	if err != nil {
		return 0, err
	}
	for _, code := range codes {
		c, err := scanCourse(tx.QueryRowContext(ctx, `SELECT `+courseColumns+` FROM courses WHERE code = ?`, code))
		if err != nil {
			return n, err
		}
		if err := deleteCourse(ctx, tx, c); err != nil {
			return n, err
		}
	}
	n, err = affectedRows(tx.ExecContext(ctx, `DELETE FROM reports WHERE `+where, args...))
	if err != nil {
		return n, err
	}
	n += len(codes)
	for _, table := range []string{"runs", "datasets"} {
		hashes, err := texts(ctx, tx, `DELETE FROM `+table+` WHERE `+where+` RETURNING hash`, args...)
		if err != nil {
			return n, err
		}
		n += len(hashes)
		seen := map[string]bool{}
		for _, hash := range hashes {
			if seen[hash] {
				continue
			}
			seen[hash] = true
			if err := dropPoints(ctx, tx, hash); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}
