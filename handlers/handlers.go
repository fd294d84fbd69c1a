// Package handlers holds the front doors over HTTP. routes.go lists every route;
// the rooms, one for each purpose of a visitor, read a request, call the store,
// the jobs or ml, and render. What they share is in door.
package handlers

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"marginlab/handlers/api"
	"marginlab/handlers/data"
	"marginlab/handlers/door"
	"marginlab/handlers/lab"
	"marginlab/handlers/lessons"
	"marginlab/handlers/runs"
	"marginlab/handlers/studies"
	"marginlab/handlers/teach"
	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
	"marginlab/web/jobs"
)

// App is the house with its rooms.
type App struct {
	*door.House
	site     *web.Site
	log      *slog.Logger
	visits   visits
	networks networks
	apart    bool // the metrics

	lab             *lab.Room
	lessons         *lessons.Room
	data            *data.Room
	runs            *runs.Room
	studies         *studies.Room
	teach           *teach.Room
	handins, shared *runs.Reader // of the gallery of a course; by read-only links
	api             *api.Room
}

// Config is what New needs.
type Config struct {
	Store   *store.Store
	Jobs    *jobs.Queue
	Assets  *web.Assets
	Limits  dataset.Limits // of uploads
	Metrics *web.Metrics
	Apart   bool // the metrics have an address of their own
	Log     *slog.Logger
	Links   web.Links     // that people hand on
	Proxies web.Proxies   // in front
	Build   func() string // names the program; web.Program

	// Days is after how many days without use a workspace is deleted; 0: never.
	Days int

	// Patience is how long a computation may hold up a page; 0: not at all. A
	// training that takes longer is saved as a run and goes on in the background.
	Patience time.Duration
}

// New returns the handlers.
func New(c Config) *App {
	h := door.NewHouse(c.Store, c.Jobs, c.Assets, c.Limits, c.Links, c.Patience, c.Build)
	h.Days = c.Days
	a := &App{House: h, log: c.Log, apart: c.Apart, lab: lab.New(h), lessons: lessons.New(h), data: &data.Room{House: h}, runs: runs.New(h), studies: &studies.Room{House: h}, api: api.New(h)}
	a.teach = teach.New(h, a.lab, a.lessons)
	a.handins, a.shared = runs.NewReader(h, a.teach.Shelf), runs.NewShared(h)
	a.site = web.NewSite(c.Log, a.errorPage)
	a.site.Room = c.Store.Roomy
	c.Store.Network = a.networks.of
	a.site.Metrics, a.site.Proxies, a.site.Answers = c.Metrics, c.Proxies, c.Links.Answers
	return a
}

// errorTitles are headings for people; what is not here has the words of HTTP.
var errorTitles = map[int]string{
	http.StatusNotFound:              "Not found",
	http.StatusUnprocessableEntity:   "That does not fit",
	http.StatusRequestEntityTooLarge: "Too large",
	http.StatusTooManyRequests:       "One moment",
	http.StatusInternalServerError:   "Something went wrong",
	http.StatusServiceUnavailable:    "Busy",
	http.StatusInsufficientStorage:   "Nothing can be saved",
}

// near are the lists to which the pages below an address belong.
var near = []struct{ below, to, text string }{
	{"/runs", "/runs", "To the runs"},
	{"/compare", "/runs", "To the runs"},
	{"/searches", "/searches", "To the searches"},
	{"/studies", "/studies", "To the studies"},
	{"/datasets", "/datasets", "To the data"},
	{"/lab", "/lab", "To the lab"},
	{"/lessons/", "/lessons", "To the lessons"},
	{"/courses/", "/courses", "To your courses"},
}

// errorPage shows an error of any page.
func (a *App) errorPage(w io.Writer, r *http.Request, p web.Problem) error {
	title := cmp.Or(errorTitles[p.Status], p.Title)
	page := views.ErrorPage{Page: a.Frame(title, ""), Status: p.Status, Message: door.Sentence(p.Detail), Request: p.RequestID}
	if p.Status == http.StatusServiceUnavailable && r.Method == http.MethodPost {
		page.Remedy = "What you filled in is still on the page before this one: go back to send it again."
	}
	for _, n := range near {
		if strings.HasPrefix(r.URL.Path, n.below) {
			page.Near, page.NearText = n.to, n.text
		}
	}
	return views.Error(page).Render(r.Context(), w)
}
