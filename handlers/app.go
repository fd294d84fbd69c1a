// Package handlers holds the front doors over HTTP: every handler reads a
// request, calls the store, the jobs or ml, and renders. routes.go lists them.
package handlers

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/web"
	"marginlab/web/jobs"
)

// glance is how long a page waits for a run that was just saved.
const glance = 400 * time.Millisecond

// formBytes bounds the body of a form without a file.
const formBytes = 4 << 20

// App is what the handlers share.
type App struct {
	store  *store.Store
	jobs   *jobs.Queue
	assets *web.Assets
	limits dataset.Limits
	site   *web.Site

	results  *recent[*ml.Result]
	exhibits *recent[*lessons.Exhibit]
	truths   *recent[float64] // of questions, by path
}

// Config is what New needs.
type Config struct {
	Store   *store.Store
	Jobs    *jobs.Queue
	Assets  *web.Assets
	Limits  dataset.Limits // of uploads
	Metrics *web.Metrics
	Log     *slog.Logger
}

// New returns the handlers.
func New(c Config) *App {
	a := &App{store: c.Store, jobs: c.Jobs, assets: c.Assets, limits: c.Limits, results: newRecent[*ml.Result](64), exhibits: newRecent[*lessons.Exhibit](256), truths: newRecent[float64](1000)}
	a.site = web.NewSite(c.Log, a.errorPage)
	a.site.Metrics = c.Metrics
	return a
}

// errorTitles are headings for people; what is not here has the words of HTTP.
var errorTitles = map[int]string{
	http.StatusNotFound:              "Not found",
	http.StatusUnprocessableEntity:   "That does not fit",
	http.StatusRequestEntityTooLarge: "Too large",
	http.StatusInternalServerError:   "Something went wrong",
	http.StatusServiceUnavailable:    "Busy",
	http.StatusInsufficientStorage:   "Nothing can be saved",
}

// errorPage shows an error of any page.
func (a *App) errorPage(w io.Writer, r *http.Request, p web.Problem) error {
	title := cmp.Or(errorTitles[p.Status], p.Title)
	page := views.ErrorPage{Page: a.page(title, ""), Status: p.Status, Message: sentence(p.Detail), Request: p.RequestID}
	return views.Error(page).Render(r.Context(), w)
}

// page fills in what every page shares.
func (a *App) page(title, section string) views.Page {
	return views.Page{Title: title, Section: section, Static: a.assets.Prefix()}
}

// render writes a page. templ holds it back until it is whole, so an error on the
// way is still answered as one.
func (a *App) render(w http.ResponseWriter, r *http.Request, c templ.Component) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return c.Render(r.Context(), w)
}

// workspace is the one that the request came with.
func workspace(ctx context.Context) store.Workspace { return store.WorkspaceOf(web.Token(ctx)) }

func redirect(w http.ResponseWriter, r *http.Request, to string) error {
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// attach makes the answer a download.
func attach(w http.ResponseWriter, name, kind string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(name)}))
}

// fileName makes a name safe for any file system.
func fileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, strings.TrimSpace(name))
	return strings.TrimLeft(clean, ".")
}

func when(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }
