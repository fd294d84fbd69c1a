package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Search is a hyperparameter search by cross-validation: its settings, progress and
// result.
type Search struct {
	ID          string
	Study       string // id of the study that it is part of, or empty
	Dataset     string // id; empty once the data set is deleted
	DatasetName string // current or last name
	Hash        string // of the points
	Spec        ml.Spec
	Grid        eval.Grid
	Drawn       *eval.Drawn // replaces Grid, if not nil
	Scheme      eval.Scheme
	Axes        [2]string // as of a Run
	Status      Status
	Error       string       // of a failed search, for its owner
	Total       int          // cells
	Done        int          // cells with a result
	Known       int          // cells whose result existed when the search was created
	Result      *eval.Result // once done; lists leave it out
	Created     time.Time
	Started     time.Time // zero while queued
	Finished    time.Time // zero until ended
}

// NewSearch holds the settings of a new search.
type NewSearch struct {
	Dataset     string        // id of a data set of the workspace; may be empty
	Data        *dataset.Data // the points
	DatasetName string        // name of Data without a data set
	Spec        ml.Spec
	Grid        eval.Grid
	Drawn       *eval.Drawn // as of a Search
	Scheme      eval.Scheme
	Axes        [2]string // as of a Run
	Request     Request   // as of a NewRun
}

// Design returns the settings that the search tries.
func (s Search) Design() eval.Design { return designOf(s.Grid, s.Drawn) }

// Try sets the design of the search.
func (n *NewSearch) Try(design eval.Design) {
	n.Grid, _ = design.(eval.Grid)
	n.Drawn, _ = design.(*eval.Drawn)
}

func designOf(grid eval.Grid, drawn *eval.Drawn) eval.Design {
	if drawn != nil {
		return drawn
	}
	return grid
}

// Limits of one search and of unfinished searches: per workspace, enough for a comparison on
// folds, and in total, enough for a whole course.
const (
	maxCells         = 10_000
	maxDealt         = 10_000_000 // rows, summed over all splits
	maxSearchingEach = 20
	MaxSearching     = 200
)

// CreateSearch queues a search. Cells with a stored result are not computed
// again; if all have one, the search is done at once. Errors: param.Problems and *param.Refusal for
// an invalid n, ErrNotFound for its data set, ErrReused, ErrSearching, ErrQueueFull.
func (s *Store) CreateSearch(ctx context.Context, ws Workspace, n NewSearch) (found Search, err error) {
	pts, err := encode(n.Data)
	if err != nil {
		return found, err
	}
	p, err := s.planSearch(ctx, n, pts)
	if err != nil {
		return found, err
	}
	n = p.NewSearch
	request, err := n.Request.of(n.Dataset, n.DatasetName, p.points.hash, n.Spec, designOf(n.Grid, n.Drawn), n.Scheme, n.Axes)
	if err != nil {
		return found, err
	}
	return result(ctx, s.update, func(tx *transaction) Search {
		if there, ok := repeated(tx, "searches", ws, request, findSearch); ok {
			return there
		}
		s.share(tx, ws, `searches WHERE study IS NULL AND `+notEnded, maxSearchingEach, ErrSearching, MaxSearching)
		s.room(tx, ws, 0, 0)
		writePoints(tx, p.points)
		return findSearch(tx, `id = ?`, s.insert(tx, ws, request, p))
	})
}

// plannedSearch is a search ready to be stored.
type plannedSearch struct {
	NewSearch
	plan   []byte   // compressed
	names  []string // of its cells
	points points
	known  *outcome // outcome if all cells are known; computed before the transaction, which blocks other writers
}

// planSearch plans a search of encoded points and looks up its outcome.
func (s *Store) planSearch(ctx context.Context, n NewSearch, pts points) (plannedSearch, error) {
	p, plan, err := planned(n, pts)
	if err == nil {
		p.known, err = s.knownOutcome(ctx, plan, p.names)
	}
	return p, err
}

