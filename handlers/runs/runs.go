// Package runs serves saved runs: lists, pages, comparisons, read-only links.
package runs

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	runsview "marginlab/views/runs"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Handler serves a workspace's runs.
type Handler struct{ *Reader }

// New returns the handler of a workspace's runs.
func New(h *frame.Base) *Handler { return &Handler{NewReader(h, own)} }

// own returns the runs of the request's workspace.
func own(r *http.Request) (results.Collection, error) {
	return results.Collection{Workspace: frame.Workspace(r.Context())}, nil
}

// Row returns a run as a row of a list.
func Row(r store.Run) runsview.RunRow {
	row := runsview.RunRow{
		ID: r.ID, Name: r.Name, Learner: learnerText(r.Spec), Kernel: results.KernelText(r.Spec, r.Report),
		Status: string(r.Status), Tags: r.Tags, Note: r.Note,
	}
	switch {
	case r.Spec.Applies("C"):
		row.C = views.Short(r.Spec.Values.Number("C"))
	case r.Spec.Applies("hard_margin") && r.Spec.Values.Switch("hard_margin"):
		row.C = "hard"
	}
	if rep := r.Report; rep != nil {
		if len(rep.Machines) > 0 {
			p, _ := ml.Param("multiclass")
			row.Learner += ", " + results.OptionLabel(p, r.Spec.Multiclass)
		}
		row.Train, row.Test = results.Scores(rep)
		best := results.BestEvidence(r)
		if row.Estimate, row.EstimateOf = best.Score, best.Scheme; best.Interval != "" {
			row.EstimateOf = best.Interval + " · " + best.Scheme
		}
		name, what := pictures.ListFigure(rep)
		row.Thumb = pictures.Thumbnail("/runs/"+r.ID+"/figures/", name, "", what+" of "+r.Name)
	}
	return row
}

// learnerText returns a learner with its parameters that have no column.
func learnerText(s ml.Spec) string {
	i := slices.IndexFunc(ml.Learners, func(l ml.Learner) bool { return l.Name == s.Learner })
	if i < 0 {
		return s.Learner
	}
	text := ml.Learners[i].Label
	for _, p := range ml.Learners[i].Params {
		if p.Telling && p.Name != "C" && p.Name != "hard_margin" {
			text += ", " + p.Symbol + " " + views.Short(s.Values.Number(p.Name))
		}
	}
	return text
}

// Page shows a run with its actions.
func (a *Handler) Page(w http.ResponseWriter, r *http.Request, run store.Run) error {
	return a.show(w, r, run, nil, nil)
}

