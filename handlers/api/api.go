// Package api serves the JSON API, described by openapi.json.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web"
)

// BodyBytes bounds the JSON body of a request.
const BodyBytes = 1 << 20

// Handler serves the JSON API.
type Handler struct {
	*frame.Base
	description func() (map[string]any, error)        // built on first use
	parameters  func() (map[string]parameters, error) // of queries, by operation
}

// New returns the handler of the API.
func New(h *frame.Base) *Handler {
	description := sync.OnceValues(Description)
	return &Handler{h, description, sync.OnceValues(func() (map[string]parameters, error) {
		doc, err := description()
		if err != nil {
			return nil, err
		}
		return described(doc), nil
	})}
}

// Dataset is a data set in JSON.
type Dataset struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Origin   string    `json:"origin"`
	Hash     string    `json:"hash"`
	Kind     string    `json:"kind"` // of the rows: vectors, precomputed, strings, graphs
	Rows     int       `json:"rows"`
	Features []string  `json:"features"`
	Label    string    `json:"label"`
	Target   string    `json:"target"`            // what the labels look like, as in a spec: class or value
	Classes  []string  `json:"classes,omitempty"` // empty for numeric targets
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

func newDataset(s store.Dataset) Dataset {
	d := Dataset{s.ID, s.Name, s.Origin, s.Hash, string(s.Kind), s.Rows, s.Features, s.Label, "class", s.Classes, s.Created, s.Updated}
	if dataset.Measured(s.Classes, s.Rows) {
		d.Target, d.Classes = "value", nil
	}
	return d
}

// Datasets lists the data sets of the workspace.
func (a *Handler) Datasets(w http.ResponseWriter, r *http.Request) error {
	return all(w, r, "datasets", a.Store.Datasets, newDataset)
}

// rows reads the file in the body, or at the URL in the query, and also returns its name. Columns
// that the query leaves open are detected. Without a label in the query, the label of the replaced
// data is kept.
func (a *Handler) rows(w http.ResponseWriter, r *http.Request, q url.Values, name, label string) (d *dataset.Data, file string, err error) {
	if k := q.Get("kind"); k != "" {
		if err := results.Choice("kind", dataset.Kinds()).Check(k); err != nil {
			return nil, "", param.Problems{{Field: "kind", Message: err.Error()}}
		}
	}
	proposed, err := proposedColumns(q)
	if err != nil {
		return nil, "", err
	}
	missing := dataset.Missing(q.Get("missing"))
	switch {
	case missing == "" && !proposed:
		missing = dataset.MissingError
	case missing != "" && !slices.Contains(dataset.Missings, missing):
		return nil, "", param.Problems{{Field: "missing", Message: "missing expects error, drop or median"}}
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return nil, "", web.Errorf(web.Unsupported, "Send the file itself as the body, not a form with the file in it.")
	}
	var columns ml.Spec // for its notation of lists
	if err := columns.Set("features", q.Get("features")); err != nil {
		return nil, "", err
	}
	var body io.Reader
	var leave func()
	if address := q.Get("url"); address != "" {
		body, file, leave, err = a.FetchedBody(w, r, address)
	} else {
		file = name
		body, leave, err = a.Body(w, r)
	}
	if err != nil {
		return nil, "", err
	}
	defer leave()
	t, err := dataset.ParseSheet(body, file, q.Get("sheet"), a.Limits)
	if err != nil {
		return nil, "", frame.FileError(err)
	}
	m := dataset.Mapping{Kind: dataset.Kind(q.Get("kind")), Label: cmp.Or(q.Get("label"), label), Features: columns.Features, Proposed: proposed, Missing: missing}
	d, err = t.Data(m)
	if wrong, ok := errors.AsType[*dataset.Error](err); ok && !proposed && m.Features == nil {
		m.Proposed = true
		if taken, err := t.Data(m); err == nil && taken.Objects == nil {
			wrong.Message += fmt.Sprintf("; columns=proposed uses %s as features", strings.Join(taken.Features, ", "))
		}
	}
	if err != nil {
		return nil, "", frame.FileError(err)
	}
	return d, file, nil
}

// proposedColumns reports whether features left open are chosen as an upload page would propose.
func proposedColumns(q url.Values) (bool, error) {
	switch of := q.Get("columns"); {
	case of != "" && of != "all" && of != "proposed":
		return false, param.Problems{{Field: "columns", Message: "columns expects all or proposed"}}
	case of != "" && q.Get("features") != "":
		return false, param.Problems{{Field: "columns", Message: "columns and features exclude each other: send one of them"}}
	default:
		return of == "proposed", nil
	}
}

// CreateDataset stores the file in the body.
func (a *Handler) CreateDataset(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	name := results.NameOf(q.Get("name"), "")
	d, file, err := a.rows(w, r, q, name, "")
	if err != nil {
		return err
	}
	name = results.NameOf(q.Get("name"), file)
	return a.createDataset(w, r, name, frame.OriginOf("uploaded "+file, d), d)
}