// planned plans a search of encoded points.
func planned(n NewSearch, pts points) (p plannedSearch, plan *eval.Plan, err error) {
	if _, err := cellsOf(n); err != nil {
		return p, nil, err
	}
	if plan, err = eval.NewPlan(n.Data, n.Spec, designOf(n.Grid, n.Drawn), n.Scheme); err != nil {
		return p, nil, err
	}
	spec, design := eval.Settled(n.Scheme.Settled(n.Data, n.Spec), designOf(n.Grid, n.Drawn))
	n.Spec = spec
	n.Try(design)
	p.NewSearch = n
	p.points = pts
	if p.names, err = plan.Names(); err != nil {
		return p, nil, err
	}
	if cells := len(p.names); cells > maxCells { // including the folds' own settings
		return p, nil, tooManyCells(cells)
	}
	p.plan, err = zipJSON(plan)
	return p, plan, err
}

// insert queues a search whose points are already stored and returns its id. A search whose outcome
// is known is done at once.
func (s *Store) insert(tx *transaction, ws Workspace, request string, p plannedSearch) string {
	id := newID()
	name := cmp.Or(oneLine(p.DatasetName), "unsaved data")
	if p.Dataset != "" {
		tx.annotate("data set", func() { name = findDataset(tx, `workspace = ? AND id = ?`, ws, p.Dataset).Name })
	}
	cost := ml.CostOf(p.Data, p.Spec)
	tx.exec(`
		INSERT INTO searches (id, workspace, dataset, dataset_name, hash, spec, grid, drawn, scheme, axes, plan, status, known, created, work, memory, request)
		VALUES (?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, 'queued', 0, ?, ?, ?, nullif(?, ''))`,
		id, ws, p.Dataset, name, p.points.hash, asJSON(&p.Spec), asJSON(&p.Grid), asJSON(&p.Drawn), asJSON(&p.Scheme), asJSON(&p.Axes), p.plan, s.now(), cost.Time.Milliseconds(), cost.Bytes, request)
	tx.exec(`
		INSERT INTO cells (search, place, name, done)
		SELECT ?, key, value, EXISTS (SELECT 1 FROM results WHERE cell = value) FROM json_each(?)`, id, asJSON(&p.names))
	tx.exec(`UPDATE searches SET known = (SELECT count(*) FROM cells WHERE search = id AND done = 1) WHERE id = ?`, id)
	finishSearch(tx, id, p.known, s.now())
	return id
}

// cellsOf returns the number of cells of a search without planning it and without refinements in
// its folds. It refuses a search that is too large.
func cellsOf(n NewSearch) (int, error) {
	sc := n.Scheme
	rows := len(n.Data.Y)
	var ps param.Problems
	if sc.Folds < 2 && !sc.LeaveOneOut && sc.HoldOut == 0 && sc.Column == "" {
		ps.Add("folds", "folds expects a whole number of at least 2, not %d", sc.Folds)
	}
	if sc.Repeats < 1 {
		ps.Add("repeats", "repeats expects a whole number of at least 1, not %d", sc.Repeats)
	}
	if len(ps) > 0 {
		return 0, ps
	}
	// Each factor is bounded first, so that no product overflows.
	tooMany := param.Problems{{Field: "folds", Message: fmt.Sprintf("too many trainings: %s on %d rows; use fewer folds or repeats", dealt(sc), rows)}}
	if sc.Folds > maxCells || sc.Repeats > maxCells {
		return 0, tooMany
	}
	splits, err := sc.Count(n.Data)
	if err != nil {
		return 0, err
	}
	if splits > maxCells || splits*rows > maxDealt {
		return 0, tooMany
	}
	paths, err := designOf(n.Grid, n.Drawn).Paths(n.Spec)
	if err != nil {
		return 0, err
	}
	cells := len(paths) * splits
	if cells > maxCells {
		return 0, tooManyCells(cells)
	}
	return cells, nil
}

func tooManyCells(n int) error {
	return param.Problems{{Field: "grid", Message: fmt.Sprintf("the search has %d cells, one for each split and setting apart from C; at most %d are allowed: use fewer values, folds or repeats", n, maxCells)}}
}

