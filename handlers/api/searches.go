package api

import (
	"net/http"
	"strconv"
	"time"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web"
)

// Search is a search in JSON. Done and Total count the cells computed, each a path of
// settings on one split; Cells holds the settings, as in cv --json.
type Search struct {
	ID          string         `json:"id"`
	Status      store.Status   `json:"status"`
	Error       string         `json:"error,omitempty"`
	Dataset     string         `json:"dataset,omitempty"`
	DatasetName string         `json:"dataset_name"`
	DataHash    string         `json:"data_hash"`
	Spec        ml.Spec        `json:"spec"`
	Grid        eval.Grid      `json:"grid"`
	Drawn       *eval.Drawn    `json:"drawn,omitempty"`
	Folds       int            `json:"folds"`
	Repeats     int            `json:"repeats"`
	LeaveOneOut bool           `json:"leave_one_out,omitempty"`
	HoldOut     float64        `json:"hold_out,omitempty"`
	FoldColumn  string         `json:"fold_column,omitempty"`
	Shares      []float64      `json:"shares,omitempty"`
	Seed        uint64         `json:"seed"`
	Score       string         `json:"score"`
	Done        int            `json:"done"`
	Total       int            `json:"total"`
	Known       int            `json:"known"`
	Created     time.Time      `json:"created"`
	Started     time.Time      `json:"started,omitzero"`
	Finished    time.Time      `json:"finished,omitzero"`
	Searched    []string       `json:"searched,omitempty"`
	Cells       []eval.Setting `json:"cells,omitempty"`
	Best        *int           `json:"best,omitempty"`
	OneError    *int           `json:"one_standard_error,omitempty"`
	Nested      *eval.Nested   `json:"nested,omitempty"`

	Confusion []ml.ClassReport    `json:"confusion,omitempty"`
	Learning  []eval.LearningStep `json:"learning,omitempty"`
	Warning   string              `json:"warning,omitempty"`
}

func newSearch(s store.Search) Search {
	j := Search{
		ID: s.ID, Status: s.Status, Error: s.Error, Dataset: s.Dataset, DatasetName: s.DatasetName, DataHash: s.Hash,
		Spec: s.Spec, Grid: s.Grid, Drawn: s.Drawn, Folds: s.Scheme.Folds, Repeats: s.Scheme.Repeats, Seed: s.Scheme.Seed,
		LeaveOneOut: s.Scheme.LeaveOneOut, HoldOut: s.Scheme.HoldOut, FoldColumn: s.Scheme.Column, Shares: s.Scheme.Learning, Score: results.RankedBy(s).Name,
		Done: s.Done, Total: s.Total, Known: s.Known, Created: s.Created, Started: s.Started, Finished: s.Finished,
	}
	if j.Grid == nil {
		j.Grid = eval.Grid{}
	}
	if r := s.Result; r != nil {
		one := r.WithinOneError()
		j.Searched, j.Best, j.OneError, j.Nested, j.Confusion, j.Learning = r.Searched, &r.Best, &one, r.Nested, r.Confusion, r.Learning
		j.Warning = s.Scheme.Warning(r)
	}
	return j
}

// Searches lists the searches of the workspace, newest first, without their cells.
func (a *Handler) Searches(w http.ResponseWriter, r *http.Request) error {
	return part(w, r, "searches", page(a.Store.Searches), newSearch)
}

// CreateSearch queues a search and responds without waiting for it.
func (a *Handler) CreateSearch(w http.ResponseWriter, r *http.Request) error {
	asked := struct {
		Dataset string    `json:"dataset"`
		Spec    ml.Spec   `json:"spec"`
		Grid    eval.Axes `json:"grid"`
		Design  string    `json:"design"`
		Points  int       `json:"points"`
		Folds   int       `json:"folds"`
		Repeats int       `json:"repeats"`
		Nested  bool      `json:"nested"`
		Seed    *uint64   `json:"seed"`
		Score   string    `json:"score"`

		LeaveOneOut bool    `json:"leave_one_out"`
		HoldOut     float64 `json:"hold_out"`
		FoldColumn  string  `json:"fold_column"`

		Shares []float64 `json:"shares"`
	}{Spec: ml.DefaultSpec(), Folds: 5, Repeats: 1, Points: defaultPoints}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	points, err := a.points(r, asked.Dataset)
	if err != nil {
		return err
	}
	n := store.NewSearch{
		Spec: asked.Spec, DatasetName: points.Name, Data: points.Data,
		Request: frame.RequestOf(r),
		Scheme: eval.Scheme{
			Folds: asked.Folds, Repeats: asked.Repeats, Nested: asked.Nested, Seed: asked.Spec.Seed, Score: asked.Score,
			LeaveOneOut: asked.LeaveOneOut, HoldOut: asked.HoldOut, Column: asked.FoldColumn, Learning: asked.Shares,
		},
	}
	if asked.Seed != nil {
		n.Scheme.Seed = *asked.Seed
	}
	design, err := asked.Grid.Design(asked.Design, asked.Points, n.Scheme.Seed)
	if err != nil {
		return err
	}
	n.Try(design)
	if frame.IsStored(asked.Dataset) {
		n.Dataset = asked.Dataset
	}
	s, err := a.Base.Search(r.Context(), frame.Workspace(r.Context()), n)
	return accepted(w, err, "/api/searches/", RunStatus{s.ID, s.Status})
}

// defaultPoints is the default of eval.PointsParam.
const defaultPoints = 32

// SearchAgain queues a follow-up to an ended search: finer around its best setting, the same with
// nested folds, or the rest of a cancelled one.
func (a *Handler) SearchAgain(w http.ResponseWriter, r *http.Request, s store.Search) error {
	var asked struct {
		How string `json:"how"`
	}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	next, err := a.Base.SearchAgain(r.Context(), frame.Workspace(r.Context()), frame.RequestOf(r), s, asked.How)
	return accepted(w, err, "/api/searches/", RunStatus{next.ID, next.Status})
}

// Search sends a search: its progress, and the settings scored so far.
func (a *Handler) Search(w http.ResponseWriter, r *http.Request, under store.Search) error {
	cells := r.URL.Query().Get("cells")
	if cells != "" && cells != "all" && cells != "none" {
		return param.Problems{{Field: "cells", Message: "cells must be all or none, not " + strconv.Quote(cells)}}
	}
	if !under.Status.Ended() {
		if err := a.await(r, under.ID); err != nil {
			return err
		}
	}
	if cells == "none" {
		s, err := a.Store.Search(r.Context(), frame.Workspace(r.Context()), under.ID)
		if err != nil {
			return err
		}
		return web.JSON(w, http.StatusOK, newSearch(s))
	}
	s, err := a.FindSearch(r.Context(), frame.Workspace(r.Context()), under.ID)
	if err != nil {
		return err
	}
	j := newSearch(s.Search)
	j.Cells, j.Learning = s.Settings, s.Learning
	return web.JSON(w, http.StatusOK, j)
}

// SaveCell queues a run with a setting of a search, by default the best, and responds without
// waiting for it.
func (a *Handler) SaveCell(w http.ResponseWriter, r *http.Request, s store.Search) error {
	var asked struct {
		Cell *int `json:"cell"`
	}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	at := 0
	switch {
	case asked.Cell != nil:
		at = *asked.Cell
	case s.Result != nil:
		at = s.Result.Best
	}
	run, err := a.SaveSetting(r.Context(), frame.Workspace(r.Context()), frame.RequestOf(r), s, at)
	return accepted(w, err, "/api/runs/", RunStatus{run.ID, run.Status})
}
