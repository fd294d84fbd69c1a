// Package studies serves hyperparameter searches and studies.
package studies

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/background"
	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/views"
	studiesview "marginlab/views/studies"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Handler serves searches and studies.
type Handler struct{ *frame.Base }

// pageRows is the number of searches on a page of the list.
const pageRows = 25

// List shows the searches of the workspace.
func (a *Handler) List(w http.ResponseWriter, r *http.Request) error {
	page := pageOf(r)
	searches, total, err := a.Store.Searches(r.Context(), frame.Workspace(r.Context()), pageRows, (page-1)*pageRows)
	if err != nil {
		return err
	}
	p := studiesview.Searches{Page: a.Frame("Searches", "runs")}
	p.Pages = views.PagesOf(page, pageRows, len(searches), total, func(page int) string { return fmt.Sprintf("/searches?page=%d", page) })
	for _, s := range searches {
		p.Rows = append(p.Rows, studiesview.SearchRow{
			ID: s.ID, Title: results.SearchTitle(s), Data: s.DatasetName, Folds: foldsText(s), Status: string(s.Status),
			Done: s.Done, Total: s.Total, Created: results.When(s.Created),
		})
	}
	return a.Render(w, r, studiesview.SearchesPage(p))
}

// pageOf returns the page of a list that a request asks for, from 1.
func pageOf(r *http.Request) int {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	return min(max(page, 1), 1e6)
}

func foldsText(s store.Search) string {
	if s.Scheme.Nested {
		return results.FoldsText(s.Scheme) + ", nested"
	}
	return results.FoldsText(s.Scheme)
}

// Page shows a search: its progress and the settings scored so far.
func (a *Handler) Page(w http.ResponseWriter, r *http.Request, s background.Found) error {
	p := studiesview.Search{
		Page: a.Frame(results.SearchTitle(s.Search), "runs"), ID: s.ID, Study: s.Study, Title: results.SearchTitle(s.Search), Status: string(s.Status), Message: results.Sentence(s.Error),
		Data: s.DatasetName, Created: results.When(s.Created), Hash: s.Hash[:12], Folds: foldsText(s.Search),
		Done: s.Done, Total: s.Total, Known: s.Known, Time: a.timeText(s.Search),
		Settings: same(s.Search), Reproduce: results.SearchLine(s.Search),
	}
	if s.Dataset != "" {
		p.DataHref = "/datasets/" + s.Dataset
	}
	lab, err := a.labLink(r, s.Search)
	if err != nil {
		return err
	}
	m := newMap(s, r.URL.Query().Get("x"), r.URL.Query().Get("y"))
	if len(s.Scheme.Learning) == 0 {
		all := newShades(s, lab)
		p.Axes, p.AxisX, p.AxisY, p.List, p.Design = m.axes(), m.x, m.y, all.list(), results.DesignText(s.Search)
		if s.Drawn == nil {
			p.Map = m.view(all)
		} else {
			p.Cloud = new(all.cloud(m.x, m.y))
			if m.y != "" {
				p.Clouds = lists.Map(m.names, func(name string) studiesview.Cloud { return all.cloud(name, "") })
			}
		}
	}
	if res := s.Result; len(s.Scheme.Learning) > 0 {
		p.Learning = learning(s)
		if res != nil {
			p.Learning.Href = lab(res.Settings[0])
			p.Confusion = results.Confusion("Confusion matrix at the largest training set, summed over the folds", res.Confusion)
		}
	} else if res != nil {
		p.Best = choice(s, res.Best, lab)
		if one := res.WithinOneError(); one != res.Best {
			p.Simple = choice(s, one, lab)
		}
		p.Nested = results.NestedText(res)
		p.Warning = s.Scheme.Warning(res)
		p.Later, p.Whole = s.Scheme.Finer && s.Scheme.Onward == nil, res.Nested != nil && p.Warning == ""
		p.Edges = edges(s)
		p.Finer = eval.Finer(s.Design(), res) != nil
		p.Short = lists.Count(res.Settings, func(s eval.Setting) bool { return s.Failure() == "" && !s.Converged() })
		p.Failed = lists.Count(res.Settings, func(s eval.Setting) bool { return s.Failure() != "" })
		p.Pictures = picturesOf(s.Search)
		p.Confusion = results.Confusion("Confusion matrix of the best, summed over the folds", res.Confusion)
	}
	if s.Result != nil {
		if p.Report, err = a.AddToReport(r.Context(), "/searches/"+s.ID); err != nil {
			return err
		}
	}
	return a.Render(w, r, studiesview.SearchPage(p))
}