func (a *Handler) createDataset(w http.ResponseWriter, r *http.Request, name, origin string, d *dataset.Data) error {
	set, err := a.Store.CreateDatasetOnce(r.Context(), frame.Workspace(r.Context()), frame.RequestOf(r), name, origin, d)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/datasets/"+set.ID)
	return web.JSON(w, http.StatusCreated, newDataset(set))
}

// ReplaceRows replaces the rows of a data set by the file in the body. Runs keep theirs.
func (a *Handler) ReplaceRows(w http.ResponseWriter, r *http.Request, set store.Dataset) error {
	d, _, err := a.rows(w, r, r.URL.Query(), "rows", set.Label)
	if err != nil {
		return err
	}
	if set, err = a.Store.ReplaceData(r.Context(), frame.Workspace(r.Context()), set.ID, d); err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, newDataset(set))
}

// GenerateDataset stores data drawn by a generator.
func (a *Handler) GenerateDataset(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Generator  string       `json:"generator"`
		Parameters param.Values `json:"parameters"`
		Name       string       `json:"name"`
	}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	g, err := dataset.FindGenerator(asked.Generator)
	if err != nil {
		return err
	}
	d, err := g.Generate(asked.Parameters)
	if err != nil {
		return err
	}
	return a.createDataset(w, r, cmp.Or(asked.Name, g.Title(asked.Parameters)), g.Origin(asked.Parameters), d)
}

// Dataset sends a data set.
func (a *Handler) Dataset(w http.ResponseWriter, _ *http.Request, set store.Dataset) error {
	return web.JSON(w, http.StatusOK, newDataset(set))
}

// UpdateDataset renames a data set and sends it.
func (a *Handler) UpdateDataset(w http.ResponseWriter, r *http.Request) error {
	var change struct {
		Name string `json:"name"`
	}
	if err := web.ReadJSON(w, r, BodyBytes, &change); err != nil {
		return err
	}
	if err := a.Store.RenameDataset(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id"), change.Name); err != nil {
		return err
	}
	return web.With(frame.ByID(a.Store.Dataset), a.Dataset)(w, r)
}

// Run is a run in JSON.
type Run struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Tags        []string        `json:"tags"`
	Note        string          `json:"note"`
	Status      store.Status    `json:"status"`
	Error       string          `json:"error,omitempty"`
	Dataset     string          `json:"dataset,omitempty"`
	DatasetName string          `json:"dataset_name"`
	DataHash    string          `json:"data_hash"`
	Spec        ml.Spec         `json:"spec"`
	Seed        uint64          `json:"seed"`
	Search      string          `json:"search,omitempty"`        // that chose the settings; possibly deleted
	Evidence    []eval.Evidence `json:"evidence,omitempty"`      // cross-validations of the settings, the best first
	Best        string          `json:"best_evidence,omitempty"` // in words
	Created     time.Time       `json:"created"`
	Started     time.Time       `json:"started,omitzero"`
	Finished    time.Time       `json:"finished,omitzero"`
	Report      *ml.Report      `json:"report,omitempty"`
}

func newRun(r store.Run) Run {
	return Run{
		r.ID, r.Name, r.Tags, r.Note, r.Status, r.Error, r.Dataset, r.DatasetName, r.Hash, r.Spec, r.Spec.Seed, r.Search, r.Evidence, results.BestEvidence(r).String(),
		r.Created, r.Started, r.Finished, r.Report,
	}
}

// Runs lists the runs that match the query.
func (a *Handler) Runs(w http.ResponseWriter, r *http.Request) error {
	return part(w, r, "runs", a.Store.Runs, newRun)
}

// CreateRun queues a run and responds without waiting for it.
func (a *Handler) CreateRun(w http.ResponseWriter, r *http.Request) error {
	asked := struct {
		Dataset string   `json:"dataset"`
		Spec    ml.Spec  `json:"spec"`
		Name    string   `json:"name"`
		Tags    []string `json:"tags"`
		Note    string   `json:"note"`
	}{Spec: ml.DefaultSpec()}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	points, err := a.points(r, asked.Dataset)
	if err != nil {
		return err
	}
	n := store.NewRun{Name: asked.Name, Tags: asked.Tags, Note: asked.Note, Spec: asked.Spec, DatasetName: points.Name, Data: points.Data, Request: frame.RequestOf(r)}
	if frame.IsStored(asked.Dataset) {
		n.Dataset = asked.Dataset
	}
	run, err := a.Enqueue(r.Context(), frame.Workspace(r.Context()), n)
	return accepted(w, err, "/api/runs/", RunStatus{run.ID, run.Status})
}

// points returns the data named in a request.
func (a *Handler) points(r *http.Request, id string) (frame.Points, error) {
	points, err := a.Source(r.Context(), id)
	switch {
	case id == "" || err == nil && points.Data == nil:
		return points, param.Problems{{Field: "dataset", Message: "dataset expects the id of a data set or the name of a built-in one"}}
	case errors.Is(err, store.ErrNotFound):
		return points, web.Errorf(web.NotFound, "There is no data set %q in this workspace, and no built-in one of that name.", id)
	}
	return points, err
}

