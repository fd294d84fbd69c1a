package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Check reads a whole database, in a data directory or a copy of it, and returns
// the damage, one line each: it checks that pages, indexes and references agree, and
// that every point set, data set, run, model, search and course can be read. It changes
// nothing, and servers may run meanwhile. The error is for a database that cannot be
// checked at all.
func Check(ctx context.Context, path string) (damage []string, have Contents, err error) {
	s, err := look(ctx, path)
	if err != nil {
		return nil, have, fmt.Errorf("database %s: %w", path, err)
	}
	defer s.Close()
	if damage, err = s.structure(ctx); err != nil {
		return nil, have, err
	}
	v, err := version(ctx, s.read)
	if err != nil {
		return nil, have, err
	}
	if v < known() && len(damage) == 0 {
		return s.checkCopy(ctx)
	}
	for _, c := range checks {
		faults, err := s.faults(ctx, c)
		if err != nil {
			return nil, have, err
		}
		damage = append(damage, faults...)
	}
	if len(damage) == 0 {
		have, err = contentsOf(ctx, path)
	}
	logs, _ := filepath.Glob(path + "-wal" + damagedLog + "*") // the pattern is a good one
	for _, name := range logs {
		damage = append(damage, fmt.Sprintf("log: transactions were dropped from a damaged write-ahead log, and what was saved last before may be missing; the log is in %s. Delete that file, or restore a backup, once you have looked.", name))
	}
	return damage, have, err
}

// checkCopy is Check for a database of an earlier version, by a copy of it that is brought
// up to date.
func (s *Store) checkCopy(ctx context.Context) (damage []string, have Contents, err error) {
	dir, err := os.MkdirTemp("", "marginlab-")
	if err != nil {
		return nil, have, err
	}
	defer os.RemoveAll(dir)
	if err := s.copyTo(ctx, DatabaseIn(dir)); err != nil {
		return nil, have, err
	}
	upToDate, err := Open(ctx, dir)
	if err != nil {
		return nil, have, err
	}
	if err := upToDate.Close(); err != nil {
		return nil, have, err
	}
	return Check(ctx, DatabaseIn(dir))
}

// Inspect looks for damaged pages, indexes and references, which otherwise show only where
// something is read. Once it has found some, Ping tells as well.
func (s *Store) Inspect(ctx context.Context) error {
	faults, err := s.structure(ctx)
	if err == nil && len(faults) > 0 {
		s.damaged.Store(true)
		err = fmt.Errorf("%w (%s)", ErrDamaged, strings.Join(faults, "; "))
	}
	return err
}

// structure asks SQLite for faults of pages, indexes and references.
func (s *Store) structure(ctx context.Context) (faults []string, err error) {
	pages, err := s.lines(ctx, `PRAGMA integrity_check(20)`)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		if p != "ok" {
			faults = append(faults, strings.TrimSpace(strings.TrimPrefix(p, "*** in database main ***\n")))
		}
	}
	references, err := s.lines(ctx, `SELECT 'row ' || rowid || ' of ' || "table" || ' refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check LIMIT 20`)
	return append(faults, references...), err
}

// lines is the one column of a query. Where a damaged page ends it, the last line says
// so.
func (s *Store) lines(ctx context.Context, query string, args ...any) (list []string, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		list, err = texts(tx, query, args...)
		return err
	})
	if errors.Is(err, ErrNotDatabase) {
		return append(list, err.Error()), nil
	}
	return list, err
}

// check reads what its keys name, one after the other.
type check struct {
	noun string
	keys string // query; out of an index, so that they are known where the rows are damaged
	what string // query that takes a key and describes what it names
	read func(tx *transaction, key string) error
}

var checks = []check{
	{
		"points", `SELECT hash FROM points ORDER BY hash`,
		`SELECT 'of the data set "' || name || '"' FROM datasets WHERE hash = ?1 UNION ALL SELECT 'of the run "' || name || '"' FROM runs WHERE hash = ?1
			UNION ALL SELECT 'of the search ' || id FROM searches WHERE hash = ?1
			UNION ALL SELECT 'of the link "' || title || '"' FROM links WHERE hash = ?1 LIMIT 5`,
		func(tx *transaction, hash string) error {
			d, err := readPoints(tx, hash)
			if err == nil && d.Hash() != hash {
				err = errors.New("the points are not those that were saved")
			}
			return err
		},
	},
	{"data set", `SELECT id FROM datasets ORDER BY id`, `SELECT name FROM datasets WHERE id = ?`, found(findDataset, `id = ?`)},
	{"run", `SELECT id FROM runs ORDER BY id`, `SELECT name FROM runs WHERE id = ?`, func(tx *transaction, id string) error {
		r, err := findRun(tx, `id = ?`, id)
		if err != nil || r.Status != Done {
			return err
		}
		kept, err := value[bool](tx, `SELECT EXISTS (SELECT 1 FROM models WHERE run = ? AND part = 'model')`, id)
		if err == nil && !kept {
			err = errors.New("its model is missing")
		}
		return err
	}},
	{"models of run", `SELECT DISTINCT run FROM models ORDER BY run`, `SELECT name FROM runs WHERE id = ?`, func(tx *transaction, id string) error {
		return readModels(tx, &Run{ID: id})
	}},
	{"search", `SELECT id FROM searches ORDER BY id`, `SELECT 'on ' || dataset_name FROM searches WHERE id = ?`, func(tx *transaction, id string) error {
		if _, err := findSearch(tx, `id = ?`, id); err != nil {
			return err
		}
		if _, err := readPlan(tx, id); err != nil {
			return err
		}
		_, err := readResults(tx, id)
		return err
	}},
	{"course", `SELECT code FROM courses WHERE deleted IS NULL ORDER BY code`, `SELECT title FROM courses WHERE code = ?`, found(findCourse, `code = ?`)},
	{"report", `SELECT id FROM reports ORDER BY id`, `SELECT title FROM reports WHERE id = ?`, found(findReport, `id = ?`)},
}

// found returns a function that reads what find does, by its key alone.
func found[T any](find func(tx *transaction, where string, args ...any) (T, error), where string) func(tx *transaction, key string) error {
	return func(tx *transaction, key string) error {
		_, err := find(tx, where, key)
		return err
	}
}

// faults describes what of a check cannot be read.
func (s *Store) faults(ctx context.Context, c check) (faults []string, err error) {
	list, err := s.lines(ctx, c.keys)
	if err != nil {
		return nil, err
	}
	for _, key := range list {
		err := s.view(ctx, func(tx *transaction) error { return c.read(tx, key) })
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrNotFound): // deleted meanwhile
			continue
		case err != nil:
			of, _ := s.lines(ctx, c.what, key) // may be damaged as well
			if of = slices.DeleteFunc(of, func(text string) bool { return text == "" }); len(of) > 0 {
				key += " (" + strings.Join(of, ", ") + ")"
			}
			faults = append(faults, fmt.Sprintf("%s %s: %v", c.noun, key, err))
		}
	}
	return faults, nil
}
