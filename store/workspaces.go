package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// seenEvery is how exactly it is kept when a workspace was last in use.
const seenEvery = 24 * time.Hour

// Holdings counts the items of a workspace and tells when it was last used.
type Holdings struct {
	Workspace                         Workspace
	Seen                              time.Time // to the day
	Datasets, Runs, Searches, Courses int
	Studies                           int // whose searches are among Searches
	Reports                           int
	Bytes                             int64 // on the disk, of points, models, searches, reports and files that wait for their columns to be chosen
}

// String tells it in words, without what there is none of.
func (h Holdings) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{h.Datasets, "data set"}, {h.Runs, "run"}, {h.Searches, "search"}, {h.Studies, "study"}, {h.Courses, "course"}, {h.Reports, "report"}} {
		if c.n > 0 {
			parts = append(parts, number(c.n, c.noun))
		}
	}
	if h.Bytes > 0 {
		parts = append(parts, Size(h.Bytes)+" on the disk")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Seen notes that a workspace is in use, if it holds anything. It writes once a day
// at most.
func (s *Store) Seen(ctx context.Context, ws Workspace) error {
	now := s.now()
	var due bool
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			SELECT NOT EXISTS (SELECT 1 FROM workspaces WHERE workspace = ?1 AND seen > ?2)
			AND (EXISTS (SELECT 1 FROM datasets WHERE workspace = ?1) OR EXISTS (SELECT 1 FROM runs WHERE workspace = ?1)
				OR EXISTS (SELECT 1 FROM searches WHERE workspace = ?1) OR EXISTS (SELECT 1 FROM studies WHERE workspace = ?1) OR EXISTS (SELECT 1 FROM courses WHERE workspace = ?1)
				OR EXISTS (SELECT 1 FROM answers WHERE workspace = ?1) OR EXISTS (SELECT 1 FROM links WHERE workspace = ?1) OR EXISTS (SELECT 1 FROM reports WHERE workspace = ?1))`,
			ws, now-seenEvery.Milliseconds()).Scan(&due)
	})
	if err != nil || !due {
		return err
	}
	return s.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO workspaces (workspace, seen) VALUES (?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen`, ws, now)
		return err
	})
}

// Since returns when the oldest of what a workspace holds was made, the zero time if it holds nothing.
func (s *Store) Since(ctx context.Context, ws Workspace) (since time.Time, err error) {
	var oldest sql.NullInt64
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			SELECT min(began) FROM (SELECT min(created) AS began FROM datasets WHERE workspace = ?1 UNION ALL SELECT min(created) FROM runs WHERE workspace = ?1
				UNION ALL SELECT min(created) FROM searches WHERE workspace = ?1 UNION ALL SELECT min(created) FROM studies WHERE workspace = ?1
				UNION ALL SELECT min(created) FROM courses WHERE workspace = ?1 UNION ALL SELECT min(answered) FROM answers WHERE workspace = ?1
				UNION ALL SELECT min(created) FROM links WHERE workspace = ?1 UNION ALL SELECT min(created) FROM reports WHERE workspace = ?1)`, ws).Scan(&oldest)
	})
	if err != nil || !oldest.Valid {
		return time.Time{}, err
	}
	return fromMillis(oldest.Int64), nil
}

// Holdings returns the contents of a workspace in numbers.
func (s *Store) Holdings(ctx context.Context, ws Workspace) (h Holdings, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		h, err = holdings(ctx, tx, ws)
		return err
	})
	return h, err
}

// DeleteWorkspace deletes all that a workspace holds, its courses with their
// galleries, and takes back what it has handed in to others.
func (s *Store) DeleteWorkspace(ctx context.Context, ws Workspace) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		if err := withdrawAll(ctx, tx, ws); err != nil {
			return err
		}
		return deleteWorkspace(ctx, tx, ws)
	})
}

// Secret returns the secret that signs the keys of workspaces. It stays with the database.
func (s *Store) Secret(ctx context.Context) (secret []byte, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT value FROM secrets WHERE name = 'keys'`).Scan(&secret)
	})
	return secret, err
}

// Used reports whether a workspace holds, or has held, anything; not on an error, either.
func (s *Store) Used(ctx context.Context, ws Workspace) (is bool) {
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+used+` WHERE workspace = ?)`, ws).Scan(&is)
	})
	return is && err == nil
}

// used has a row for everything that tells of somebody in a workspace. Everybody who makes
// something has been there, whether or not that was noted.
const used = `(SELECT workspace, seen FROM workspaces UNION ALL SELECT workspace, updated FROM datasets UNION ALL SELECT workspace, created FROM runs
	UNION ALL SELECT workspace, created FROM searches UNION ALL SELECT workspace, created FROM studies UNION ALL SELECT workspace, created FROM courses UNION ALL SELECT workspace, answered FROM answers
	UNION ALL SELECT workspace, created FROM links UNION ALL SELECT workspace, updated FROM reports) AS used`

