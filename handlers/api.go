package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web"
)

// apiBytes bounds the JSON body of a request.
const apiBytes = 1 << 20

// Rows of the list of runs in one answer.
const (
	apiRows     = 25
	apiMostRows = 200
)

// API installs the routes that programs call. openapi.json describes them.
func (a *App) API(r chi.Router, h func(web.Handler) http.HandlerFunc) {
	r.Get("/openapi.json", h(a.describeAPI))

	r.Get("/datasets", h(a.apiDatasets))
	r.Post("/datasets", h(a.apiCreateDataset))
	r.Get("/datasets/{id}", h(a.apiDataset))
	r.Get("/datasets/{id}.csv", h(a.downloadDataset))
	r.Patch("/datasets/{id}", h(a.apiUpdateDataset))
	r.Delete("/datasets/{id}", h(a.apiDeleteDataset))

	r.Get("/runs", h(a.apiRuns))
	r.Post("/runs", h(a.apiCreateRun))
	r.Get("/runs/{id}", h(a.apiRun))
	r.Patch("/runs/{id}", h(a.apiUpdateRun))
	r.Delete("/runs/{id}", h(a.apiDeleteRun))
	r.Get("/runs/{id}/model.json", h(a.downloadModel))
	r.Get("/runs/{id}/events", h(a.apiRunEvents))
	r.Post("/runs/{id}/cancel", h(a.apiCancelRun))
}

