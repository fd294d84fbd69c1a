package runs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"gonum.org/v1/gonum/stat"

	"marginlab/handlers/background"
	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	runsview "marginlab/views/runs"
	"marginlab/web"
)

const (
	bandName  = "band" // name of the picture of a sensitivity
	cancelled = "cancelled"

	changeRows = 10   // removals and doubtful rows listed on the page
	doubtful   = 0.95 // fraction of agreeing samples below which a row is doubtful
)

// changes reports whether "what would change this result" is available for a run.
func changes(run store.Run) bool {
	rep := run.Report
	return rep != nil && run.Model != nil && (rep.Rule == ml.Sign || rep.Rule == "") && ml.HasRegularisation(run.Spec, rep.TrainN) && rep.N <= ml.MostSensed && run.Model.Kernel.Definite()
}

// Change shows what would change a run's result.
func (a *Handler) Change(w http.ResponseWriter, r *http.Request, run store.Run) error {
	of, err := a.ChangeOf(r.Context(), run)
	if err != nil {
		return err
	}
	here := of.Page
	following := r.URL.Query().Get("follow")
	p := runsview.Change{Page: a.Frame("What would change "+run.Name, "runs"), Name: run.Name, Run: "/runs/" + run.ID}
	s, job, err := a.Senses.Result(r.Context(), of, following == "", min(background.Prompt, a.Patience))
	switch {
	case errors.Is(err, background.ErrIdle):
		p.Again, p.Problem = here, err.Error()
		if following == cancelled {
			p.Problem = "The computation was cancelled."
		}
	case err != nil:
		if p.Problem, err = results.UserMessage(err); err != nil {
			return err
		}
	case job != nil:
		w.Header().Set("Cache-Control", "no-store")
		p.Follow, p.Progress = here+"?follow=1", background.ProgressOf(*job, here+"/cancel")
	default:
		fillChange(&p, s, of.Data)
		if s.Plane {
			pic := pictures.Linked(here+"/figures/", bandName, "", pictures.MainWidth, pictures.MainHeight, "The boundary with those of the bootstrap samples", "The boundary under "+fmt.Sprint(len(s.Samples))+" bootstrap samples")
			p.Band = &pic
		}
	}
	return a.Render(w, r, runsview.ChangePage(p))
}

// CancelChange cancels the computation, even if its run has been deleted.
func (a *Handler) CancelChange(w http.ResponseWriter, r *http.Request) error {
	token, here := web.Token(r.Context()), "/runs/"+chi.URLParam(r, "id")+"/change"
	id := r.FormValue("id")
	if id == "" { // the list of jobs sends only the page
		for _, j := range a.Senses.UnderWay(token) {
			if j.Page == here {
				id = j.ID
			}
		}
	}
	if id == "" {
		run, err := a.Run(r)
		if err != nil {
			return err
		}
		of, err := a.ChangeOf(r.Context(), run)
		if err != nil {
			return err
		}
		if id, err = of.ID(); err != nil {
			return err
		}
	}
	a.Senses.Cancel(token, id)
	return frame.Cancelled(w, r, here+"?follow="+cancelled)
}

// ChangeFigure sends the picture of the band.
func (a *Handler) ChangeFigure(w http.ResponseWriter, r *http.Request, run store.Run) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	if name != bandName || chi.URLParam(r, "id") == "" {
		return store.ErrNotFound
	}
	q := r.URL.Query()
	o := pictures.ReadOptions(q)
	o.Size(r)
	of, err := a.ChangeOf(r.Context(), run)
	if err != nil {
		return err
	}
	s, job, err := a.Senses.Result(r.Context(), of, true, a.Patience)
	switch {
	case err != nil:
		return err
	case job != nil:
		return web.Errorf(web.Busy, "It is still being computed. Open its page first.")
	case !s.Plane:
		return store.ErrNotFound
	}
	return a.SendPrint(w, r, pictures.Sheet{
		Key: fmt.Sprintf("band %s %+v", run.ID, o), Format: format,
		Draw: func(ctx context.Context) (*figure.Picture, error) {
			shown, err := a.Base.Run(ctx, run, q, o)
			if err != nil {
				return nil, err
			}
			b, err := figure.BandOf(shown, s)
			if err != nil {
				return nil, err
			}
			return b.Picture(ctx)
		},
	})
}

