package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

// UndoFor is how long deleted items can be restored.
const UndoFor = 24 * time.Hour

// Deletion lists the items deleted by one action.
type Deletion struct {
	At                               time.Time // to the millisecond; identifies the deletion within its workspace
	Runs, Datasets, Courses, Reports int
	Names                            []string // names of the first items
}

// String describes the deleted items: "2 runs".
func (d Deletion) String() string {
	return Holdings{Runs: d.Runs, Datasets: d.Datasets, Courses: d.Courses, Reports: d.Reports}.String()
}

// keptNames is the largest number of names in a Deletion.
const keptNames = 3

// trash returns the pseudo-workspace that holds what a workspace has deleted: no token opens it.
func trash(ws Workspace) Workspace { return "deleted " + ws }

// inTrash selects everything that can be restored; kind is the index of its counter in a Deletion,
// from 1.
const inTrash = `(SELECT workspace, deleted, 1 AS kind, name FROM runs WHERE deleted IS NOT NULL
	UNION ALL SELECT workspace, deleted, 2, name FROM datasets WHERE deleted IS NOT NULL
	UNION ALL SELECT workspace, deleted, 3, title FROM courses WHERE deleted IS NOT NULL
	UNION ALL SELECT workspace, deleted, 4, title FROM reports WHERE deleted IS NOT NULL)`

// softDelete moves runs, data sets, courses or reports of a workspace to the trash as one
// deletion. key is the name of the id column.
func (s *Store) softDelete(tx *transaction, table, key string, ws Workspace, ids ...string) {
	// The time identifies the deletion: now, or a little later if that is taken.
	at := value[int64](tx, `SELECT max(?2, 1 + coalesce(max(deleted), 0)) FROM `+inTrash+` WHERE workspace = ?1`, trash(ws), s.now())
	also := ""
	if table != "courses" { // allow the same request again
		also = `, request = NULL`
	}
	if table == "runs" { // cancel unfinished ones
		also += `, finished = coalesce(finished, iif(` + notEnded + `, ?2, NULL)), status = iif(` + notEnded + `, 'cancelled', status)`
	}
	for _, id := range ids {
		tx.annotate(strings.TrimSuffix(table, "s")+" "+id, func() {
			tx.execFound(`UPDATE `+table+` SET workspace = ?1, deleted = ?2`+also+` WHERE workspace = ?3 AND `+key+` = ?4`, trash(ws), at, ws, id)
		})
	}
	s.Quota.trimTrash(tx, ws, 1)
}

// Deletions lists the deletions that a workspace can undo, latest first.
func (s *Store) Deletions(ctx context.Context, ws Workspace) ([]Deletion, error) {
	return result(ctx, s.view, func(tx *transaction) []Deletion { return listDeletions(tx, ws, s.Now().Add(-UndoFor)) })
}

func listDeletions(tx *transaction, ws Workspace, since time.Time) (list []Deletion) {
	tx.each(func(r row) error {
		var at int64
		var kind int
		var name string
		if err := r.Scan(&at, &kind, &name); err != nil {
			return err
		}
		if len(list) == 0 || list[len(list)-1].At.UnixMilli() != at {
			list = append(list, Deletion{At: fromMillis(at)})
		}
		d := &list[len(list)-1]
		*[]*int{&d.Runs, &d.Datasets, &d.Courses, &d.Reports}[kind-1]++
		if len(d.Names) < keptNames {
			d.Names = append(d.Names, name)
		}
		return nil
	}, `SELECT deleted, kind, name FROM `+inTrash+` WHERE workspace = ? AND deleted > ? ORDER BY deleted DESC, kind DESC, name`, trash(ws), since.UnixMilli())
	return list
}

// Restore undoes the deletion of a workspace at a time. Unfinished runs come back cancelled.
// Errors: ErrNotFound if there was none within UndoFor, those of the quota and of MaxReports.
func (s *Store) Restore(ctx context.Context, ws Workspace, at time.Time) (Deletion, error) {
	return result(ctx, s.update, func(tx *transaction) Deletion {
		list := listDeletions(tx, ws, s.Now().Add(-UndoFor))
		d := first(tx, slices.DeleteFunc(list, func(d Deletion) bool { return !d.At.Equal(at) }))
		s.Quota.room(tx, ws, d.Datasets, d.Runs)
		roomForReports(tx, ws, d.Reports)
		for _, table := range []string{"runs", "datasets", "courses", "reports"} {
			tx.exec(`UPDATE `+table+` SET workspace = ?, deleted = NULL WHERE workspace = ? AND deleted = ?`, ws, trash(ws), at.UnixMilli())
		}
		return d
	})
}

// Forget purges items deleted before a time and returns their number.
func (s *Store) Forget(ctx context.Context, before time.Time) (int, error) {
	return result(ctx, s.update, func(tx *transaction) int { return forget(tx, `deleted < ?`, before.UnixMilli()) })
}

// forget purges the deleted items that meet a condition.
func forget(tx *transaction, where string, args ...any) int {
	n := deleteCourses(tx, where, args...) + tx.exec(`DELETE FROM reports WHERE `+where, args...)
	for _, table := range []string{"runs", "datasets"} {
		hashes := texts(tx, `DELETE FROM `+table+` WHERE `+where+` RETURNING hash`, args...)
		n += len(hashes)
		slices.Sort(hashes)
		dropPoints(tx, slices.Compact(hashes)...)
	}
	return n
}