// What a row and its indices take on the disk, about, beside its texts, and a cell of a search with
// everything: small things are many where somebody makes them by a loop.
const rowBytes, cellBytes = 300, 200

func holdings(ctx context.Context, tx *sql.Tx, ws Workspace) (Holdings, error) {
	h := Holdings{Workspace: ws}
	var seen int64
	err := tx.QueryRowContext(ctx, `
		SELECT (SELECT coalesce(max(seen), 0) FROM `+used+` WHERE workspace = ?1), (SELECT count(*) FROM datasets WHERE workspace = ?1),
			(SELECT count(*) FROM runs WHERE workspace = ?1), (SELECT count(*) FROM searches WHERE workspace = ?1), (SELECT count(*) FROM studies WHERE workspace = ?1), (SELECT count(*) FROM courses WHERE workspace = ?1),
			(SELECT count(*) FROM reports WHERE workspace = ?1),
			(SELECT coalesce(sum(length(csv)), 0) FROM points WHERE hash IN (
				SELECT hash FROM datasets WHERE workspace = ?1 UNION SELECT hash FROM runs WHERE workspace = ?1
				UNION SELECT hash FROM searches WHERE workspace = ?1 UNION SELECT hash FROM courses WHERE workspace = ?1
				UNION SELECT hash FROM links WHERE workspace = ?1))
			+ (SELECT coalesce(sum(length(model) + coalesce(length(scores), 0)), 0) FROM runs JOIN models ON run = id WHERE workspace = ?1)
			+ (SELECT coalesce(sum(?2 + length(plan) + length(drawn) + coalesce(length(result), 0) + ?3 * (SELECT coalesce(1 + max(place), 0) FROM cells WHERE search = id)), 0) FROM searches WHERE workspace = ?1)
			+ (SELECT coalesce(sum(?2 + length(file) + length(sizes) + coalesce(length(result), 0)), 0) FROM studies WHERE workspace = ?1)
			+ (SELECT coalesce(sum(?2 + length(title) + length(target) + length(hidden) + length(frozen) + length(questions)), 0) FROM courses WHERE workspace = ?1)
			+ (SELECT coalesce(sum(?2 + length(title) + length(target)), 0) FROM links WHERE workspace = ?1)
			+ (SELECT coalesce(sum(?2 + length(title) + length(text) + length(frozen)), 0) FROM reports WHERE workspace = ?1)
			+ (SELECT coalesce(sum(length(body)), 0) FROM uploads WHERE workspace = ?1)`, ws, rowBytes, cellBytes).
		Scan(&seen, &h.Datasets, &h.Runs, &h.Searches, &h.Studies, &h.Courses, &h.Reports, &h.Bytes)
	h.Seen = fromMillis(seen)
	return h, err
}

func deleteWorkspace(ctx context.Context, tx *sql.Tx, ws Workspace) error {
	if _, err := forget(ctx, tx, `workspace = ?`, trash(ws)); err != nil {
		return err
	}
	courses, err := listCourses(ctx, tx, ws)
	if err != nil {
		return err
	}
	for _, c := range courses {
		if err := deleteCourse(ctx, tx, c); err != nil {
			return err
		}
	}
	studies, err := texts(ctx, tx, `SELECT id FROM studies WHERE workspace = ?`, ws)
	if err != nil {
		return err
	}
	for _, id := range studies {
		if _, err := deleteStudy(ctx, tx, ws, id); err != nil {
			return err
		}
	}
	searches, _, err := listSearches(ctx, tx, ws, -1, 0)
	if err != nil {
		return err
	}
	for _, search := range searches {
		if err := deleteSearch(ctx, tx, search); err != nil {
			return err
		}
	}
	hashes, err := texts(ctx, tx, `SELECT hash FROM datasets WHERE workspace = ?1 UNION SELECT hash FROM runs WHERE workspace = ?1
		UNION SELECT hash FROM links WHERE workspace = ?1 AND hash IS NOT NULL`, ws)
	if err != nil {
		return err
	}
	for _, table := range []string{"datasets", "runs", "uploads", "answers", "links", "reports", "workspaces"} { // models go with their runs
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE workspace = ?`, ws); err != nil {
			return err
		}
	}
	for _, hash := range hashes {
		if err := dropPoints(ctx, tx, hash); err != nil {
			return err
		}
	}
	return nil
}

// withdrawAll deletes the copies of a workspace's runs in galleries, and what else
// courses of others know of it.
func withdrawAll(ctx context.Context, tx *sql.Tx, ws Workspace) error {
	copies, err := texts(ctx, tx, `SELECT run FROM handins WHERE workspace = ?`, ws)
	if err != nil {
		return err
	}
	for _, run := range copies {
		if err := withdraw(ctx, tx, ws, run); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM students WHERE workspace = ?`, ws); err != nil { // and with them their answers
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM blocks WHERE workspace = ?`, ws) // it has nothing left, and is as good as a new one
	return err
}

// texts is the one column of a query.
func texts(ctx context.Context, tx *sql.Tx, query string, args ...any) (list []string, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return list, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
