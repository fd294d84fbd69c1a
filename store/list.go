package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/param"
)

// Filter selects and orders runs. The zero Filter selects all, oldest first.
type Filter struct {
	Where Query

	Sort   string // name of a field; empty or unknown: created
	Desc   bool
	Fair   bool // ties are ordered oldest first even if Desc is set
	Limit  int  // 0: all
	Offset int
}

// sortExpression returns the SQL expression a list is sorted by. Runs without the value come last
// in either direction, so that they are never ranked as best or worst.
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

// Runs lists the runs of a workspace without their models, and returns the number that
// match f over all pages.
func (s *Store) Runs(ctx context.Context, ws Workspace, f Filter) (list []Run, total int, err error) {
	where, args := f.where(ws)
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	return counted(ctx, s, func(tx *transaction) []Run {
		// Only the sort keys are carried through the sorting, not whole reports.
		return listOf(tx, scanRun, `SELECT `+runColumns+` FROM runs WHERE rowid IN (SELECT rowid FROM runs WHERE `+where+f.order()+` LIMIT ? OFFSET ?)`+f.order(), append(args, limit, max(f.Offset, 0))...)
	}, `runs WHERE `+where, args...)
}

// Tags lists the tags in use in a workspace.
func (s *Store) Tags(ctx context.Context, ws Workspace) ([]string, error) {
	return listed(ctx, s, column[string], `SELECT DISTINCT value FROM runs, json_each(runs.tags) WHERE workspace = ? ORDER BY value COLLATE NOCASE`, ws)
}

// order returns the ORDER BY clause of a list.
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

// EachRun calls each with the runs that match f, one by one, without their models. It holds a few
// in memory at a time and no lock during calls: runs deleted meanwhile are skipped.
func (s *Store) EachRun(ctx context.Context, ws Workspace, f Filter, each func(Run) error) error {
	ids, err := s.runIDs(ctx, ws, f)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(ids, 100) {
		runs, err := listed(ctx, s, scanRun, `SELECT `+runColumns+` FROM runs WHERE workspace = ? AND id IN (SELECT value FROM json_each(?))`, ws, asJSON(&part))
		if err != nil {
			return err
		}
		slices.SortFunc(runs, func(a, b Run) int { return slices.Index(part, a.ID) - slices.Index(part, b.ID) })
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

// Group holds the runs with the same value of a field.
type Group struct {
	Value string
	None  bool // the runs without a value
	Runs  int
	Best  *float64 // best value of the ranking field; nil if no run has one
	Run   string   // id of the best run; empty if Best is nil
	Name  string   // name of that run
}

// MaxGroups is the largest number of groups that Groups lists.
const MaxGroups = 200

// Groups groups the runs of a query by a field and lists the first MaxGroups groups by value, each
// with its best run by another, numeric field. Times are grouped by day; a run with several tags
// belongs to a group for each.
func (s *Store) Groups(ctx context.Context, ws Workspace, q Query, by, best Field) ([]Group, error) {
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
	top := "max" // SQLite takes bare columns from the row with the maximum or minimum
	if best.Better < 0 {
		top = "min"
	}
	return listed(ctx, s, func(r row, g *Group) error {
		var value any
		if err := r.Scan(&value, &g.Runs, &g.Best, &g.Run, &g.Name); err != nil {
			return err
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
		return nil
	}, "SELECT value, count(*), "+top+"(best), id, name FROM "+from+" GROUP BY value ORDER BY value IS NULL, "+order+" LIMIT ?", append(args, MaxGroups)...)
}

// Columns returns the fields chosen as columns of a workspace's run list, none if never chosen.
func (s *Store) Columns(ctx context.Context, ws Workspace) ([]string, error) {
	return result(ctx, s.view, func(tx *transaction) []string {
		kept, ok := lookup(tx, column[string], `SELECT columns FROM workspaces WHERE workspace = ? AND columns != ''`, ws)
		if !ok {
			return nil
		}
		return strings.Split(kept, ",")
	})
}

// KeepColumns stores the columns returned by Columns.
func (s *Store) KeepColumns(ctx context.Context, ws Workspace, names []string) error {
	return s.exec(ctx, `INSERT INTO workspaces (workspace, seen, columns) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET columns = excluded.columns`, ws, s.now(), strings.Join(names, ","))
}

// RunsWhere returns the ids of all runs that match a query. Errors in it are param.Problems for the
// field "where".
func (s *Store) RunsWhere(ctx context.Context, ws Workspace, query string) ([]string, error) {
	q, err := ParseQuery(query)
	if err != nil {
		return nil, param.Problems{{Field: "where", Message: err.Error()}}
	}
	return s.runIDs(ctx, ws, Filter{Where: q})
}

// runIDs returns the ids of all runs that match a filter, ignoring its limit.
func (s *Store) runIDs(ctx context.Context, ws Workspace, f Filter) ([]string, error) {
	where, args := f.where(ws)
	return listed(ctx, s, column[string], `SELECT id FROM runs WHERE `+where+f.order(), args...)
}

// Matching returns those of the given runs, of any workspace, that match a query. ids are run ids
// or the tokens of read-only links.
func (s *Store) Matching(ctx context.Context, ids []string, q Query) ([]string, error) {
	where := cmp.Or(q.where, `true`)
	return result(ctx, s.view, func(tx *transaction) (found []string) {
		for _, key := range []string{"id", "share"} {
			found = append(found, texts(tx, `SELECT `+key+` FROM runs WHERE `+where+` AND deleted IS NULL AND `+key+` IN (SELECT value FROM json_each(?))`, append(slices.Clone(q.args), asJSON(&ids))...)...)
		}
		return found
	})
}

// TagRuns adds and removes tags of several runs, or changes none if one of the runs does not
// exist. It returns param.Problems for invalid tags.
func (s *Store) TagRuns(ctx context.Context, ws Workspace, ids, add, remove []string) error {
	var ps param.Problems
	add, remove = cleanTags(&ps, add), cleanTags(&ps, remove)
	if err := ps.Err(); err != nil {
		return err
	}
	return s.update(ctx, func(tx *transaction) {
		for _, id := range ids {
			var r Run
			tx.annotate("run "+id, func() { r = findRun(tx, `workspace = ? AND id = ?`, ws, id) })
			tags := slices.DeleteFunc(r.Tags, func(t string) bool { return slices.Contains(remove, t) || slices.Contains(add, t) })
			tags = cleanTags(&ps, append(tags, add...))
			tx.fail(ps.Err())
			tx.exec(`UPDATE runs SET tags = ? WHERE id = ?`, asJSON(&tags), id)
		}
	})
}
