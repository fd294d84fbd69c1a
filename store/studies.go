package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/study"
)

// Study is a comparison of learners over data sets: its settings and the state of its searches.
type Study struct {
	ID       string
	Title    string
	File     string   // the study as TOML
	Sizes    []int    // rows of each data set before subsampling
	Searches []Search // without results; all learners on the first data set, then on the second ...
	Created  time.Time
}

// NewStudy holds the settings of a new study.
type NewStudy struct {
	Title    string
	File     string
	Sizes    []int
	Searches []NewSearch // all learners on the first data set, then on the second ...
	Request  Request     // as of a NewRun
}

// Limits of one study, and of unfinished studies per workspace and in total.
const (
	maxStudySearches = 1_000
	maxStudyCells    = 50_000
	maxStudying      = 2
	maxStudyingAll   = 100 // shared among network addresses
)

// Cells returns the cells of all searches: how many have a result, how many already had one when
// the study was created, and their total number.
func (s Study) Cells() (done, known, total int) {
	for _, one := range s.Searches {
		done, known, total = done+one.Done, known+one.Known, total+one.Total
	}
	return done, known, total
}

// Status returns the status of all searches together: failed if one has failed, cancelled if one
// was cancelled, done if all are done. A study imported from an archive has no searches and is
// done.
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

// CreateStudy queues the searches of a study, all or none. It is idempotent. Errors: those of
// CreateSearch except ErrSearching, and ErrStudying.
func (s *Store) CreateStudy(ctx context.Context, ws Workspace, n NewStudy) (made Study, err error) {
	if k := len(n.Searches); k > maxStudySearches {
		return made, param.Refuse("choose fewer of either", "the study has %d pairs of a data set and a learner; at most %d are allowed", k, maxStudySearches)
	}
	cells := 0
	for _, search := range n.Searches { // before any expensive planning
		own, err := cellsOf(search)
		if err != nil {
			return made, fmt.Errorf("data set %s: %w", search.DatasetName, err)
		}
		if cells += own; cells > maxStudyCells {
			return made, param.Refuse("use fewer values, folds or repeats", "the study has more than %d cells, one for each split and setting apart from C", maxStudyCells)
		}
	}
	var ready []plannedSearch
	encoded := map[*dataset.Data]points{} // shared by all learners
	for _, search := range n.Searches {
		pts, ok := encoded[search.Data]
		if !ok {
			if pts, err = encode(search.Data); err != nil {
				return made, err
			}
			encoded[search.Data] = pts
		}
		p, err := s.planSearch(ctx, search, pts)
		if err != nil {
			return made, fmt.Errorf("data set %s: %w", search.DatasetName, err)
		}
		ready = append(ready, p)
	}
	made = Study{ID: newID(), Title: studyTitle(n.Title), File: n.File, Sizes: n.Sizes, Created: fromMillis(s.now())}
	request, err := n.Request.of(made.Title, n.File, n.Sizes)
	if err != nil {
		return made, err
	}
	return result(ctx, s.update, func(tx *transaction) Study {
		if there, ok := repeated(tx, "studies", ws, request, findStudy); ok {
			return there
		}
		s.share(tx, ws, `(SELECT DISTINCT study, workspace FROM searches WHERE study IS NOT NULL AND `+notEnded+`)`, maxStudying, ErrStudying, maxStudyingAll)
		s.room(tx, ws, 0, 0)
		tx.exec(`INSERT INTO studies (id, workspace, title, file, sizes, created, request) VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''))`,
			made.ID, ws, made.Title, made.File, asJSON(&made.Sizes), made.Created.UnixMilli(), request)
		for _, pts := range encoded {
			writePoints(tx, pts)
		}
		for place, p := range ready {
			tx.exec(`UPDATE searches SET study = ?, place = ? WHERE id = ?`, made.ID, place, s.insert(tx, ws, "", p))
		}
		return findStudy(tx, `id = ?`, made.ID)
	})
}

func studyTitle(text string) string { return cmp.Or(truncate(oneLine(text)), "Study") }

// Study returns one study of a workspace.
func (s *Store) Study(ctx context.Context, ws Workspace, id string) (Study, error) {
	return result(ctx, s.view, func(tx *transaction) Study { return findStudy(tx, `workspace = ? AND id = ?`, ws, id) })
}

// StudyResult returns the result of a finished study, computed from the searches on the first call
// and then stored.
func (s *Store) StudyResult(ctx context.Context, of Study) (res *study.Result, err error) {
	err = s.view(ctx, func(tx *transaction) {
		tx.one(`SELECT result FROM studies WHERE id = ?`, of.ID)(unzipJSON(&res))
	})
	if err != nil || res != nil {
		return res, err
	}
	if res, err = s.computeStudy(ctx, of); err != nil {
		return nil, err
	}
	zipped, err := zipJSON(res)
	if err != nil {
		return nil, err
	}
	return res, s.exec(ctx, `UPDATE studies SET result = ? WHERE id = ?`, zipped, of.ID)
}

