package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
)

// Status is the state of a run.
type Status string

// A run goes from queued to running to one of the last three.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Done      Status = "done"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Ended reports whether the status is final.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Run holds a training: its settings, progress and result.
type Run struct {
	ID           string
	Name         string
	Note         string
	Tags         []string
	Dataset      string // id; empty if the data set was deleted
	DatasetName  string // current or last name
	Hash         string // hash of the training points
	Spec         ml.Spec
	Axes         [2]string // columns shown in its plots; "pca" first: principal components; empty: the first two
	Status       Status
	Error        string     // of a failed run, for its owner
	Report       *ml.Report // once done
	Model        *ml.Model  // once done; lists leave it out
	Before       *ml.Model  // of a conformal run: the model with the original kernel
	Scores       *mat.Dense // as in an ml.Result, like ScoresBefore
	ScoresBefore *mat.Dense
	Course       string          // code of the course under which it was made; empty: none
	Search       string          // id of the search that selected the settings, possibly deleted; empty: none
	Evidence     []eval.Evidence // cross-validations of its settings, best first
	Share        string          // token of the read-only link, empty when not shared
	Created      time.Time
	Started      time.Time // zero while queued
	Finished     time.Time // zero until ended
}

// NewRun holds the settings of a new run.
type NewRun struct {
	Name        string // empty: made from spec and data set
	Note        string
	Tags        []string
	Dataset     string        // id of a data set of the workspace; may be empty when Data is given
	Data        *dataset.Data // the points; nil: the current ones of the data set
	DatasetName string        // name of Data without a data set
	Spec        ml.Spec
	Axes        [2]string       // as in a Run
	Course      string          // as in a Run
	Search      string          // as in a Run
	Evidence    []eval.Evidence // as in a Run
	Request     Request         // makes it idempotent
}

// Limits of waiting runs, per workspace and in total.
const (
	MaxQueuedEach = 50
	maxQueued     = 2000

	// spareHandins submissions of a workspace may wait in addition.
	spareHandins = 10
)

// CreateRun queues a run. Errors: param.Problems for faults of n,
// ErrNotFound for its data set, ErrReused, ErrTooMany, ErrQueueFull.
func (s *Store) CreateRun(ctx context.Context, ws Workspace, n NewRun) (r Run, err error) {
	q, err := prepare(n, "")
	if err != nil {
		return r, err
	}
	return result(ctx, s.update, func(tx *transaction) Run {
		if r, ok := repeated(tx, "runs", ws, q.request, findRun); ok {
			return r
		}
		// Submitted copies take no place.
		s.share(tx, ws, `runs WHERE `+notEnded+` AND status = 'queued' AND NOT EXISTS (SELECT 1 FROM handins WHERE run = id)`, MaxQueuedEach, ErrTooMany, maxQueued)
		s.room(tx, ws, 0, 1)
		return createRun(tx, ws, q, s.now())
	})
}

// prepared is a validated new run, ready to be stored.
type prepared struct {
	Run
	request string // empty: not idempotent
	points  points // none: those of the data set
	cost    ml.Cost
}

// prepare validates and encodes a run outside any transaction. who is the student's name, if it
// is submitted.
func prepare(n NewRun, who string) (q prepared, err error) {
	var ps param.Problems
	name := limited(&ps, "name", oneLine(n.Name), maxName)
	note := cleanNote(&ps, n.Note)
	tags := cleanTags(&ps, n.Tags)
	if n.Dataset == "" && n.Data == nil {
		ps.Add("dataset", "Choose the data set to train on.")
	}
	if err := n.Spec.Validate(); err != nil {
		bad, ok := err.(param.Problems)
		if !ok {
			return q, err
		}
		ps = append(ps, bad...)
	}
	if len(ps) > 0 {
		return q, ps
	}
	if q.points, err = encode(n.Data); err != nil {
		return q, err
	}
	if n.Data != nil {
		q.cost = ml.CostOf(n.Data, n.Spec)
	}
	q.Run = Run{
		ID: newID(), Name: name, Note: note, Tags: tags, Dataset: n.Dataset, DatasetName: cmp.Or(oneLine(n.DatasetName), "unsaved data"),
		Hash: q.points.hash, Spec: n.Spec, Axes: n.Axes, Course: n.Course, Search: n.Search, Evidence: n.Evidence, Status: Queued,
	}
	q.request, err = n.Request.of(who, name, note, tags, n.Dataset, q.DatasetName, q.Hash, n.Spec, n.Axes, n.Course)
	return q, err
}