// dealt describes the folds of a scheme for a message.
func dealt(s eval.Scheme) string {
	switch {
	case s.LeaveOneOut:
		return "leave-one-out"
	case s.Column != "":
		return "a fold for each value of " + s.Column
	case s.HoldOut > 0:
		return fmt.Sprintf("%d random splits", s.Repeats)
	}
	return fmt.Sprintf("%d folds with %d repeats", s.Folds, s.Repeats)
}

// Search returns one search of a workspace with its result.
func (s *Store) Search(ctx context.Context, ws Workspace, id string) (Search, error) {
	return result(ctx, s.view, func(tx *transaction) Search { return findSearch(tx, `workspace = ? AND id = ?`, ws, id) })
}

// Reached returns the settings scored on all folds so far, for a running search or one that ended
// early.
func (s *Store) Reached(ctx context.Context, id string) (*eval.Result, error) {
	var plan *eval.Plan
	results, err := result(ctx, s.view, func(tx *transaction) []eval.CellResult {
		plan = readPlan(tx, id)
		return readResults(tx, id)
	})
	if err != nil {
		return nil, err
	}
	return plan.Reached(results) // slow, hence outside the transaction
}

// Searches lists at most limit searches of a workspace from offset on, newest first and without
// those of studies, and returns their total number.
func (s *Store) Searches(ctx context.Context, ws Workspace, limit, offset int) (list []Search, total int, err error) {
	const listed = `workspace = ? AND study IS NULL`
	return counted(ctx, s, func(tx *transaction) []Search {
		return searchesOf(tx, listed+` ORDER BY created DESC, rowid DESC LIMIT ? OFFSET ?`, ws, limit, offset)
	}, `searches WHERE `+listed, ws)
}

// UnderWay lists the unfinished searches of a workspace, oldest first and without those of
// studies.
func (s *Store) UnderWay(ctx context.Context, ws Workspace) ([]Search, error) {
	return result(ctx, s.view, func(tx *transaction) []Search {
		return searchesOf(tx, `workspace = ? AND study IS NULL AND `+notEnded+` ORDER BY created, rowid`, ws)
	})
}

// DeleteSearch deletes a search and the results of its cells that no other search shares. Runs
// made from it stay. For a search of a study it returns ErrStudied.
func (s *Store) DeleteSearch(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *transaction) {
		search := findSearch(tx, `workspace = ? AND id = ?`, ws, id)
		if tx.exists(`searches WHERE id = ? AND study IS NOT NULL`, id) {
			tx.fail(ErrStudied)
		}
		deleteSearch(tx, search)
	})
}

// CancelSearch cancels a queued or running search; it returns ErrEnded if it has ended.
func (s *Store) CancelSearch(ctx context.Context, ws Workspace, id string) error {
	return s.update(ctx, func(tx *transaction) {
		value[int](tx, `SELECT 1 FROM searches WHERE workspace = ? AND id = ?`, ws, id)
		if len(s.endSearches(tx, Cancelled, "", `id = ?`, id)) == 0 {
			tx.fail(ErrEnded)
		}
	})
}

// endSearches ends the unfinished searches among some, with a message for their owners, and returns
// their ids. Their cells become available to other searches.
func (s *Store) endSearches(tx *transaction, status Status, message, where string, args ...any) []string {
	ids := texts(tx, `UPDATE searches SET status = ?, error = ?, finished = ? WHERE `+notEnded+` AND `+where+` RETURNING id`, append([]any{status, message, s.now()}, args...)...)
	if len(ids) > 0 {
		tx.exec(`UPDATE cells SET lease = 0 WHERE search IN (SELECT value FROM json_each(?)) AND done = 0 AND lease <> 0`, asJSON(&ids))
	}
	return ids
}

// Cell is a cell leased to an owner; workers receive it in the same form.
type Cell struct {
	Search string `json:"search"` // id
	Place  int    `json:"place"`  // among the cells of the plan
	Name   string `json:"cell"`   // by content
}