// show shows a run with the problems of a form, and predictions for new rows, if any.
func (a *Handler) show(w http.ResponseWriter, r *http.Request, run store.Run, problems param.Problems, predicted *runsview.Predicted) error {
	p, err := a.view(r, run, "/runs/"+run.ID+"/figures/")
	if err != nil {
		return err
	}
	p.Page = a.Frame(run.Name, "runs")
	p.Clone = "/lab?" + cloneQuery(run).Encode()
	if run.Report != nil && (run.Report.Rule == ml.Sign || run.Report.Rule == "") && ml.HasRegularisation(run.Spec, run.Report.TrainN) {
		p.Path = "/path?" + cloneQuery(run).Encode()
	}
	if changes(run) {
		p.Change = "/runs/" + run.ID + "/change"
		if p.Changes, err = a.knownChange(r.Context(), run); err != nil {
			return err
		}
	}
	if run.Course != "" {
		if err := a.runInCourse(r, run, &p, problems); err != nil {
			return err
		}
	}
	if run.Dataset != "" {
		p.DataHref = "/datasets/" + run.Dataset
	}
	linked, err := a.LinkedSearches(r.Context(), run)
	if err != nil {
		return err
	}
	p.Evidence = results.EvidenceRows(run, linked)
	if run.Search != "" {
		switch there, err := a.Store.States(r.Context(), run.Search); {
		case err != nil:
			return err
		case len(there) > 0:
			p.SearchHref = "/searches/" + run.Search
		}
	}
	if run.Share != "" {
		p.ShareURL = a.Links.Origin(r) + "/shared/" + run.Share
		if p.ShareQR, err = pictures.QR(r.Context(), p.ShareURL); err != nil {
			return err
		}
	}
	if run.Status == store.Done {
		if p.Report, err = a.AddToReport(r.Context(), "/runs/"+run.ID); err != nil {
			return err
		}
	}
	if run.Model != nil {
		p.Use = a.use(run, a.Links.Origin(r))
		p.Use.Predicted = predicted
	}
	p.TagList = run.Tags
	p.Errors = map[string]string{}
	for _, q := range problems {
		p.Errors[q.Field] = results.Sentence(q.Message)
	}
	if r.PostForm.Has("name") {
		p.Name, p.Tags, p.Note = r.PostFormValue("name"), r.PostFormValue("tags"), r.PostFormValue("note")
	}
	switch {
	case p.Errors["handin"] != "":
		w.WriteHeader(http.StatusConflict)
	case len(problems) > 0 || predicted != nil && predicted.Error != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.Render(w, r, runsview.RunPage(p))
}

// cloneQuery returns the query that opens the lab in the state of a run. If its points are no
// longer those of a data set, the query refers to the run's.
func cloneQuery(run store.Run) url.Values {
	return frame.LabQuery(run.Spec, cmp.Or(run.Dataset, frame.OfRun+run.ID), run.Axes)
}

// Update changes name, tags and note of a run.
func (a *Handler) Update(w http.ResponseWriter, r *http.Request, run store.Run) error {
	err := a.Store.UpdateRun(r.Context(), frame.Workspace(r.Context()), run.ID, new(r.PostFormValue("name")), new(r.PostFormValue("note")), new(splitTags(r.PostFormValue("tags"))))
	if ps, ok := errors.AsType[param.Problems](err); ok {
		return a.show(w, r, run, ps, nil)
	}
	return frame.Done(w, r, "/runs/"+run.ID, err)
}

func splitTags(text string) (tags []string) {
	for t := range strings.SplitSeq(text, ",") {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// Predictions writes the data with the model's prediction for each row.
func (a *Handler) Predictions(w http.ResponseWriter, r *http.Request, run store.Run) error {
	if run.Model == nil {
		return store.ErrNotFound
	}
	data, err := a.Store.Data(r.Context(), run.Hash)
	if err != nil {
		return err
	}
	points, err := results.ResultOf(run).Points(r.Context(), run.Model, data, run.Spec)
	if err != nil {
		return err
	}
	return sendPredictions(w, r, run, func(to io.Writer) error { return run.Model.WritePoints(to, points) })
}

// runInCourse adds the parts about the course to a run's page. The lab link reopens the course,
// with points that the course would not provide as text. Problems with submitting are shown beside
// the form.
func (a *Handler) runInCourse(r *http.Request, run store.Run, p *runsview.Run, problems param.Problems) error {
	ctx := r.Context()
	c, err := a.Store.Course(ctx, run.Course)
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted; show the run without it
	}
	if err != nil {
		return err
	}
	in, err := a.InCourse(ctx, c)
	if err != nil {
		return err
	}
	in.Who = cmp.Or(r.FormValue("who"), in.Who)
	in.WhoError, in.Refused = problems.For("who"), problems.For("handin")
	p.Course = in
	q := cloneQuery(run)
	q.Set("course", c.Code)
	if frame.On("/lab", c).Fixes("data") {
		given, err := a.Source(ctx, frame.Preset(c).Get("data"))
		if err != nil {
			return err
		}
		if given.Hash != run.Hash {
			d, err := a.Store.Data(ctx, run.Hash)
			if err != nil {
				return err
			}
			var text strings.Builder
			drawn := *d
			drawn.Given = nil // drawn points have no missing values
			if err := drawn.Encode(&text); err != nil {
				return err
			}
			q.Set("points", text.String())
		}
	}
	if clone := "/lab?" + q.Encode(); len(clone) < frame.LongestLink {
		p.Clone = clone
	}
	return nil
}

// HandIn submits a saved run to its course. If it is refused, the run's page says why.
func (a *Handler) HandIn(w http.ResponseWriter, r *http.Request) error {
	id := chi.URLParam(r, "id")
	err := a.Deliver(r, id)
	if errors.Is(err, store.ErrNames) {
		err = param.Problems{{Field: "who", Message: err.Error()}}
	}
	var wrong param.Problems
	var refused *store.Error
	switch {
	case err == nil:
		return frame.Redirect(w, r, "/runs/"+id+"#hand-in")
	case errors.As(err, &wrong):
	case errors.As(err, &refused) && refused.Kind() == web.Conflict:
		wrong = param.Problems{{Field: "handin", Message: err.Error()}}
	default:
		return err
	}
	run, seen := a.Run(r)
	if seen != nil {
		return seen
	}
	if run.Course == "" { // there is no form for the problem
		return err
	}
	return a.show(w, r, run, wrong, nil)
}

// Events streams the state of a run: its current status, then the progress of the solver
// and every change of status, until the run ends.
func (a *Handler) Events(w http.ResponseWriter, r *http.Request) error {
	events, err := a.Jobs.Subscribe(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	var told store.Status
	return web.Stream(w, r, events, func(e jobs.Event) (string, any) {
		if e.Status != told { // a status takes precedence over a step
			told, e.Step = e.Status, nil
		}
		return e.Message()
	})
}