func createRun(tx *transaction, ws Workspace, q prepared, now int64) Run {
	r := q.Run
	r.Created = fromMillis(now)
	if r.Dataset != "" {
		tx.annotate("data set", func() {
			ds := findDataset(tx, `workspace = ? AND id = ?`, ws, r.Dataset)
			r.DatasetName, r.Hash = ds.Name, cmp.Or(r.Hash, ds.Hash)
		})
	}
	if r.Name == "" {
		r.Name = defaultName(tx, ws, r)
	}
	writePoints(tx, q.points)
	tx.exec(`
		INSERT INTO runs (id, workspace, name, note, tags, dataset, dataset_name, hash, spec, axes, course, search, evidence, status, created, work, memory, request)
		VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''))`,
		r.ID, ws, r.Name, r.Note, asJSON(&r.Tags), r.Dataset, r.DatasetName, r.Hash, asJSON(&r.Spec), asJSON(&r.Axes), r.Course, r.Search, asJSON(&r.Evidence), r.Status, now, q.cost.Time.Milliseconds(), q.cost.Bytes, q.request)
	return r
}

// defaultName returns an unused name that starts with the differences from the last run, such as
// "MCM, ρ 0.01, γ 3 · moons".
func defaultName(tx *transaction, ws Workspace, r Run) string {
	var last *ml.Spec
	if spec, ok := lookup(tx, func(r row, spec *ml.Spec) error { return r.Scan(storedSpec{spec}) }, `SELECT spec FROM runs WHERE workspace = ? ORDER BY created DESC, rowid DESC LIMIT 1`, ws); ok {
		last = &spec
	}
	settings, data := []rune(r.Spec.Name(last)), []rune(r.DatasetName)
	const numbers = 8 // characters for the number after duplicate names
	settings = settings[:min(len(settings), maxName-numbers-maxName/4)]
	if most := maxName - numbers - len(settings); len(data) > most {
		data = append(data[:most-4], '…')
	}
	name := string(settings) + " · " + string(data)
	taken := texts(tx, `SELECT name FROM runs WHERE workspace = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name`, ws, name) // at once, since there may be thousands
	for try, n := name, 2; ; n++ {
		if _, found := slices.BinarySearch(taken, try); !found {
			return try
		}
		try = fmt.Sprintf("%s (%d)", name, n)
	}
}

// Run returns one run of a workspace with its models.
func (s *Store) Run(ctx context.Context, ws Workspace, id string) (Run, error) {
	return result(ctx, s.view, func(tx *transaction) Run { return findWhole(tx, `workspace = ? AND id = ?`, ws, id) })
}

// RunWithoutModels returns one run of a workspace, quickly.
func (s *Store) RunWithoutModels(ctx context.Context, ws Workspace, id string) (Run, error) {
	return result(ctx, s.view, func(tx *transaction) Run { return findRun(tx, `workspace = ? AND id = ?`, ws, id) })
}

// WithModels returns a run that was read without models together with them.
func (s *Store) WithModels(ctx context.Context, r Run) (Run, error) {
	return result(ctx, s.view, func(tx *transaction) Run {
		if readModels(tx, &r); r.Model == nil { // deleted since
			tx.fail(ErrNotFound)
		}
		return r
	})
}

// SharedRunWithoutModels returns the run that a token of ShareRun opens, quickly.
func (s *Store) SharedRunWithoutModels(ctx context.Context, token string) (Run, error) {
	return result(ctx, s.view, func(tx *transaction) Run { return findRun(tx, `share = ? AND deleted IS NULL`, token) })
}