// freeCell selects available cells c. Its arguments, by number, are the time and the owner. A cell
// being computed for another search under the same name is not available.
const freeCell = `c.done = 0 AND (c.lease < ?1 AND c.owner <> ?2 OR c.lease = 0)
	AND NOT EXISTS (SELECT 1 FROM cells twin WHERE twin.name = c.name AND twin.search <> c.search AND twin.lease >= ?1)`

// searching selects the searches with an available cell.
const searching = `SELECT id, rowid AS row, workspace, created, work, memory FROM searches WHERE ` + notEnded + `
	AND EXISTS (SELECT 1 FROM cells c WHERE c.search = id AND ` + freeCell + `)`

// ClaimCell leases an available cell of a search to an owner. ok is false if there is none, or if
// MaxAttempts owners have died computing the next one: the search then fails.
func (s *Store) ClaimCell(ctx context.Context, owner Owner, search string) (c Cell, ok bool, err error) {
	err = s.note(ctx, func(tx *transaction) { c, ok = s.nextCell(tx, owner, search) })
	return c, ok && err == nil, err
}

// OpenCells returns those of names that are cells of unfinished searches without a result.
func (s *Store) OpenCells(ctx context.Context, names []string) ([]string, error) {
	return listed(ctx, s, column[string], `SELECT DISTINCT name FROM cells CROSS JOIN searches ON id = search
		WHERE name IN (SELECT value FROM json_each(?)) AND done = 0 AND `+notEnded, asJSON(&names))
}

// PlanOf returns the plan and points of a search of any workspace: callers have the id from
// ClaimCell.
func (s *Store) PlanOf(ctx context.Context, search string) (plan *eval.Plan, d *dataset.Data, err error) {
	var hash string
	err = s.view(ctx, func(tx *transaction) {
		tx.one(`SELECT hash, plan FROM searches WHERE id = ?`, search)(&hash, unzipJSON(&plan))
	})
	if err != nil {
		return nil, nil, err
	}
	d, err = s.Data(ctx, hash)
	return plan, d, err
}

// FinishCells stores results of cells, unless already known or no longer needed, and returns the
// unfinished searches they belong to: the count of a cancelled search stays as it was. Searches
// without remaining cells become done. Since every owner computes the same result, ownership is not
// checked.
func (s *Store) FinishCells(ctx context.Context, results ...eval.CellResult) ([]string, error) {
	return result(ctx, s.update, func(tx *transaction) (searches []string) {
		for _, r := range results {
			tx.exec(`INSERT INTO results (cell, folds, seconds) SELECT ?1, ?2, nullif(?3, 0) WHERE EXISTS (SELECT 1 FROM cells WHERE name = ?1) ON CONFLICT DO NOTHING`,
				r.Cell, asJSON(&r.Folds), r.Seconds)
			searches = append(searches, texts(tx, `UPDATE cells SET done = 1, lease = 0 WHERE name = ? AND done = 0
				AND EXISTS (SELECT 1 FROM searches WHERE id = search AND `+notEnded+`) RETURNING search`, r.Cell)...)
		}
		slices.Sort(searches)
		searches = slices.Compact(searches)
		for _, id := range searches {
			finishSearch(tx, id, nil, s.now())
		}
		return searches
	})
}

// FailCell ends the searches that wait for a cell that cannot be computed, with a message for their
// owners, and returns their ids.
func (s *Store) FailCell(ctx context.Context, name, message string) ([]string, error) {
	return result(ctx, s.update, func(tx *transaction) []string {
		return s.endSearches(tx, Failed, message, `id IN (SELECT search FROM cells WHERE name = ? AND done = 0)`, name)
	})
}

// ReleaseCell returns a cell leased to owner. The attempt counts if a worker died, but not on
// shutdown or if the search has turned out to be heavier.
func (s *Store) ReleaseCell(ctx context.Context, owner Owner, c Cell, died bool, as Weight) error {
	return s.note(ctx, func(tx *transaction) {
		tx.exec(`UPDATE searches SET work = max(work, ?) WHERE id = ?`, leastWork[as], c.Search)
		tx.exec(`UPDATE cells SET lease = 0, attempts = attempts - iif(?, 0, 1) WHERE search = ? AND place = ? AND owner = ? AND done = 0`, died, c.Search, c.Place, owner)
	})
}

