// Package frame holds what all handlers share: the page frame, the workspace and form of a request,
// the source of its points, downloads, and what a course fixes on a page.
package frame

import (
	"context"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"marginlab/handlers/background"
	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
	"marginlab/web/cache"
	"marginlab/web/jobs"
)

// Base holds what all handlers share.
type Base struct {
	*limiter.Turns
	*limiter.Memory
	*background.Work
	*pictures.Renderer

	Store  *store.Store
	Jobs   *jobs.Queue
	Assets *web.Assets
	Limits dataset.Limits // of uploads
	Links  web.Links      // for links that users share

	// Fetcher downloads files from URLs that users supply; nil: not allowed.
	Fetcher *web.Fetcher

	// Patience is how long a computation may delay a page; a longer one becomes a
	// run.
	Patience time.Duration

	// Days is the number of days without use after which a workspace is deleted, for pages;
	// 0: never.
	Days int

	codes  *codes                       // limits guessing of course codes
	hashes *cache.Recent[string]        // of built-in and generated data
	stored *cache.Recent[*dataset.Data] // by hash; cached, since every move of a slider needs the data
}

// NewBase returns a Base; build is as in web.Program.
func NewBase(st *store.Store, queue *jobs.Queue, assets *web.Assets, limits dataset.Limits, links web.Links, patience time.Duration, build func() string) *Base {
	a := &Base{
		Turns: limiter.NewTurns(), Memory: limiter.NewMemory(limits.Bytes), Work: background.New(st, queue),
		Store: st, Jobs: queue, Assets: assets, Limits: limits, Links: links, Patience: patience,
		codes: newCodes(), hashes: cache.New[string](len(dataset.Builtins) + 100), stored: cache.NewWeighed(storedValues, valuesOf),
	}
	a.Renderer = pictures.New(a.Turns, a.Stored, patience, build)
	return a
}

// Frame returns the common parts of a page.
func (a *Base) Frame(title, section string) views.Page {
	return views.Page{Title: title, Section: section, Static: a.Assets.Prefix(), Days: a.Days}
}

// Render renders a page. templ buffers it, so an error while rendering still gets an error page.
func (a *Base) Render(w http.ResponseWriter, r *http.Request, c templ.Component) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return c.Render(r.Context(), w)
}

// Workspace returns the workspace of a request.
func Workspace(ctx context.Context) store.Workspace { return store.WorkspaceOf(web.Token(ctx)) }

// ByID returns a function that finds the item with the {id} of a path in the request's workspace.
func ByID[T any](find func(context.Context, store.Workspace, string) (T, error)) func(*http.Request) (T, error) {
	return func(r *http.Request) (T, error) {
		return find(r.Context(), Workspace(r.Context()), chi.URLParam(r, "id"))
	}
}

// Redirect responds to a form with a redirect.
func Redirect(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// Done redirects after a form was handled, unless err is set.
func Done(w http.ResponseWriter, r *http.Request, to string, err error) error {
	if err != nil {
		return err
	}
	return Redirect(w, r, to)
}

// Cancelled redirects after a cancellation: to the page of all jobs if the form was there,
// otherwise to the address to.
func Cancelled(w http.ResponseWriter, r *http.Request, to string) error {
	if r.FormValue("back") == "/jobs" {
		to = "/jobs"
	}
	return Redirect(w, r, to)
}

// AddToReport returns the form that adds the page at an address to a report.
func (a *Base) AddToReport(ctx context.Context, address string) (f views.AddToReport, err error) {
	list, err := a.Store.ReportTitles(ctx, Workspace(ctx))
	f.Address = address
	f.Reports = lists.Map(list, func(r store.Report) views.Option { return views.Option{Value: r.ID, Label: r.Title} })
	return f, err
}