// SharedRun returns the run that a token of ShareRun opens, with its models.
func (s *Store) SharedRun(ctx context.Context, token string) (Run, error) {
	return result(ctx, s.view, func(tx *transaction) Run { return findWhole(tx, `share = ? AND deleted IS NULL`, token) })
}

// UpdateRun changes the name, note and tags of a run; nil leaves one as it is.
func (s *Store) UpdateRun(ctx context.Context, ws Workspace, id string, name, note *string, tags *[]string) error {
	var ps param.Problems
	if name != nil {
		name = new(required(&ps, "name", oneLine(*name), maxName))
	}
	if note != nil {
		note = new(cleanNote(&ps, *note))
	}
	var labels any // NULL without tags
	if tags != nil {
		labels = asJSON(new(cleanTags(&ps, *tags)))
	}
	if err := ps.Err(); err != nil {
		return err
	}
	return s.change(ctx, `UPDATE runs SET name = coalesce(?, name), note = coalesce(?, note), tags = coalesce(?, tags) WHERE workspace = ? AND id = ?`,
		name, note, labels, ws, id)
}

// DeleteRuns deletes several runs, or none if one of them does not exist. Restore undoes this,
// except for submissions to a course.
func (s *Store) DeleteRuns(ctx context.Context, ws Workspace, ids []string) error {
	return s.update(ctx, func(tx *transaction) {
		if !strings.HasPrefix(string(ws), "course ") { // not a gallery
			s.softDelete(tx, "runs", "id", ws, ids...)
			return
		}
		for _, id := range ids {
			tx.annotate("run "+id, func() { deleteRun(tx, ws, id) })
		}
	})
}

// ShareRun returns the token of a run's read-only link: 130 random bits. A run
// that is shared already keeps its token.
func (s *Store) ShareRun(ctx context.Context, ws Workspace, id string) (token string, err error) {
	return s.addLink(ctx, "runs", ws, id)
}

// UnshareRun permanently disables the read-only link of a run.
func (s *Store) UnshareRun(ctx context.Context, ws Workspace, id string) error {
	return s.removeLink(ctx, "runs", ws, id)
}

// addLink returns the token of a row's read-only link, creating it if necessary.
func (s *Store) addLink(ctx context.Context, table string, ws Workspace, id string) (token string, err error) {
	return result(ctx, s.update, func(tx *transaction) string {
		return value[string](tx, `UPDATE `+table+` SET share = coalesce(share, ?) WHERE workspace = ? AND id = ? RETURNING share`, strings.ToLower(rand.Text()), ws, id)
	})
}

// removeLink removes the token of a row.
func (s *Store) removeLink(ctx context.Context, table string, ws Workspace, id string) error {
	return s.change(ctx, `UPDATE `+table+` SET share = NULL WHERE workspace = ? AND id = ?`, ws, id)
}

const runColumns = `id, name, note, tags, coalesce((SELECT datasets.id FROM datasets WHERE datasets.id = runs.dataset AND datasets.deleted IS NULL), ''), dataset_name, hash, spec, axes, status, error, report, course, search, evidence, coalesce(share, ''), created, started, finished`

func scanRun(r row, to *Run) error {
	return r.Scan(&to.ID, &to.Name, &to.Note, asJSON(&to.Tags), &to.Dataset, &to.DatasetName, &to.Hash, storedSpec{&to.Spec}, asJSON(&to.Axes), &to.Status, &to.Error,
		storedReport{&to.Report}, &to.Course, &to.Search, storedEvidence{&to.Evidence}, &to.Share, asMillis(&to.Created), asMillis(&to.Started), asMillis(&to.Finished))
}

// storedSpec scans a spec regardless of changed bounds and names.
type storedSpec struct{ spec *ml.Spec }

func (s storedSpec) Scan(src any) (err error) {
	text, _ := src.(string)
	*s.spec, err = ml.ReadStoredSpec([]byte(text))
	return err
}