// same returns the values common to all settings.
func same(s store.Search) []views.Number {
	return slices.DeleteFunc(results.Settings(s.Spec, nil), func(n views.Number) bool {
		return n.Name == "test_fraction" || slices.Contains(results.Searched(s), n.Name)
	})
}

// timeText describes the elapsed and the estimated remaining time of a search.
func (a *Handler) timeText(s store.Search) string {
	switch {
	case s.Started.IsZero():
		return ""
	case s.Status.Ended():
		return duration(s.Finished.Sub(s.Started))
	}
	text := duration(a.Store.Now().Sub(s.Started)) + " so far"
	switch left, waits := a.Left(s); {
	case waits:
		text += ", waiting for its turn"
	case left > 0:
		text += ", about " + duration(left) + " left"
	}
	return text
}

func duration(d time.Duration) string {
	switch {
	case d < 50*time.Millisecond:
		return fmt.Sprintf("%d ms", max(d, 0).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// labLink makes links that open the lab with a setting.
func (a *Handler) labLink(r *http.Request, s store.Search) (func(eval.Setting) string, error) {
	data := frame.OfSearch + s.ID
	if s.Dataset != "" {
		set, err := a.Store.Dataset(r.Context(), frame.Workspace(r.Context()), s.Dataset)
		if err != nil {
			return nil, err
		}
		if set.Hash == s.Hash {
			data = s.Dataset
		}
	}
	return func(setting eval.Setting) string {
		q := frame.LabQuery(eval.OfSetting(s.Spec, setting.Values), data, s.Axes)
		q.Set("test_fraction", "0") // otherwise the lab would hold out points
		return "/lab?" + q.Encode()
	}, nil
}

// choice returns the view of the setting with an index.
func choice(s background.Found, at int, lab func(eval.Setting) string) *studiesview.Choosable {
	setting := s.Settings[at]
	return &studiesview.Choosable{
		At: at, Values: valuesText(s.Search, setting), Score: results.ScoreText(s.Result.RankedBy(), setting.Folds),
		Vectors: views.Short(results.Vectors(setting)), Href: lab(setting),
	}
}

// valuesText formats the searched values of a setting: "C = 10, γ = 0.1".
func valuesText(s store.Search, setting eval.Setting) string {
	var words []string
	for _, name := range results.Searched(s) {
		if setting.Values.Has(name) {
			words = append(words, results.Symbol(name)+" = "+setting.Values.Text(name))
		}
	}
	return strings.Join(words, ", ")
}

// edges returns the parameters whose best value is the smallest or largest tried.
func edges(s background.Found) (names []string) {
	best := s.Settings[s.Result.Best].Values
	for _, name := range results.Searched(s.Search) {
		var tried []float64
		for _, v := range s.Grid[name] { // random values have no edge
			if v.IsNumber() {
				tried = append(tried, v.Number())
			}
		}
		if v := best[name]; len(tried) > 2 && v.IsNumber() && (v.Number() == slices.Min(tried) || v.Number() == slices.Max(tried)) {
			names = append(names, results.Symbol(name))
		}
	}
	return names
}

// Again starts a follow-up to an ended search: finer, with nested folds, or the rest of a cancelled one.
func (a *Handler) Again(w http.ResponseWriter, r *http.Request, s store.Search) error {
	next, err := a.SearchAgain(r.Context(), frame.Workspace(r.Context()), store.Request{}, s, r.PostFormValue("how"))
	return frame.Done(w, r, "/searches/"+next.ID, err)
}

// Save saves a run with a setting.
func (a *Handler) Save(w http.ResponseWriter, r *http.Request, s store.Search) error {
	at, err := strconv.Atoi(r.PostFormValue("cell"))
	if err != nil {
		at = -1
	}
	run, err := a.SaveSetting(r.Context(), frame.Workspace(r.Context()), store.Request{}, s, at)
	if err != nil {
		return err
	}
	a.Jobs.Wait(r.Context(), glance, run.ID)
	return frame.Redirect(w, r, "/runs/"+run.ID)
}

// glance is how long a page waits for a run just saved to finish.
const glance = 400 * time.Millisecond

// Events streams the progress of a search.
func (a *Handler) Events(w http.ResponseWriter, r *http.Request) error {
	events, err := a.Jobs.SubscribeSearch(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return web.Stream(w, r, events, jobs.Event.Message)
}