// RunStatus is the short form of a run or search.
type RunStatus struct {
	ID     string       `json:"id"`
	Status store.Status `json:"status"`
}

// accepted sends the short form of what was queued, unless there was an error.
func accepted(w http.ResponseWriter, err error, path string, queued RunStatus) error {
	if err != nil {
		return err
	}
	w.Header().Set("Location", path+queued.ID)
	return web.JSON(w, http.StatusAccepted, queued)
}

// Run sends a run with its report, waiting for its end if the request asks to.
func (a *Handler) Run(w http.ResponseWriter, r *http.Request, run store.Run) (err error) {
	if !run.Status.Ended() && r.Method == http.MethodGet {
		if err := a.await(r, run.ID); err != nil {
			return err
		}
		if run, err = a.Store.RunWithoutModels(r.Context(), frame.Workspace(r.Context()), run.ID); err != nil {
			return err
		}
	}
	return web.JSON(w, http.StatusOK, newRun(run))
}

// UpdateRun changes name, tags and note of a run; omitted fields stay.
func (a *Handler) UpdateRun(w http.ResponseWriter, r *http.Request, run store.Run) error {
	var change struct { // nil: omitted
		Name *string   `json:"name"`
		Tags *[]string `json:"tags"`
		Note *string   `json:"note"`
	}
	if err := web.ReadJSON(w, r, BodyBytes, &change); err != nil {
		return err
	}
	if err := a.Store.UpdateRun(r.Context(), frame.Workspace(r.Context()), run.ID, change.Name, change.Note, change.Tags); err != nil {
		return err
	}
	return web.With(frame.ByID(a.Store.RunWithoutModels), a.Run)(w, r)
}

// chosenRuns names runs by ids or by a query, which chooses all if it is empty.
type chosenRuns struct {
	Runs  []string `json:"runs"`
	Where *string  `json:"where"`
}

// changeChosen changes the runs that a request chooses, and sends their ids.
func (a *Handler) changeChosen(w http.ResponseWriter, r *http.Request, chosen chosenRuns, change func(ids []string) error) error {
	ids := chosen.Runs
	if (chosen.Where == nil) == (ids == nil) {
		return param.Problems{{Field: "runs", Message: "give either runs, a list of ids, or where, a query"}}
	}
	if chosen.Where != nil {
		var err error
		if ids, err = a.Store.RunsWhere(r.Context(), frame.Workspace(r.Context()), *chosen.Where); err != nil {
			return err
		}
	}
	err := change(ids)
	if missing, is := errors.AsType[*store.ItemError](err); is && errors.Is(err, store.ErrNotFound) {
		return web.Errorf(web.NotFound, "There is no %s in this workspace: it may have been deleted. Nothing was changed.", missing.Item)
	}
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, map[string]any{"runs": append([]string{}, ids...)})
}

// TagRuns adds tags to several runs and removes others.
func (a *Handler) TagRuns(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		chosenRuns
		Add    []string `json:"add"`
		Remove []string `json:"remove"`
	}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	return a.changeChosen(w, r, asked.chosenRuns, func(ids []string) error {
		return a.Store.TagRuns(r.Context(), frame.Workspace(r.Context()), ids, asked.Add, asked.Remove)
	})
}

// DeleteRuns deletes several runs and stops their training.
func (a *Handler) DeleteRuns(w http.ResponseWriter, r *http.Request) error {
	var asked chosenRuns
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	return a.changeChosen(w, r, asked, func(ids []string) error {
		return a.Jobs.Delete(r.Context(), frame.Workspace(r.Context()), ids)
	})
}

// all sends a workspace's objects of a kind with frame.SendList.
func all[Row, JSON any](w http.ResponseWriter, r *http.Request, name string, read func(context.Context, store.Workspace) ([]Row, error), as func(Row) JSON) error {
	rows, err := read(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	return frame.SendList(w, r, name, rows, as)
}

// part writes the page of rows that the request selects.
func part[Row, JSON any](w http.ResponseWriter, r *http.Request, name string, read func(context.Context, store.Workspace, store.Filter) ([]Row, int, error), as func(Row) JSON) error {
	f, err := results.RunFilter(r.URL.Query())
	if err != nil {
		return err
	}
	rows, total, err := read(r.Context(), frame.Workspace(r.Context()), f)
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, map[string]any{name: lists.Map(rows, as), "total": total, "limit": f.Limit, "offset": f.Offset})
}

// page is a list read by limit and offset alone, for part.
func page[Row any](read func(_ context.Context, _ store.Workspace, limit, offset int) ([]Row, int, error)) func(context.Context, store.Workspace, store.Filter) ([]Row, int, error) {
	return func(ctx context.Context, ws store.Workspace, f store.Filter) ([]Row, int, error) {
		return read(ctx, ws, f.Limit, f.Offset)
	}
}