// fillChange fills in the computed results.
func fillChange(p *runsview.Change, s *ml.Sensitivity, d *dataset.Data) {
	where := lists.Either(s.Plane, "of the plane", "of the rows")
	judged := lists.Either(s.HeldOut, "held-out", "training")
	p.Plane, p.Places, p.Judged, p.JudgedRows = s.Plane, s.Places, judged, s.Judged
	p.Tried, p.Vectors, p.Samples = len(s.Removals), s.SupportVectors, len(s.Samples)

	var nearest *ml.Flip
	far := func(f ml.Flip) float64 { return math.Abs(math.Log(f.To / f.From)) }
	for i, f := range s.Flips {
		row := runsview.FlipRow{Parameter: results.Symbol(f.Parameter), Value: views.Short(f.From), Change: "raise", To: views.Short(f.To), Factor: "× " + views.Short(f.To/f.From)}
		if f.To < f.From {
			row.Change = "lower"
		}
		if row.Row = f.Row; f.Row > 0 {
			row.Rows, row.Was, row.Becomes = views.Counted(f.Rows, judged+" prediction"), f.Was, f.Becomes
			if nearest == nil || far(f) < far(*nearest) {
				nearest = &s.Flips[i]
			}
		}
		p.Flips = append(p.Flips, row)
	}
	if nearest != nil {
		p.Nearest = fmt.Sprintf("%s = %s instead of %s changes %s: row %d from %s to %s.", results.Symbol(nearest.Parameter), views.Short(nearest.To), views.Short(nearest.From), views.Counted(nearest.Rows, judged+" prediction"), nearest.Row, nearest.Was, nearest.Becomes)
	} else if slices.ContainsFunc(s.Flips, func(f ml.Flip) bool { return far(f) < math.Log(9.99) }) {
		p.Nearest = fmt.Sprintf("No change of a parameter changes any of %s, as far as trainings converge.", views.Counted(s.Judged, judged+" prediction"))
	} else {
		p.Nearest = fmt.Sprintf("No change of a parameter by a factor of up to ten changes any of %s.", views.Counted(s.Judged, judged+" prediction"))
	}
	object := func(row int) (text string, drawn views.Picture) {
		switch {
		case d.Kind() == dataset.KindGraphs:
			near := strconv.Itoa(row)
			return "", pictures.Thumbnail(p.Run+"/figures/", "objects", "near="+near, "the graph of row "+near)
		case d.Objects != nil:
			return pictures.Clipped(d.Objects.Text(row - 1)), drawn
		}
		return pictures.Coordinates(d.X.RawRowView(row - 1)), drawn
	}
	for _, m := range s.Removals[:min(len(s.Removals), changeRows)] {
		row := runsview.RemovalRow{Row: m.Row, Label: param.ClassText(m.Label), Alpha: views.Short(m.Alpha), Moved: param.Percent(m.Moved), Changed: strconv.Itoa(m.Changed)}
		if m.Only {
			row.Moved, row.Changed = "no boundary without it", "–"
		}
		row.Where, row.Drawn = object(m.Row)
		p.Removals = append(p.Removals, row)
	}
	p.Strongest = strongest(s.Removals, where)
	p.Free = slices.ContainsFunc(s.Model.Machines[0].Coef, func(u float64) bool { return math.Abs(u) < s.C })
	p.Steady = fmt.Sprintf("Under %d bootstrap samples it changes on %s %s on average, on %s at most.", len(s.Samples), param.Percent(stat.Mean(s.Samples, nil)), where, param.Percent(slices.Max(s.Samples)))
	order := lists.Where(len(s.Agreement), func(i int) bool { return s.Agreement[i] < doubtful })
	p.Doubtful = len(order)
	slices.SortStableFunc(order, func(a, b int) int {
		return int(math.Round(float64(len(s.Samples)) * (s.Agreement[a] - s.Agreement[b])))
	})
	for _, i := range order[:min(len(order), changeRows)] {
		row := runsview.UnsureRow{Row: i + 1, Label: param.ClassText(d.Classes[d.Y[i]]), Agree: param.Percent(s.Agreement[i])}
		row.Where, row.Drawn = object(i + 1)
		p.Unsure = append(p.Unsure, row)
	}
}

// strongest describes the support vector whose removal moves the boundary most.
func strongest(removals []ml.Removal, where string) string {
	var said, other string
	for len(removals) > 0 && removals[0].Only {
		said += fmt.Sprintf("Row %d is the only training row of its class: there is no boundary without it. ", removals[0].Row)
		removals, other = removals[1:], "other "
	}
	switch {
	case len(removals) == 0:
		return strings.TrimSpace(said)
	case removals[0].Moved == 0:
		return said + fmt.Sprintf("Leaving out any one of the %ssupport vectors tried changes the predicted class nowhere.", other)
	}
	first := removals[0]
	said += fmt.Sprintf("Without row %d the predicted class changes on %s %s", first.Row, param.Percent(first.Moved), where)
	switch {
	case len(removals) == 1:
		return said + "."
	case removals[1].Moved == first.Moved:
		return said + fmt.Sprintf(", as much as without row %d.", removals[1].Row)
	}
	return said + ", more than without any other support vector tried."
}

// knownChange returns what would change a run's result, in sentences, if already computed.
func (a *Handler) knownChange(ctx context.Context, run store.Run) ([]string, error) {
	of, err := a.ChangeOf(ctx, run)
	if err != nil {
		return nil, err
	}
	id, err := of.ID()
	if err != nil {
		return nil, err
	}
	s, ok := a.Senses.Known(id)
	if !ok {
		return nil, nil
	}
	var p runsview.Change
	fillChange(&p, s, of.Data)
	return p.Sentences(), nil
}
