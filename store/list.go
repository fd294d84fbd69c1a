package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/param"
)

// Filter says which runs to list, in which order. The zero Filter lists all, the oldest
// first.
type Filter struct {
	Where Query

	Sort   string // name of a field; empty or unknown: created
	Desc   bool
	Fair   bool // of equal ones the earliest comes first, also where Desc is set
	Limit  int  // 0: all
	Offset int
}

// sortExpression returns the SQL expression a list is sorted by. Runs without the value come last in either
// direction, so that one that held nothing out is never taken for better or worse than one
// that did.
func sortExpression(name string) string {
	f, ok := LookupField(name)
	switch {
	case !ok:
		return "created"
	case f.Kind == TextField || f.Kind == ListField:
		return f.expr + " COLLATE NOCASE"
	}
	return f.expr
}

// Runs lists the runs of a workspace without their models, and says how many
// match f over all pages.
func (s *Store) Runs(ctx context.Context, ws Workspace, f Filter) (list []Run, total int, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, total, err = listRuns(ctx, tx, ws, f)
		return err
	})
	return list, total, err
}

// Tags lists the tags in use in a workspace.
func (s *Store) Tags(ctx context.Context, ws Workspace) (tags []string, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		tags, err = listTags(ctx, tx, ws)
		return err
	})
	return tags, err
}

func listRuns(ctx context.Context, tx *sql.Tx, ws Workspace, f Filter) (list []Run, total int, err error) {
	where, args := f.where(ws)
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM runs WHERE `+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	// Only the sort keys are carried through the sorting, not whole reports.
	list, err = scanRuns(tx.QueryContext(ctx, `SELECT `+runColumns+` FROM runs WHERE rowid IN (SELECT rowid FROM runs WHERE `+where+f.order()+` LIMIT ? OFFSET ?)`+f.order(), append(args, limit, max(f.Offset, 0))...))
	return list, total, err
}

func scanRuns(rows *sql.Rows, err error) (list []Run, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// order is the clause by which a list is sorted.
func (f Filter) order() string {
	key, dir, ties := sortExpression(f.Sort), "ASC", "ASC"
	if f.Desc {
		dir = "DESC"
		if !f.Fair {
			ties = "DESC"
		}
	}
	return ` ORDER BY ` + key + ` IS NULL, ` + key + ` ` + dir + `, created ` + ties + `, rowid ` + ties
}

// EachRun calls each with the runs that match f, one after the other, without their models. It
// holds a few of them in memory at a time, and no lock while each works: runs that are
// deleted meanwhile are left out.
func (s *Store) EachRun(ctx context.Context, ws Workspace, f Filter, each func(Run) error) error {
	var ids []string
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		where, args := f.where(ws)
		ids, err = texts(ctx, tx, `SELECT id FROM runs WHERE `+where+f.order(), args...)
		return err
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(ids, 100) {
		var runs []Run
		err := s.view(ctx, func(tx *sql.Tx) (err error) {
			runs, err = scanRuns(tx.QueryContext(ctx, `SELECT `+runColumns+` FROM runs WHERE workspace = ? AND id IN (SELECT value FROM json_each(?))`, ws, asJSON(&part)))
			return err
		})
		if err != nil {
			return err
		}
		place := make(map[string]int, len(part))
		for i, id := range part {
			place[id] = i
		}
		slices.SortFunc(runs, func(a, b Run) int { return place[a.ID] - place[b.ID] })
		for _, r := range runs {
			if err := each(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f Filter) where(ws Workspace) (string, []any) {
	if f.Where.where == "" {
		return `workspace = ?`, []any{ws}
	}
	return `workspace = ? AND ` + f.Where.where, append([]any{ws}, f.Where.args...)
}

// Group is the runs that have the same value in a field.
type Group struct {
	Value string
	None  bool // these have no value
	Runs  int
	Best  *float64 // of the field that tells which run is best; nil: no run has it
	Run   string   // id of the best run, empty where Best is nil
	Name  string   // of that run
}

// MaxGroups is the largest number of groups that Groups lists.
const MaxGroups = 200

// Groups lists the groups that the runs of a query fall into by a field, the first MaxGroups
// by value, each with its best run by another field, a number. Moments are grouped by the
// day; a run with several tags is in the group of each.
func (s *Store) Groups(ctx context.Context, ws Workspace, q Query, by, best Field) (list []Group, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		list, err = listGroups(ctx, tx, ws, q, by, best)
		return err
	})
	return list, err
}

func listGroups(ctx context.Context, tx *sql.Tx, ws Workspace, q Query, by, best Field) (list []Group, err error) {
	where, args := Filter{Where: q}.where(ws)
	value, order := by.expr, "value"
	if by.Kind == TimeField {
		value = "date(" + by.expr + " / 1000, 'unixepoch')"
	}
	from := "(SELECT id, name, " + value + " AS value, " + best.expr + " AS best FROM runs WHERE " + where + ")"
	if by.Kind == ListField {
		from = "(SELECT r.id, r.name, j.value AS value, r.best FROM " + from + " AS r LEFT JOIN json_each(r.value) AS j)"
	}
	if by.Kind == TextField || by.Kind == ListField {
		order += " COLLATE NOCASE"
	}
	top := "max" // the columns beside it come from its row
	if best.Better < 0 {
		top = "min"
	}
	rows, err := tx.QueryContext(ctx, "SELECT value, count(*), "+top+"(best), id, name FROM "+from+" GROUP BY value ORDER BY value IS NULL, "+order+" LIMIT ?", append(args, MaxGroups)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var g Group
		var value any
		if err := rows.Scan(&value, &g.Runs, &g.Best, &g.Run, &g.Name); err != nil {
			return nil, err
		}
		switch v := value.(type) {
		case nil:
			g.None = true
		case float64:
			g.Value = strconv.FormatFloat(v, 'g', -1, 64)
		default:
			g.Value = fmt.Sprint(v)
		}
		if g.Best == nil {
			g.Run, g.Name = "", ""
		}
		list = append(list, g)
	}
	return list, rows.Err()
}

func listTags(ctx context.Context, tx *sql.Tx, ws Workspace) (tags []string, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT DISTINCT value FROM runs, json_each(runs.tags) WHERE workspace = ? ORDER BY value COLLATE NOCASE`, ws)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		tags = append(tags, t)
	}
	return tags, rows.Err()
}