// countCells selects the total and the computed number of cells of a search.
const countCells = `(SELECT count(*) FROM cells WHERE search = id), (SELECT count(*) FROM cells WHERE search = id) - (SELECT count(*) FROM cells WHERE search = id AND done = 0)`

const searchColumns = `id, coalesce(study, ''), coalesce((SELECT datasets.id FROM datasets WHERE datasets.id = searches.dataset AND datasets.deleted IS NULL), ''), dataset_name, hash, spec, grid, drawn, scheme, axes, status, error, known, created, started, finished, ` + countCells

// scanSearch scans searchColumns and then more.
func scanSearch(r row, s *Search, more ...any) error {
	spec := storedSpec{&s.Spec}
	return r.Scan(append([]any{
		&s.ID, &s.Study, &s.Dataset, &s.DatasetName, &s.Hash, spec, asJSON(&s.Grid), asJSON(&s.Drawn), asJSON(&s.Scheme), asJSON(&s.Axes),
		&s.Status, &s.Error, &s.Known, asMillis(&s.Created), asMillis(&s.Started), asMillis(&s.Finished), &s.Total, &s.Done,
	}, more...)...)
}

func findSearch(tx *transaction, where string, args ...any) Search {
	return find(tx, func(r row, s *Search) error { return scanSearch(r, s, unzipJSON(&s.Result)) }, `SELECT `+searchColumns+`, result FROM searches WHERE `+where, args...)
}

// searchesOf lists searches without their results.
func searchesOf(tx *transaction, where string, args ...any) []Search {
	return listOf(tx, func(r row, s *Search) error { return scanSearch(r, s) }, `SELECT `+searchColumns+` FROM searches WHERE `+where, args...)
}

func (s *Store) nextCell(tx *transaction, owner Owner, search string) (c Cell, ok bool) {
	var attempts int
	if !tx.queryFirst(func(r row) error { return r.Scan(&c.Search, &c.Place, &c.Name, &attempts) }, `
		SELECT c.search, c.place, c.name, c.attempts FROM cells c CROSS JOIN searches ON id = search
		WHERE search = ?3 AND `+notEnded+` AND `+freeCell+` ORDER BY c.place LIMIT 1`, s.now(), owner, search) {
		return c, false
	}
	if attempts >= MaxAttempts {
		s.endSearches(tx, Failed, fmt.Sprintf("The program stopped %d times while it computed one cell of this search. The data may be too large for this machine.", MaxAttempts), `id = ?`, search)
		return c, false
	}
	tx.exec(`UPDATE cells SET attempts = attempts + 1, owner = ?, lease = ? WHERE search = ? AND place = ?`, owner, leaseEnd(s.now()), c.Search, c.Place)
	tx.exec(`UPDATE searches SET status = 'running', started = coalesce(started, ?1) WHERE id = ?2 AND status = 'queued'`, s.now(), c.Search)
	return c, true
}

// outcome is the final state of a search whose cells are all computed.
type outcome struct {
	result []byte // compressed; nil: it has failed
	reason string // why, for its owner
	of     *eval.Result
}

func outcomeOf(plan *eval.Plan, results []eval.CellResult) (o outcome, err error) {
	res, err := plan.Reduce(results)
	if message, ok := param.ForPerson(err); ok {
		return outcome{reason: message}, nil
	}
	if err == nil {
		o.of = res
		o.result, err = zipJSON(res)
	}
	return o, err
}

// knownOutcome returns the outcome of a plan, nil unless all its cells are computed.
func (s *Store) knownOutcome(ctx context.Context, plan *eval.Plan, names []string) (*outcome, error) {
	results, err := result(ctx, s.view, func(tx *transaction) []eval.CellResult {
		if n := value[int](tx, `SELECT count(*) FROM json_each(?) CROSS JOIN results ON cell = value`, asJSON(&names)); n < len(names) {
			return nil
		}
		return listOf(tx, scanResult, `SELECT cell, folds, coalesce(seconds, 0) FROM json_each(?) CROSS JOIN results ON cell = value ORDER BY key`, asJSON(&names))
	})
	if err != nil || results == nil {
		return nil, err
	}
	o, err := outcomeOf(plan, results)
	return &o, err
}

