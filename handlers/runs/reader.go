package runs

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	runsview "marginlab/views/runs"
	"marginlab/web"
)

// Reader shows the runs of a collection: pages, pictures and comparisons. It does not change them.
type Reader struct {
	*frame.Base
	shelf func(*http.Request) (results.Collection, error)
	find  func(context.Context, store.Workspace, string) (store.Run, error) // with models
	quick func(context.Context, store.Workspace, string) (store.Run, error) // without models
}

// NewReader returns a Reader of the runs in the collection that shelf returns for a request.
func NewReader(h *frame.Base, shelf func(*http.Request) (results.Collection, error)) *Reader {
	return &Reader{h, shelf, h.Store.Run, h.Store.RunWithoutModels}
}

// Run finds the run of the request's path.
func (a *Reader) Run(r *http.Request) (store.Run, error) { return a.run(r, a.find) }

// RunWithoutModels is Run without models.
func (a *Reader) RunWithoutModels(r *http.Request) (store.Run, error) { return a.run(r, a.quick) }

func (a *Reader) run(r *http.Request, find func(context.Context, store.Workspace, string) (store.Run, error)) (store.Run, error) {
	from, err := a.shelf(r)
	if err != nil {
		return store.Run{}, err
	}
	run, err := find(r.Context(), from.Workspace, chi.URLParam(r, "id"))
	return from.Shown(run), err
}

// Page shows a finished run.
func (a *Reader) Page(w http.ResponseWriter, r *http.Request, run store.Run) error {
	from, err := a.shelf(r)
	if err != nil {
		return err
	}
	if !run.Status.Ended() {
		return frame.Redirect(w, r, from.Base+"#gallery")
	}
	p, err := a.view(r, run, from.Base+"/runs/"+run.ID+"/figures/")
	if err != nil {
		return err
	}
	p.Page = a.Frame(run.Name, "")
	p.Bare, p.Gallery, p.GalleryTitle = true, from.Base+"#gallery", from.Title
	return a.Render(w, r, runsview.RunPage(p))
}

// At sends the model's prediction at a place in a run's picture.
func (a *Reader) At(w http.ResponseWriter, r *http.Request, run store.Run) error {
	q := r.URL.Query()
	shown, err := a.Base.Run(r.Context(), run, q, pictures.Options{})
	if err != nil {
		return err
	}
	place, err := pictures.At(r.Context(), shown, q, [2]string{"s", "t"})
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, place)
}

// Figure sends a picture of a run found without models, which are read only to draw it.
func (a *Reader) Figure(w http.ResponseWriter, r *http.Request, run store.Run) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	o := pictures.ReadOptions(q)
	if err := o.ForPrint(q); err != nil {
		return err
	}
	return a.SendPrint(w, r, pictures.RunSheet(keyOf(run, q), name, format, o, func(ctx context.Context) (figure.Run, error) {
		run, err := a.Store.WithModels(ctx, run)
		if err != nil {
			return figure.Run{}, err
		}
		return a.Base.Run(ctx, run, q, o)
	}))
}

// keyOf returns a cache key of a run and a query; finished runs do not change.
func keyOf(run store.Run, q url.Values) string {
	return fmt.Sprintf("run %s %s %q %q %q", run.ID, run.Status, q.Get("x"), q.Get("y"), q.Get("near"))
}

// view returns the part of a run's page that is also on its shared page.
func (a *Reader) view(r *http.Request, run store.Run, figures string) (runsview.Run, error) {
	p := runsview.Run{
		ID: run.ID, Name: run.Name, Note: run.Note, Tags: strings.Join(run.Tags, ", "), Status: string(run.Status), Message: results.Sentence(run.Error),
		Data: run.DatasetName, Created: results.When(run.Created), Hash: run.Hash[:12], Settings: results.Settings(run.Spec, run.Report), Reproduce: results.CommandLine(run.Spec, run.DatasetName),
	}
	if run.Status == store.Queued {
		var err error
		if p.Waits, err = a.Waits(r.Context(), run.ID); err != nil {
			return p, err
		}
	}
	p.Evidence = results.EvidenceRows(run, nil)
	if run.Status != store.Done {
		return p, nil
	}
	q := r.URL.Query()
	o := pictures.ReadOptions(q)
	if o.Coarse > 0 {
		o.Size(r) // the size of the replaced picture
	}
	shown, err := a.Base.Run(r.Context(), run, q, o)
	if err != nil {
		return p, err
	}
	kept := only(q, "x", "y", "show", "slack", "cores", "limits")
	if o.Coarse > 0 {
		p.Answer, err = a.Preview(r.Context(), shown, figures, kept.Encode())
		return p, err
	}
	if p.Answer, err = a.Answer(r.Context(), shown, keyOf(run, kept), o, figures, kept.Encode(), false); err != nil {
		return p, err
	}
	p.Facts, p.Answer.Numbers = p.Answer.Numbers, nil // beside the picture
	switch run.EvidenceKind() {
	case store.FromNested, store.FromFolds: // rather than the result on held-out points
		best := results.BestEvidence(run)
		p.Answer.Headline[0] = views.Headline{Label: results.Capital(best.Scheme), Value: best.Score, Note: "95\u00a0% CI " + best.Interval}
	}
	p.At, p.Movable, p.Limits = strings.TrimSuffix(figures, "figures/")+"at", shown.Data.Kind() == dataset.KindVectors, q.Get("limits")
	if shown.Data.Objects != nil {
		p.Answer.Points.Near = "?near="
		if shown.Data.Kind() == dataset.KindGraphs {
			pictures.DrawGraphs(&p.Answer.Points, figures, "objects", "near=")
		}
		if p.Near, err = a.near(r.Context(), shown, q.Get("near"), figures); err != nil {
			return p, err
		}
	}
	if _, flat := run.Model.View(); !flat && len(run.Model.Features) > 0 {
		p.Axes = pictures.AxisOptions(run.Model.Features)
		p.AxisX, p.AxisY = figure.Axes(run.Model.Features, shown.X, shown.Y)
	}
	return p, nil
}