// Columns are the names of the fields that a workspace keeps as the columns of its list of
// runs; none: it never chose any.
func (s *Store) Columns(ctx context.Context, ws Workspace) (names []string, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		kept, err := texts(ctx, tx, `SELECT columns FROM workspaces WHERE workspace = ? AND columns != ''`, ws)
		if len(kept) > 0 {
			names = strings.Split(kept[0], ",")
		}
		return err
	})
	return names, err
}

// KeepColumns keeps the columns that Columns tells.
func (s *Store) KeepColumns(ctx context.Context, ws Workspace, names []string) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO workspaces (workspace, seen, columns) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET columns = excluded.columns`,
			ws, s.now(), strings.Join(names, ","))
		return err
	})
}

// Chosen are the ids of the runs of a query, the oldest first.
func (s *Store) Chosen(ctx context.Context, ws Workspace, q Query) (ids []string, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		where, args := Filter{Where: q}.where(ws)
		ids, err = texts(ctx, tx, `SELECT id FROM runs WHERE `+where+` ORDER BY created, rowid`, args...)
		return err
	})
	return ids, err
}

// Matching lists those of some runs, of whatever workspace, that a query finds. They are
// named by their ids or the tokens of their read-only links.
func (s *Store) Matching(ctx context.Context, ids []string, q Query) (found []string, err error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	where := cmp.Or(q.where, `true`)
	err = s.view(ctx, func(tx *sql.Tx) error {
		for _, key := range []string{"id", "share"} {
			some, err := texts(ctx, tx, `SELECT `+key+` FROM runs WHERE `+where+` AND deleted IS NULL AND `+key+` IN (SELECT value FROM json_each(?))`, append(slices.Clone(q.args), string(list))...)
			if err != nil {
				return err
			}
			found = append(found, some...)
		}
		return nil
	})
	return found, err
}

// TagRuns adds tags to several runs and takes others off, or changes none if one of the runs
// is not there. Errors: param.Problems for tags that are none.
func (s *Store) TagRuns(ctx context.Context, ws Workspace, ids, add, remove []string) error {
	var ps param.Problems
	add, remove = cleanTags(&ps, add), cleanTags(&ps, remove)
	if err := ps.Err(); err != nil {
		return err
	}
	return s.update(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			r, err := findRun(ctx, tx, `workspace = ? AND id = ?`, ws, id)
			if err != nil {
				return fmt.Errorf("run %s: %w", id, err)
			}
			tags := slices.DeleteFunc(r.Tags, func(t string) bool { return slices.Contains(remove, t) || slices.Contains(add, t) })
			if tags = cleanTags(&ps, append(tags, add...)); len(ps) > 0 {
				return ps
			}
			if _, err := tx.ExecContext(ctx, `UPDATE runs SET tags = ? WHERE id = ?`, asJSON(&tags), id); err != nil {
				return err
			}
		}
		return nil
	})
}
