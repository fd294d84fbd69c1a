package store

import (
	"context"
	"strings"
	"time"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// seenEvery is the precision of the time at which a workspace was last used.
const seenEvery = 24 * time.Hour

// Holdings counts the items of a workspace, with the time of its last use.
type Holdings struct {
	Workspace                         Workspace
	Seen                              time.Time // to the day
	Datasets, Runs, Searches, Courses int       // Searches excludes those of studies
	Studies                           int
	Reports                           int
	Bytes                             int64 // on disk: points, models, searches, reports, uploads
}

// String lists the counts that are not zero.
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
		parts = append(parts, param.Bytes(h.Bytes)+" on disk")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// Seen records the use of a workspace that holds anything. It writes at most once a day.
func (s *Store) Seen(ctx context.Context, ws Workspace) error {
	now := s.now()
	due, err := result(ctx, s.view, func(tx *transaction) bool {
		return value[bool](tx, `SELECT NOT EXISTS (SELECT 1 FROM workspaces WHERE workspace = ?1 AND seen > ?2) AND EXISTS (SELECT 1 FROM `+used+` WHERE workspace = ?1 AND began IS NOT NULL)`, ws, now-seenEvery.Milliseconds())
	})
	if err != nil || !due {
		return err
	}
	return s.exec(ctx, `INSERT INTO workspaces (workspace, seen) VALUES (?, ?) ON CONFLICT DO UPDATE SET seen = excluded.seen`, ws, now)
}

// Since returns the creation time of a workspace's oldest item, the zero time if it holds nothing.
func (s *Store) Since(ctx context.Context, ws Workspace) (since time.Time, err error) {
	err = s.view(ctx, func(tx *transaction) {
		tx.one(`SELECT min(began) FROM `+used+` WHERE workspace = ?`, ws)(asMillis(&since))
	})
	return since, err
}

// Holdings counts the items of a workspace.
func (s *Store) Holdings(ctx context.Context, ws Workspace) (Holdings, error) {
	return result(ctx, s.view, func(tx *transaction) Holdings { return holdings(tx, ws) })
}

// DeleteWorkspace deletes everything in a workspace, including its courses with their galleries,
// and withdraws its submissions to other courses.
func (s *Store) DeleteWorkspace(ctx context.Context, ws Workspace) error {
	return s.update(ctx, func(tx *transaction) {
		for _, run := range texts(tx, `SELECT run FROM handins WHERE workspace = ?`, ws) {
			withdraw(tx, ws, run)
		}
		tx.exec(`DELETE FROM students WHERE workspace = ?`, ws) // the foreign key deletes their answers
		tx.exec(`DELETE FROM blocks WHERE workspace = ?`, ws)   // a block is pointless: anyone can create a new workspace
		deleteWorkspace(tx, ws)
	})
}

// Secret returns the secret that signs workspace keys. It is stored in the database.
func (s *Store) Secret(ctx context.Context) ([]byte, error) {
	return result(ctx, s.view, func(tx *transaction) []byte {
		return value[[]byte](tx, `SELECT value FROM secrets WHERE name = 'keys'`)
	})
}

// Used reports whether a workspace holds, or has held, anything. On an error it returns false.
func (s *Store) Used(ctx context.Context, ws Workspace) bool {
	is, err := result(ctx, s.view, func(tx *transaction) bool { return tx.exists(used+` WHERE workspace = ?`, ws) })
	return is && err == nil
}

// used has a row for every trace of use of a workspace, with the creation time if it is an item.
// Creating an item counts, whether or not a visit was recorded.
const used = `(SELECT workspace, seen, NULL AS began FROM workspaces UNION ALL SELECT workspace, updated, created FROM datasets
	UNION ALL SELECT workspace, created, created FROM runs UNION ALL SELECT workspace, created, created FROM searches
	UNION ALL SELECT workspace, created, created FROM studies UNION ALL SELECT workspace, created, created FROM courses
	UNION ALL SELECT workspace, answered, answered FROM answers UNION ALL SELECT workspace, created, created FROM links
	UNION ALL SELECT workspace, updated, created FROM reports) AS used`

// Approximate bytes on disk of a row with its index entries, without its texts, and of a cell of a
// search. They matter because a loop can create many small items.
const rowBytes, cellBytes = 300, 200

func holdings(tx *transaction, ws Workspace) Holdings {
	h := Holdings{Workspace: ws}
	tx.one(`
		SELECT (SELECT coalesce(max(seen), 0) FROM `+used+` WHERE workspace = ?1), (SELECT count(*) FROM datasets WHERE workspace = ?1),
			(SELECT count(*) FROM runs WHERE workspace = ?1), (SELECT count(*) FROM searches WHERE workspace = ?1 AND study IS NULL), (SELECT count(*) FROM studies WHERE workspace = ?1), (SELECT count(*) FROM courses WHERE workspace = ?1),
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
			+ (SELECT coalesce(sum(length(body)), 0) FROM uploads WHERE workspace = ?1)`, ws, rowBytes, cellBytes)(
		asMillis(&h.Seen), &h.Datasets, &h.Runs, &h.Searches, &h.Studies, &h.Courses, &h.Reports, &h.Bytes)
	return h
}

func holdingsOf(tx *transaction, names []Workspace) []Holdings {
	return lists.Map(names, func(ws Workspace) Holdings { return holdings(tx, ws) })
}

func deleteWorkspace(tx *transaction, ws Workspace) {
	forget(tx, `workspace = ?`, trash(ws))
	deleteCourses(tx, `workspace = ?`, ws)
	for _, id := range texts(tx, `SELECT id FROM studies WHERE workspace = ?`, ws) {
		deleteStudy(tx, id)
	}
	for _, search := range searchesOf(tx, `workspace = ?`, ws) {
		deleteSearch(tx, search)
	}
	hashes := texts(tx, `SELECT hash FROM datasets WHERE workspace = ?1 UNION SELECT hash FROM runs WHERE workspace = ?1
		UNION SELECT hash FROM links WHERE workspace = ?1 AND hash IS NOT NULL`, ws)
	for _, table := range []string{"datasets", "runs", "uploads", "answers", "links", "reports", "workspaces"} { // the foreign key deletes the models of runs
		tx.exec(`DELETE FROM `+table+` WHERE workspace = ?`, ws)
	}
	dropPoints(tx, hashes...)
}