func (s *Store) computeStudy(ctx context.Context, of Study) (*study.Result, error) {
	asked, err := study.Parse(of.File, "study")
	if err != nil {
		return nil, err
	}
	learners := len(asked.Learners)
	if len(of.Searches) != len(asked.Sets)*learners || len(of.Sizes) != len(asked.Sets) {
		return nil, fmt.Errorf("study %s: %d searches of %d data sets and %d learners", of.ID, len(of.Searches), len(asked.Sets), learners)
	}
	samples := make([]study.Sample, len(asked.Sets))
	judged := make([][]study.Judged, len(asked.Sets))
	for k, one := range of.Searches {
		i := k / learners
		if k%learners == 0 {
			d, err := s.Data(ctx, one.Hash)
			if err != nil {
				return nil, err
			}
			samples[i] = study.Sample{Data: d, Of: of.Sizes[i], SHA256: one.Hash}
		}
		var j study.Judged
		err := s.view(ctx, func(tx *transaction) {
			j.Plan = readPlan(tx, one.ID)
			j.Result = findSearch(tx, `id = ?`, one.ID).Result
			// The time counts only if it is known for every cell.
			tx.one(`SELECT iif(count(*) = count(seconds), total(seconds), 0.0) FROM cells LEFT JOIN results ON cell = name WHERE search = ?`, one.ID)(&j.Seconds)
		})
		if err != nil {
			return nil, err
		}
		judged[i] = append(judged[i], j)
	}
	res, err := asked.Gather(samples, judged)
	if err == nil {
		res.Study = of.File
	}
	return res, err
}

// Studies lists at most limit studies of a workspace from offset on, newest first, and returns
// their total number.
func (s *Store) Studies(ctx context.Context, ws Workspace, limit, offset int) (list []Study, total int, err error) {
	return counted(ctx, s, func(tx *transaction) []Study {
		return studiesOf(tx, `workspace = ? ORDER BY created DESC, rowid DESC LIMIT ? OFFSET ?`, ws, limit, offset)
	}, `studies WHERE workspace = ?`, ws)
}

// StudiesUnderWay lists the unfinished studies of a workspace, oldest first: at most maxStudying,
// unless they were created under an earlier, higher limit.
func (s *Store) StudiesUnderWay(ctx context.Context, ws Workspace) ([]Study, error) {
	return result(ctx, s.view, func(tx *transaction) []Study {
		return studiesOf(tx, `workspace = ?1 AND id IN (SELECT study FROM searches WHERE workspace = ?1 AND study IS NOT NULL AND `+notEnded+`) ORDER BY created, rowid`, ws)
	})
}

// CancelStudy cancels the unfinished searches of a study and returns their ids, or ErrEnded if
// there are none.
func (s *Store) CancelStudy(ctx context.Context, ws Workspace, id string) ([]string, error) {
	return result(ctx, s.update, func(tx *transaction) []string {
		requireStudy(tx, ws, id)
		ended := s.endSearches(tx, Cancelled, "", `study = ?`, id)
		if len(ended) == 0 {
			tx.fail(ErrEnded)
		}
		return ended
	})
}

// DeleteStudy deletes a study with its searches, and the results of cells that no other search
// shares. It returns the ids of the searches.
func (s *Store) DeleteStudy(ctx context.Context, ws Workspace, id string) ([]string, error) {
	return result(ctx, s.update, func(tx *transaction) []string {
		requireStudy(tx, ws, id)
		return deleteStudy(tx, id)
	})
}

func deleteStudy(tx *transaction, id string) []string {
	hashes := texts(tx, `SELECT DISTINCT hash FROM searches WHERE study = ?`, id)
	tx.exec(`
		DELETE FROM results WHERE cell IN (SELECT name FROM cells CROSS JOIN searches ON id = search WHERE study = ?1)
		AND NOT EXISTS (SELECT 1 FROM cells CROSS JOIN searches ON id = search WHERE name = results.cell AND study IS NOT ?1)`, id)
	searches := texts(tx, `DELETE FROM searches WHERE study = ? RETURNING id`, id) // the foreign key deletes the cells
	dropPoints(tx, hashes...)
	tx.exec(`DELETE FROM studies WHERE id = ?`, id)
	return searches
}

// requireStudy fails with ErrNotFound if a workspace has no such study.
func requireStudy(tx *transaction, ws Workspace, id string) {
	value[int](tx, `SELECT 1 FROM studies WHERE workspace = ? AND id = ?`, ws, id)
}

// studiesOf lists studies with their searches, without results.
func studiesOf(tx *transaction, where string, args ...any) []Study {
	list := listOf(tx, func(r row, s *Study) error {
		return r.Scan(&s.ID, &s.Title, &s.File, asJSON(&s.Sizes), asMillis(&s.Created))
	}, `SELECT id, title, file, sizes, created FROM studies WHERE `+where, args...)
	for i := range list {
		list[i].Searches = searchesOf(tx, `study = ? ORDER BY place`, list[i].ID)
	}
	return list
}

func findStudy(tx *transaction, where string, args ...any) Study {
	return first(tx, studiesOf(tx, where, args...))
}