// finishSearch ends an unfinished search without remaining cells. known is its outcome if already
// determined, else nil.
func finishSearch(tx *transaction, id string, known *outcome, now int64) {
	if !value[bool](tx, `SELECT `+notEnded+` AND NOT EXISTS (SELECT 1 FROM cells WHERE search = id AND done = 0) FROM searches WHERE id = ?`, id) {
		return
	}
	if known == nil {
		plan, results := readPlan(tx, id), readResults(tx, id)
		if tx.err != nil {
			return
		}
		o, err := outcomeOf(plan, results)
		tx.fail(err)
		known = &o
	}
	status := lists.Either(known.result == nil, Failed, Done)
	tx.exec(`UPDATE searches SET status = ?1, result = ?2, error = ?3, started = coalesce(started, ?4), finished = ?4 WHERE id = ?5`, status, known.result, known.reason, now, id)
	if known.of != nil {
		keepEvidence(tx, id, known.of)
	}
}

// mostEvidence is the largest number of cross-validations stored with a run.
const mostEvidence = 8

// keepEvidence stores a search's evidence for its best setting with the runs of its workspace that
// have the same setting and points, regardless of what they hold out.
func keepEvidence(tx *transaction, id string, res *eval.Result) {
	if !tx.exists(`searches WHERE id = ? AND study IS NULL`, id) {
		return
	}
	s := findSearch(tx, `id = ?`, id)
	if tx.err != nil {
		return
	}
	found := eval.EvidenceOf(id, s.Scheme, res, res.Best)
	spec := eval.OfSetting(s.Spec, res.Settings[res.Best].Values)
	keep := byKey(tx, func(r row, run *string, all *[]eval.Evidence) error {
		err := r.Scan(run, storedEvidence{all})
		*all = withEvidence(*all, found)
		return err
	}, `SELECT id, evidence FROM runs WHERE workspace = (SELECT workspace FROM searches WHERE id = ?) AND hash = ?
		AND json_remove(spec, '$.test_fraction') = json_remove(?, '$.test_fraction')`, id, s.Hash, asJSON(&spec))
	for run, all := range keep {
		tx.exec(`UPDATE runs SET evidence = ? WHERE id = ?`, asJSON(&all), run)
	}
}

// withEvidence merges evidence; on the same folds, more replaces old.
func withEvidence(old, more []eval.Evidence) []eval.Evidence {
	all := append(slices.Clone(more), lists.Filter(old, func(e eval.Evidence) bool {
		return !slices.ContainsFunc(more, func(m eval.Evidence) bool { return m.SameFolds(e) && (e.Optimistic || !m.Optimistic) })
	})...)
	eval.SortEvidence(all)
	return all[:min(len(all), mostEvidence)]
}

func readPlan(tx *transaction, id string) (plan *eval.Plan) {
	tx.one(`SELECT plan FROM searches WHERE id = ?`, id)(unzipJSON(&plan))
	return plan
}

// readResults returns the results of a search's computed cells.
func readResults(tx *transaction, id string) []eval.CellResult {
	return listOf(tx, scanResult, `SELECT cell, folds, coalesce(seconds, 0) FROM cells CROSS JOIN results ON cell = name WHERE search = ? AND done = 1 ORDER BY place`, id)
}

func scanResult(r row, to *eval.CellResult) error {
	return r.Scan(&to.Cell, asJSON(&to.Folds), &to.Seconds)
}

func deleteSearch(tx *transaction, s Search) {
	tx.exec(`
		DELETE FROM results WHERE cell IN (SELECT name FROM cells WHERE search = ?1)
		AND NOT EXISTS (SELECT 1 FROM cells WHERE name = results.cell AND search <> ?1)`, s.ID)
	tx.exec(`DELETE FROM searches WHERE id = ?`, s.ID)
	dropPoints(tx, s.Hash) // the foreign key deletes the cells
}