// datasetJSON is a data set in JSON.
type datasetJSON struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Origin   string    `json:"origin"`
	Hash     string    `json:"hash"`
	Rows     int       `json:"rows"`
	Features []string  `json:"features"`
	Label    string    `json:"label"`
	Classes  []string  `json:"classes"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
}

func newDatasetJSON(s store.Dataset) datasetJSON {
	return datasetJSON{s.ID, s.Name, s.Origin, s.Hash, s.Rows, s.Features, s.Label, s.Classes, s.Created, s.Updated}
}

func (a *App) apiDatasets(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	sets, err := a.store.Datasets(r.Context(), workspace(r.Context()))
	if err != nil {
		return err
	}
	list := make([]datasetJSON, len(sets))
	for i, s := range sets {
		list[i] = newDatasetJSON(s)
	}
	return web.JSON(w, http.StatusOK, map[string]any{"datasets": list})
}

// apiCreateDataset stores the file in the body. Nobody is there to be asked about
// the columns: what the query leaves open is guessed.
func (a *App) apiCreateDataset(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "name", "label", "features")
	if err != nil {
		return err
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return web.Errorf(web.Unsupported, "Send the file itself as the body, not a form with the file in it.")
	}
	var columns ml.Spec // for its notation of lists
	if err := columns.Set("features", q.Get("features")); err != nil {
		return err
	}
	name := nameOf(q.Get("name"), "")
	body := http.MaxBytesReader(w, r.Body, a.limits.Bytes)
	d, err := dataset.Read(body, name, dataset.Mapping{Label: q.Get("label"), Features: columns.Features}, a.limits)
	var tooLarge *http.MaxBytesError
	var fault *dataset.Error
	switch {
	case errors.Is(err, dataset.ErrTooLarge):
		return web.Errorf(web.TooLarge, "%v", err)
	case errors.As(err, &tooLarge):
		return err
	case errors.As(err, &fault) && fault.Err != nil:
		return web.Errorf(web.Malformed, "The file did not arrive whole. Nothing was saved. (%w)", fault.Err)
	case err != nil:
		return param.Problems{{Field: "file", Message: err.Error()}}
	}
	set, err := a.store.CreateDataset(r.Context(), workspace(r.Context()), name, "uploaded "+name, d)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/datasets/"+set.ID)
	return web.JSON(w, http.StatusCreated, newDatasetJSON(set))
}

func (a *App) apiDataset(w http.ResponseWriter, r *http.Request) error {
	set, err := a.store.Dataset(r.Context(), workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, newDatasetJSON(set))
}

func (a *App) apiUpdateDataset(w http.ResponseWriter, r *http.Request) error {
	var change struct {
		Name string `json:"name"`
	}
	if err := web.ReadJSON(w, r, apiBytes, &change); err != nil {
		return err
	}
	if err := a.store.RenameDataset(r.Context(), workspace(r.Context()), chi.URLParam(r, "id"), change.Name); err != nil {
		return err
	}
	return a.apiDataset(w, r)
}

func (a *App) apiDeleteDataset(w http.ResponseWriter, r *http.Request) error {
	if err := a.store.DeleteDataset(r.Context(), workspace(r.Context()), chi.URLParam(r, "id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// runJSON is a run in JSON.
type runJSON struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Tags        []string     `json:"tags"`
	Note        string       `json:"note"`
	Status      store.Status `json:"status"`
	Error       string       `json:"error,omitempty"`
	Dataset     string       `json:"dataset,omitempty"`
	DatasetName string       `json:"dataset_name"`
	DataHash    string       `json:"data_hash"`
	Spec        ml.Spec      `json:"spec"`
	Seed        uint64       `json:"seed"`
	Created     time.Time    `json:"created"`
	Started     time.Time    `json:"started,omitzero"`
	Finished    time.Time    `json:"finished,omitzero"`
	Report      *ml.Report   `json:"report,omitempty"`
}

func newRunJSON(r store.Run) runJSON {
	return runJSON{
		r.ID, r.Name, r.Tags, r.Note, r.Status, r.Error, r.Dataset, r.DatasetName, r.Hash, r.Spec, r.Spec.Seed,
		r.Created, r.Started, r.Finished, r.Report,
	}
}

func (a *App) apiRuns(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "q", "learner", "kernel", "conformal", "status", "tag", "sort", "desc", "limit", "offset")
	if err != nil {
		return err
	}
	f, err := runFilter(q)
	if err != nil {
		return err
	}
	runs, total, err := a.store.Runs(r.Context(), workspace(r.Context()), f)
	if err != nil {
		return err
	}
	list := make([]runJSON, len(runs))
	for i, run := range runs {
		list[i] = newRunJSON(run)
	}
	return web.JSON(w, http.StatusOK, map[string]any{"runs": list, "total": total, "limit": f.Limit, "offset": f.Offset})
}

// runFilter reads what the list of runs is asked for. Without an order the latest
// come first.
func runFilter(q url.Values) (store.Filter, error) {
	var ps param.Problems
	wrong := func(field string, err error) {
		if err != nil {
			ps = append(ps, param.Problem{Field: field, Message: err.Error()})
		}
	}
	for _, name := range []string{"learner", "kernel", "conformal"} {
		if p, ok := ml.Param(name); ok && q.Get(name) != "" {
			wrong(name, p.Check(q.Get(name)))
		}
	}
	if s := q.Get("status"); s != "" {
		wrong("status", choice("status", runStatuses).Check(s))
	}
	if s := q.Get("sort"); s != "" {
		wrong("sort", choice("sort", store.SortKeys).Check(s))
	}
	whole := func(name string, otherwise int, low, high float64) int {
		text := q.Get(name)
		if text == "" {
			return otherwise
		}
		wrong(name, param.Param{Name: name, Kind: param.Integer, Min: low, Max: high}.Check(text))
		v, _ := strconv.ParseFloat(text, 64) // Check has parsed it
		return int(v)
	}
	f := store.Filter{
		Query: q.Get("q"), Learner: q.Get("learner"), Kernel: q.Get("kernel"), Conformal: q.Get("conformal"),
		Status: store.Status(q.Get("status")), Tag: q.Get("tag"), Sort: q.Get("sort"), Desc: q.Get("sort") == "",
		Limit: whole("limit", apiRows, 1, apiMostRows), Offset: whole("offset", 0, 0, 1e9),
	}
	if text := q.Get("desc"); text != "" {
		var err error
		if f.Desc, err = strconv.ParseBool(text); err != nil {
			wrong("desc", fmt.Errorf("desc expects true or false, not %q", text))
		}
	}
	return f, ps.Err()
}

// runStatuses in the order that a run goes through them.
var runStatuses = []store.Status{store.Queued, store.Running, store.Done, store.Failed, store.Cancelled}

func choice[T ~string](name string, values []T) param.Param {
	p := param.Param{Name: name, Kind: param.Choice}
	for _, v := range values {
		p.Options = append(p.Options, param.Option{Name: string(v)})
	}
	return p
}

func (a *App) apiCreateRun(w http.ResponseWriter, r *http.Request) error {
	asked := struct {
		Dataset string   `json:"dataset"`
		Spec    ml.Spec  `json:"spec"`
		Name    string   `json:"name"`
		Tags    []string `json:"tags"`
		Note    string   `json:"note"`
	}{Spec: ml.DefaultSpec()}
	if err := web.ReadJSON(w, r, apiBytes, &asked); err != nil {
		return err
	}
	name, d, err := a.source(r.Context(), asked.Dataset)
	switch {
	case asked.Dataset == "" || err == nil && d == nil:
		return param.Problems{{Field: "dataset", Message: "dataset expects the id of a data set or the name of one that comes with the program"}}
	case errors.Is(err, store.ErrNotFound):
		return web.Errorf(web.NotFound, "There is no data set %q in this workspace, and none of that name comes with the program.", asked.Dataset)
	case err != nil:
		return err
	}
	n := store.NewRun{Name: asked.Name, Tags: asked.Tags, Note: asked.Note, Spec: asked.Spec, DatasetName: name, Data: d}
	if (&bench{id: asked.Dataset}).isStored() {
		n.Dataset = asked.Dataset
	}
	run, err := a.enqueue(r.Context(), n)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/runs/"+run.ID)
	return web.JSON(w, http.StatusAccepted, runStatus{run.ID, run.Status})
}

// runStatus is the short answer about a run.
type runStatus struct {
	ID     string       `json:"id"`
	Status store.Status `json:"status"`
}

// enqueue stores a run to be trained in the background, unless its spec does not
// fit its points.
func (a *App) enqueue(ctx context.Context, n store.NewRun) (store.Run, error) {
	if err := ml.Check(n.Data, n.Spec); err != nil {
		return store.Run{}, err
	}
	run, err := a.store.CreateRun(ctx, workspace(ctx), n)
	if err == nil {
		a.jobs.Notify()
	}
	return run, err
}

func (a *App) apiRun(w http.ResponseWriter, r *http.Request) error {
	run, err := a.store.RunWithoutModels(r.Context(), workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, newRunJSON(run))
}

func (a *App) apiUpdateRun(w http.ResponseWriter, r *http.Request) error {
	run, err := a.store.RunWithoutModels(r.Context(), workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	change := struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
		Note string   `json:"note"`
	}{run.Name, slices.Clone(run.Tags), run.Note} // what is left out stays
	if err := web.ReadJSON(w, r, apiBytes, &change); err != nil {
		return err
	}
	if err := a.store.UpdateRun(r.Context(), workspace(r.Context()), run.ID, change.Name, change.Note, change.Tags); err != nil {
		return err
	}
	return a.apiRun(w, r)
}

func (a *App) apiDeleteRun(w http.ResponseWriter, r *http.Request) error {
	if err := a.jobs.Delete(r.Context(), workspace(r.Context()), []string{chi.URLParam(r, "id")}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *App) apiRunEvents(w http.ResponseWriter, r *http.Request) error {
	return a.stream(w, r, chi.URLParam(r, "id"))
}

func (a *App) apiCancelRun(w http.ResponseWriter, r *http.Request) error {
	id := chi.URLParam(r, "id")
	if err := a.jobs.Cancel(r.Context(), workspace(r.Context()), id); err != nil {
		return err
	}
	return web.JSON(w, http.StatusAccepted, runStatus{id, store.Cancelled})
}

// query reads the parameters of a request. One that is not among the names, or is
// given twice, is an error: it would be ignored otherwise.
func query(r *http.Request, names ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, web.Errorf(web.Malformed, "The query of the address cannot be read: %v", err)
	}
	var ps param.Problems
	for name, values := range q {
		switch {
		case !slices.Contains(names, name):
			ps = append(ps, param.Problem{Field: name, Message: name + " is not a parameter of this request"})
		case len(values) > 1:
			ps = append(ps, param.Problem{Field: name, Message: name + " is given more than once"})
		}
	}
	slices.SortFunc(ps, func(a, b param.Problem) int { return strings.Compare(a.Field, b.Field) })
	return q, ps.Err()
}