// storedEvidence scans evidence, ignoring fields whose type has changed.
type storedEvidence struct{ all *[]eval.Evidence }

func (s storedEvidence) Scan(src any) error {
	if err := asJSON(s.all).Scan(src); err != nil {
		*s.all = nil
	}
	return nil
}

// storedReport scans a report, ignoring fields whose type has changed.
type storedReport struct{ report **ml.Report }

func (s storedReport) Scan(src any) error {
	if err := asJSON(s.report).Scan(src); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return err
	}
	return nil
}

func findRun(tx *transaction, where string, args ...any) Run {
	return find(tx, scanRun, `SELECT `+runColumns+` FROM runs WHERE `+where, args...)
}

func findWhole(tx *transaction, where string, args ...any) Run {
	r := findRun(tx, where, args...)
	readModels(tx, &r)
	return r
}

func deleteRun(tx *transaction, ws Workspace, id string) {
	dropPoints(tx, value[string](tx, `DELETE FROM runs WHERE workspace = ? AND id = ? RETURNING hash`, ws, id)) // the foreign key deletes the models
}

// encodedResult is a result ready to be stored.
type encodedResult struct {
	report string
	models map[string]encodedModel // by part
}

// encodedModel is a model (gzipped JSON) and its scores on the data (a gzipped matrix); nil: not
// stored.
type encodedModel struct{ model, scores []byte }

// encodeResult encodes a result outside any transaction, since it takes time.
func encodeResult(res *ml.Result) (encodedResult, error) {
	report, err := json.Marshal(res.Report)
	if err != nil {
		return encodedResult{}, fmt.Errorf("report: %w", err)
	}
	e := encodedResult{string(report), map[string]encodedModel{}}
	if e.models["model"], err = encodeModel(res.Model, res.Scores); err != nil {
		return e, fmt.Errorf("model: %w", err)
	}
	if res.Before == nil {
		return e, nil
	}
	if e.models["before"], err = encodeModel(res.Before, res.ScoresBefore); err != nil {
		return e, fmt.Errorf("before: %w", err)
	}
	return e, nil
}

func encodeModel(m *ml.Model, scores *mat.Dense) (e encodedModel, err error) {
	text, err := json.Marshal(m)
	if err != nil {
		return e, err
	}
	if e.model, err = compress(text); err != nil || scores == nil {
		return e, err
	}
	values, err := scores.MarshalBinary()
	if err != nil {
		return e, err
	}
	e.scores, err = compress(values)
	return e, err
}

// insertModels stores the models of a finished run and ends the copies waiting for it.
func insertModels(tx *transaction, run string, e encodedResult) {
	for part, m := range e.models {
		tx.exec(`INSERT INTO models (run, part, model, scores) VALUES (?, ?, ?, ?)`, run, part, m.model, m.scores)
	}
	endCopies(tx)
}

func readModels(tx *transaction, r *Run) {
	tx.each(func(row row) error {
		var part string
		var e encodedModel
		if err := row.Scan(&part, &e.model, &e.scores); err != nil {
			return err
		}
		m, scores, err := e.decode()
		if err != nil {
			return fmt.Errorf("%s of run %s: %w", part, r.ID, err)
		}
		if part == "before" {
			r.Before, r.ScoresBefore = m, scores
		} else {
			r.Model, r.Scores = m, scores
		}
		return nil
	}, `SELECT part, model, scores FROM models WHERE run = ?`, r.ID)
}

func (e encodedModel) decode() (*ml.Model, *mat.Dense, error) {
	text, err := decompress(e.model)
	if err != nil {
		return nil, nil, err
	}
	m, err := ml.ReadStoredModel(text)
	if err != nil || e.scores == nil {
		return m, nil, err
	}
	values, err := decompress(e.scores)
	if err != nil {
		return nil, nil, err
	}
	scores := new(mat.Dense)
	return m, scores, scores.UnmarshalBinary(values)
}
