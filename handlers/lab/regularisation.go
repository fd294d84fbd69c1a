package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"marginlab/handlers/background"
	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	labview "marginlab/views/lab"
	"marginlab/web"
)

// Pictures of a regularisation path.
const (
	alphasName      = "alphas"
	regularisedName = "shares"
)

// mostEntries is the number of entry points listed on the page; the API returns all.
const mostEntries = 500

// everyStep selects the scored steps that the page lists: about two per power of ten.
const everyStep = 4

// Regularisation shows the regularisation path of the lab's machine.
func (a *Handler) Regularisation(w http.ResponseWriter, r *http.Request, b *bench) error {
	query := b.query()
	p := labview.Regularisation{
		Page: a.Frame("Regularisation path", "lab"), Title: "Regularisation path of " + background.PathName(b.spec), Data: b.name,
		Lab: "/lab?" + query.Encode(), C: b.spec.Text("C"),
	}
	here := "/path?" + query.Encode()
	following := r.URL.Query().Get("follow")
	path, progress, problem, err := a.regularised(r.Context(), b, following == "", min(background.Prompt, a.Patience))
	if errors.Is(err, background.ErrIdle) {
		p.Again, problem, err = here, background.ErrIdle.Error(), nil
		if following == cancelled {
			problem = "The path was cancelled."
		}
	}
	if err != nil {
		return err
	}
	if progress != nil {
		w.Header().Set("Cache-Control", "no-store")
		p.Follow = here + "&follow=1"
		p.Progress = background.ProgressOf(*progress, "/path/cancel?"+query.Encode())
	}
	if p.Problem = problem; path == nil {
		return a.Render(w, r, labview.RegularisationPage(p))
	}
	drawn := query.Encode()
	if b.public() {
		drawn = a.Lasting(drawn)
	}
	for _, f := range [][2]string{
		{alphasName, "alpha / C of every training point over C, with ticks at the entry points"},
		{regularisedName, "Accuracy, support vectors and points at the bound over C"},
	} {
		p.Pictures = append(p.Pictures, pictures.Linked("/path/figures/", f[0], drawn, pictures.MainWidth, pictures.MainHeight, f[1], f[1]))
	}
	p.Rows, p.Folds = len(path.Rows), path.Folds
	judged := 0
	for _, s := range path.Steps {
		here := s.C == b.spec.Values.Number("C")
		shown := here || s.Accuracy != nil && judged%everyStep == 0
		if s.Accuracy != nil {
			judged++
		}
		if !shown {
			continue
		}
		q := b.query()
		q.Set("C", param.Of(s.C).Text())
		row := labview.RegularisationRow{
			C: views.Short(s.C), Href: "/lab?" + q.Encode(), Here: here, Vectors: s.SupportVectors, Bounded: s.Bounded,
			W: views.Short(s.WNorm), Margin: "–", Training: param.Percent(s.TrainAccuracy), HeldOut: "–",
		}
		if s.WNorm > 0 {
			row.Margin = views.Short(1 / s.WNorm)
		}
		if s.Accuracy != nil {
			row.HeldOut = fmt.Sprintf("%s (sd %s)", param.Percent(*s.Accuracy), param.Percent(*s.Deviation))
		}
		p.Steps = append(p.Steps, row)
	}
	p.Total = len(path.Entries)
	p.Entries = lists.Map(path.Entries[:min(len(path.Entries), mostEntries)], func(e ml.EntryPoint) labview.EntryRow {
		return labview.EntryRow{Row: e.Row, C: views.Short(e.Low) + " to " + views.Short(e.High), What: entryText(e)}
	})
	p.Coarse = slices.ContainsFunc(path.Entries, func(e ml.EntryPoint) bool { return e.High/e.Low > 1.03 })
	return a.Render(w, r, labview.RegularisationPage(p))
}

// hasPath reports whether the bench's machine has a regularisation path.
func (b *bench) hasPath() bool {
	return b.data != nil && (len(b.data.Classes) == 2 || b.spec.Positive != "") && ml.HasRegularisation(b.spec, 0)
}

func entryText(e ml.EntryPoint) string {
	switch e.From + " " + e.To {
	case "outside free":
		return "becomes a support vector, on the margin"
	case "outside bounded":
		return "becomes a support vector, at the bound"
	case "free outside":
		return "leaves the margin outwards: no longer a support vector"
	case "bounded outside":
		return "leaves the bound and the margin: no longer a support vector"
	case "free bounded":
		return "reaches the bound: inside the margin from here on"
	}
	return "leaves the bound: on the margin from here on"
}

// cancelled marks the address of a page whose path was cancelled.
const cancelled = "cancelled"

// regularised returns the bench's regularisation path, its progress after patience, or a message
// saying why there is none, like Base.Regularise.
func (a *Handler) regularised(ctx context.Context, b *bench, begin bool, patience time.Duration) (*ml.Regularisation, *background.Job, string, error) {
	switch {
	case len(b.problems) > 0:
		return nil, nil, results.Sentence(b.problems.Error()), nil
	case b.data == nil:
		return nil, nil, "There are no points yet: draw or type some first.", nil
	}
	path, progress, err := a.Regularise(ctx, background.Question{From: b.name, Data: b.data, Hash: b.hash, Spec: b.spec, Page: "/path?" + b.query().Encode()}, begin, patience)
	if err != nil && !errors.Is(err, background.ErrIdle) {
		problem, err := results.UserMessage(err)
		return nil, nil, problem, err
	}
	return path, progress, "", err
}

// CancelRegularisation cancels a running regularisation path.
func (a *Handler) CancelRegularisation(w http.ResponseWriter, r *http.Request) error {
	a.Paths.Cancel(web.Token(r.Context()), r.FormValue("id"))
	q := r.URL.Query()
	q.Set("follow", cancelled)
	return frame.Cancelled(w, r, "/path?"+q.Encode())
}

// RegularisationFigure sends a picture of a regularisation path.
func (a *Handler) RegularisationFigure(w http.ResponseWriter, r *http.Request, b *bench) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	if name != alphasName && name != regularisedName {
		return store.ErrNotFound
	}
	f := pictures.Sized(r, pictures.MainWidth, pictures.MainHeight).Format
	path, progress, _, err := a.regularised(r.Context(), b, true, a.Patience)
	if err != nil {
		return err
	}
	if progress != nil {
		return web.Errorf(web.Busy, "The path is still being computed. Open its page first.")
	}
	if path == nil {
		return store.ErrNotFound
	}
	key, err := b.key()
	if err != nil {
		return err
	}
	return a.SendPrint(w, r, pictures.Sheet{
		Key: fmt.Sprintf("path %s %v %s", name, f, key), Public: b.public(), Format: format,
		Draw: func(context.Context) (*figure.Picture, error) {
			if name == alphasName {
				return figure.Alphas(path, f)
			}
			return figure.Regularised(path, f)
		},
	})
}
