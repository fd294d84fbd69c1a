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

// Check reads a whole database, in a data directory or a backup, and returns its damage, one line
// per fault: it checks that pages, indexes and references agree, and that every point set, data
// set, run, model, search and course can be read. It changes nothing, and servers may run
// meanwhile. It returns an error if the database cannot be checked at all.
func Check(ctx context.Context, path string) (damage []string, have Contents, err error) {
	s, err := openReadOnly(ctx, path)
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
	if v < latestSchema() && len(damage) == 0 {
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
	logs, _ := filepath.Glob(path + "-wal" + damagedLog + "*") // the pattern is valid
	for _, name := range logs {
		damage = append(damage, fmt.Sprintf("log: transactions were dropped from a damaged write-ahead log, and the last saves before may be missing; the log is kept in %s. Inspect it, then delete it or restore a backup.", name))
	}
	return damage, have, err
}

// checkCopy is Check for a database of an earlier version: it checks a migrated copy.
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

// Inspect looks for damaged pages, indexes and references, which would otherwise surface only when
// read. Once it has found damage, Ping returns an error, too.
func (s *Store) Inspect(ctx context.Context) error {
	faults, err := s.structure(ctx)
	if err == nil && len(faults) > 0 {
		s.damaged.Store(true)
		err = fmt.Errorf("%w (%s)", ErrDamaged, strings.Join(faults, "; "))
	}
	return err
}

// structure returns the faults of pages, indexes and references found by SQLite.
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

// lines returns the single column of a query. If a damaged page interrupts it, the last line
// says so.
func (s *Store) lines(ctx context.Context, query string, args ...any) (list []string, err error) {
	err = s.view(ctx, func(tx *transaction) {
		list = texts(tx, query, args...)
	})
	if errors.Is(err, ErrNotDatabase) {
		return append(list, err.Error()), nil
	}
	return list, err
}

// check reads the items named by keys one by one.
type check struct {
	noun string
	keys string // query over an index, so that keys are known even if rows are damaged
	what string // query that describes the item of a key
	read func(tx *transaction, key string)
}

var checks = []check{
	{
		"points", `SELECT hash FROM points ORDER BY hash`,
		`SELECT 'of the data set "' || name || '"' FROM datasets WHERE hash = ?1 UNION ALL SELECT 'of the run "' || name || '"' FROM runs WHERE hash = ?1
			UNION ALL SELECT 'of the search ' || id FROM searches WHERE hash = ?1
			UNION ALL SELECT 'of the link "' || title || '"' FROM links WHERE hash = ?1 LIMIT 5`,
		func(tx *transaction, hash string) {
			if d := readPoints(tx, hash); tx.err == nil && d.Hash() != hash {
				tx.fail(errors.New("the points do not match their hash"))
			}
		},
	},
	{"data set", `SELECT id FROM datasets ORDER BY id`, `SELECT name FROM datasets WHERE id = ?`, func(tx *transaction, id string) { findDataset(tx, `id = ?`, id) }},
	{"run", `SELECT id FROM runs ORDER BY id`, `SELECT name FROM runs WHERE id = ?`, func(tx *transaction, id string) {
		if r := findRun(tx, `id = ?`, id); r.Status == Done && !tx.exists(`models WHERE run = ? AND part = 'model'`, id) {
			tx.fail(errors.New("its model is missing"))
		}
	}},
	{"models of run", `SELECT DISTINCT run FROM models ORDER BY run`, `SELECT name FROM runs WHERE id = ?`, func(tx *transaction, id string) { readModels(tx, &Run{ID: id}) }},
	{"search", `SELECT id FROM searches ORDER BY id`, `SELECT 'on ' || dataset_name FROM searches WHERE id = ?`, func(tx *transaction, id string) {
		findSearch(tx, `id = ?`, id)
		readPlan(tx, id)
		readResults(tx, id)
	}},
	{"course", `SELECT code FROM courses WHERE deleted IS NULL ORDER BY code`, `SELECT title FROM courses WHERE code = ?`, func(tx *transaction, code string) { findCourse(tx, `code = ?`, code) }},
	{"report", `SELECT id FROM reports ORDER BY id`, `SELECT title FROM reports WHERE id = ?`, func(tx *transaction, id string) { findReport(tx, `id = ?`, id) }},
}

// faults describes the items of a check that cannot be read.
func (s *Store) faults(ctx context.Context, c check) (faults []string, err error) {
	list, err := s.lines(ctx, c.keys)
	if err != nil {
		return nil, err
	}
	for _, key := range list {
		err := s.view(ctx, func(tx *transaction) { c.read(tx, key) })
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
