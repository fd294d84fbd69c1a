package store

import (
	"context"
	"database/sql"
	"strings"

	"marginlab/ml"
)

// Filter says which runs to list, in which order. Empty fields do not filter.
type Filter struct {
	Query     string // part of the name, the data set's name, the note or a tag; ASCII letters in either case
	Learner   string
	Kernel    string
	Conformal string
	Rule      ml.Rule // of finished runs
	Status    Status
	Tag       string
	Dataset   string // id

	Sort   string // one of SortKeys; empty or unknown: created
	Desc   bool   // for created, too: the zero Filter lists the oldest first
	Limit  int    // 0: all
	Offset int
}

// SortKeys are the values of Filter.Sort. "accuracy" is on held-out points. Runs without
// the value come last in either direction, so that one that held nothing out is never
// taken for better or worse than one that did.
var SortKeys = []string{"created", "name", "dataset", "learner", "kernel", "conformal", "C", "accuracy", "train_accuracy", "support_vectors"}

func sortExpression(key string) string {
	switch key {
	case "name":
		return "name COLLATE NOCASE"
	case "dataset":
		return "dataset_name COLLATE NOCASE"
	case "learner", "kernel", "conformal", "C", "train_accuracy", "support_vectors":
		return key
	case "accuracy":
		return "test_accuracy"
	}
	return "created"
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
	key, dir := sortExpression(f.Sort), "ASC"
	if f.Desc {
		dir = "DESC"
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+runColumns+` FROM runs WHERE `+where+
		` ORDER BY `+key+` IS NULL, `+key+` `+dir+`, created `+dir+`, rowid `+dir+` LIMIT ? OFFSET ?`, append(args, limit, max(f.Offset, 0))...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, r)
	}
	return list, total, rows.Err()
}

func (f Filter) where(ws Workspace) (string, []any) {
	terms, args := []string{`workspace = ?`}, []any{ws}
	equal := func(column, v string) {
		if v != "" {
			terms, args = append(terms, column+` = ?`), append(args, v)
		}
	}
	equal("learner", f.Learner)
	equal("kernel", f.Kernel)
	equal("conformal", f.Conformal)
	equal("rule", string(f.Rule))
	equal("status", string(f.Status))
	equal("dataset", f.Dataset)
	if f.Tag != "" {
		terms, args = append(terms, `EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)`), append(args, f.Tag)
	}
	if q := strings.TrimSpace(f.Query); q != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(q) + "%"
		terms = append(terms, `(name LIKE ? ESCAPE '\' OR dataset_name LIKE ? ESCAPE '\' OR note LIKE ? ESCAPE '\'
			OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value LIKE ? ESCAPE '\'))`)
		args = append(args, like, like, like, like)
	}
	return strings.Join(terms, ` AND `), args
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
