// Package handlers serves HTTP. routes.go lists every route. The packages below it, one per
// purpose, read a request, call the store, the jobs or ml, and render. They share frame,
// pictures, results, background, limiter and cache.
package handlers

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"marginlab/handlers/api"
	"marginlab/handlers/data"
	"marginlab/handlers/frame"
	"marginlab/handlers/lab"
	"marginlab/handlers/lessons"
	"marginlab/handlers/reports"
	"marginlab/handlers/results"
	"marginlab/handlers/runs"
	"marginlab/handlers/studies"
	"marginlab/handlers/teach"
	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
	"marginlab/web/jobs"
)

// App is the web application.
type App struct {
	*frame.Base
	site            *web.Site
	log             *slog.Logger
	visits          visits
	barred          barred
	newWorkspaces   *web.Limiter // by network address
	newKeys         *web.Limiter // by network address
	separateMetrics bool         // the metrics have a server of their own

	lab             *lab.Handler
	lessons         *lessons.Handler
	data            *data.Handler
	runs            *runs.Handler
	studies         *studies.Handler
	reports         *reports.Handler
	teach           *teach.Handler
	handins, shared *runs.Reader // for the gallery of a course; for read-only links
	api             *api.Handler
}

// Config holds the settings of New.
type Config struct {
	Store           *store.Store
	Jobs            *jobs.Queue
	Assets          *web.Assets
	Limits          dataset.Limits // of uploads
	Metrics         *web.Metrics
	SeparateMetrics bool      // the metrics have a server of their own
	Keys            *web.Keys // nil: any 32 hexadecimal digits are a key
	Log             *slog.Logger
	Links           web.Links     // for links that users share
	Proxies         web.Proxies   // trusted proxies
	Origins         web.Origins   // other sites whose pages may call /api
	Build           func() string // identifies the build; see web.Program
	Fetcher         *web.Fetcher  // downloads files from URLs that users supply; nil: not allowed

	// Days is the number of days without use after which a workspace is deleted; 0: never.
	Days int

	// Patience is how long a computation may delay a page. A longer training continues in the
	// background as a run; 0: every training does.
	Patience time.Duration
}

// New returns the handlers.
func New(c Config) *App {
	h := frame.NewBase(c.Store, c.Jobs, c.Assets, c.Limits, c.Links, c.Patience, c.Build)
	h.Days, h.Fetcher = c.Days, c.Fetcher
	a := &App{Base: h, log: c.Log, visits: visits{of: map[store.Workspace]visit{}}, newWorkspaces: web.NewLimiter(newWorkspaces, newWorkspaceEvery), newKeys: web.NewLimiter(newWorkspaces, newWorkspaceEvery), separateMetrics: c.SeparateMetrics, lab: lab.New(h), lessons: lessons.New(h), data: &data.Handler{Base: h}, runs: runs.New(h), studies: &studies.Handler{Base: h}, api: api.New(h)}
	a.reports = reports.New(h, a.runs, a.studies)
	a.teach = teach.New(h, a.lab, a.lessons)
	a.handins, a.shared = runs.NewReader(h, a.teach.Collection), runs.NewShared(h)
	a.site = web.NewSite(c.Log, a.errorPage)
	a.site.Space, a.site.Keys = c.Store.Roomy, c.Keys
	c.Store.Network, c.Store.Newcomer = a.visits.network, a.newcomer
	a.site.Since = a.since
	a.site.Metrics, a.site.Proxies, a.site.Origins, a.site.Answers = c.Metrics, c.Proxies, c.Origins, c.Links.Answers
	return a
}

// errorTitles holds headings of error pages; other statuses use the standard text, in sentence case.
var errorTitles = map[int]string{
	http.StatusConflict:              "Not possible now",
	http.StatusForbidden:             "Refused",
	http.StatusUnprocessableEntity:   "Invalid input",
	http.StatusRequestTimeout:        "Too slow",
	http.StatusRequestEntityTooLarge: "Too large",
	http.StatusInternalServerError:   "Something went wrong",
	http.StatusServiceUnavailable:    "Busy",
	http.StatusInsufficientStorage:   "Not saved",
}

// near lists the page to offer after an error, by the prefix of the path.
var near = []struct{ below, to, text string }{
	{"/runs", "/runs", "Runs"},
	{"/compare", "/runs", "Runs"},
	{"/searches", "/searches", "Searches"},
	{"/studies", "/studies", "Studies"},
	{"/reports", "/reports", "Reports"},
	{"/datasets", "/datasets", "Data"},
	{"/lab", "/lab", "Lab"},
	{"/lessons/", "/lessons", "Lessons"},
	{"/course", "/courses", "Courses"},
	{"/courses/", "/courses", "Your courses"},
	{"/manual/", "/manual", "Manual"},
	{"/settings", "/settings", "Settings"},
}

func (a *App) errorPage(w io.Writer, r *http.Request, p web.Problem) error {
	title := cmp.Or(errorTitles[p.Status], results.Capital(strings.ToLower(p.Title)))
	page := views.ErrorPage{Page: a.Frame(title, ""), Message: results.Sentence(p.Detail), Request: p.RequestID}
	if again := []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusInsufficientStorage}; slices.Contains(again, p.Status) && r.Method == http.MethodPost {
		page.Remedy = "Your input is still on the previous page: go back and send it again."
	}
	if p.Detail == store.ErrNotFound.Error() && (strings.HasPrefix(r.URL.Path, "/shared/") || strings.HasPrefix(r.URL.Path, "/l/")) {
		page.Message = "This link no longer works: its owner has deleted it or stopped sharing."
	}
	for _, n := range near {
		if strings.HasPrefix(r.URL.Path, n.below) {
			page.Near, page.NearText = n.to, n.text
		}
	}
	return views.Error(page).Render(r.Context(), w)
}
