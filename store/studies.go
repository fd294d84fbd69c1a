package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"marginlab/ml/param"
)

// Study is a comparison of learners over data sets: what was asked, and how far its searches
// are.
type Study struct {
	ID       string
	Title    string
	File     string   // the study as TOML
	Sizes    []int    // rows that each data set had before some were taken
	Searches []Search // without their results; of all learners on the first data set, then on the second ...
	Created  time.Time
}

// NewStudy is what a study is made from.
type NewStudy struct {
	Title    string
	File     string
	Sizes    []int
	Searches []NewSearch // of all learners on the first data set, then on the second ...
}

// What a study may ask for, and how many of a workspace may be under way.
const (
	MaxStudySearches = 120
	MaxStudyCells    = 50_000
	MaxStudying      = 2
)

// Status is that of all searches together: failed where one has failed, cancelled where one
// was cancelled, done when all are.
func (s Study) Status() Status {
	count := map[Status]int{}
	for _, search := range s.Searches {
		count[search.Status]++
	}
	switch {
	case count[Failed] > 0:
		return Failed
	case count[Cancelled] > 0:
		return Cancelled
	case count[Done] == len(s.Searches):
		return Done
	case count[Queued] == len(s.Searches):
		return Queued
	}
	return Running
}

// CreateStudy queues the searches of a study, all or none. Errors are those of CreateSearch,
// but for ErrSearching, and an *Error where too many studies are under way.
func (s *Store) CreateStudy(ctx context.Context, ws Workspace, n NewStudy) (study Study, err error) {
	if k := len(n.Searches); k > MaxStudySearches {
		return study, param.Refuse("take fewer of them", "%d data sets and learners to be paired; %d pairs are the most", k, MaxStudySearches)
	}
	var ready []plannedSearch
	cells := 0
	for _, search := range n.Searches {
		p, err := planned(search)
		if err != nil {
			return study, fmt.Errorf("data set %s: %w", search.DatasetName, err)
		}
		if cells += len(p.names); cells > MaxStudyCells {
			return study, param.Refuse("take fewer values, folds or repeats", "the study has more than %d cells, each a setting but for C on one split", MaxStudyCells)
		}
		ready = append(ready, p)
	}
	study = Study{ID: newID(), Title: cmp.Or(cut(line(n.Title)), "Study"), File: n.File, Sizes: n.Sizes, Created: fromMillis(s.now())}
	err = s.update(ctx, func(tx *sql.Tx) error {
		var own int
		if err := tx.QueryRowContext(ctx, `SELECT count(DISTINCT study) FROM searches WHERE study IS NOT NULL AND workspace = ? AND `+notEnded, ws).Scan(&own); err != nil {
			return err
		}
		if own >= MaxStudying {
			return &Error{"too-many", fmt.Sprintf("%d of your studies are under way, as many as may. Wait until one has ended, or cancel one.", own)}
		}
		if err := s.Quota.room(ctx, tx, ws, 0, 0); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO studies (id, workspace, title, file, sizes, created) VALUES (?, ?, ?, ?, ?, ?)`,
			study.ID, ws, study.Title, study.File, asJSON(&study.Sizes), study.Created.UnixMilli()); err != nil {
			return err
		}
		for place, p := range ready {
			search, err := s.insert(ctx, tx, ws, "", p)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE searches SET study = ?, place = ? WHERE id = ?`, study.ID, place, search); err != nil {
				return err
			}
		}
		study, err = findStudy(ctx, tx, ws, study.ID)
		return err
	})
	return study, err
}

// Study returns one study of a workspace.
func (s *Store) Study(ctx context.Context, ws Workspace, id string) (study Study, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		study, err = findStudy(ctx, tx, ws, id)
		return err
	})
	return study, err
}

// Studies lists the studies of a workspace, newest first, at most limit of them from offset
// on, and says how many there are.
func (s *Store) Studies(ctx context.Context, ws Workspace, limit, offset int) (list []Study, total int, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM studies WHERE workspace = ?`, ws).Scan(&total); err != nil {
			return err
		}
		ids, err := texts(ctx, tx, `SELECT id FROM studies WHERE workspace = ? ORDER BY created DESC, rowid DESC LIMIT ? OFFSET ?`, ws, limit, offset)
		if err != nil {
			return err
		}
		for _, id := range ids {
			study, err := findStudy(ctx, tx, ws, id)
			if err != nil {
				return err
			}
			list = append(list, study)
		}
		return nil
	})
	return list, total, err
}

// DeleteStudy deletes a study and its searches.
func (s *Store) DeleteStudy(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *sql.Tx) error { return deleteStudy(ctx, tx, ws, id) })
}

func deleteStudy(ctx context.Context, tx *sql.Tx, ws Workspace, id string) error {
	study, err := findStudy(ctx, tx, ws, id)
	if err != nil {
		return err
	}
	for _, one := range study.Searches {
		search, err := findSearch(ctx, tx, ws, one.ID)
		if err != nil {
			return err
		}
		if err := deleteSearch(ctx, tx, search); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM studies WHERE id = ?`, id)
	return err
}

func findStudy(ctx context.Context, tx *sql.Tx, ws Workspace, id string) (s Study, err error) {
	var created int64
	err = tx.QueryRowContext(ctx, `SELECT id, title, file, sizes, created FROM studies WHERE workspace = ? AND id = ?`, ws, id).
		Scan(&s.ID, &s.Title, &s.File, asJSON(&s.Sizes), &created)
	if err != nil {
		return s, found(err)
	}
	s.Created = fromMillis(created)
	rows, err := tx.QueryContext(ctx, `SELECT `+searchColumns+` FROM searches WHERE study = ? ORDER BY place`, id)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scanSearch(rows)
		if err != nil {
			return s, err
		}
		s.Searches = append(s.Searches, one)
	}
	return s, rows.Err()
}
