package api

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/ml/param"
	"marginlab/web"
)

// Checked wraps f to refuse a query that cannot be read, and parameters that are undocumented for the
// route or given twice, which would otherwise be ignored.
func (a *Handler) Checked(f web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		known, err := a.parameters()
		if err != nil {
			return err
		}
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return web.Errorf(web.Malformed, "The query string cannot be read: %v", err)
		}
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		names := known[method+" "+chi.RouteContext(r.Context()).RoutePattern()]
		var ps param.Problems
		for name, values := range q {
			several, ok := names[name]
			switch {
			case !ok:
				ps.Add(name, "%s is not a parameter of this request: expected %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(names)), ", "), "none"))
			case len(values) > 1 && !several:
				ps.Add(name, "%s is given more than once", name)
			}
		}
		slices.SortFunc(ps, func(a, b param.Problem) int { return strings.Compare(a.Field, b.Field) })
		if err := ps.Err(); err != nil {
			return err
		}
		return f(w, r)
	}
}

// parameters maps query parameters to whether they may be repeated.
type parameters map[string]bool

// described returns the parameters by method and path: "GET /api/runs/{id}".
func described(doc object) map[string]parameters {
	add := func(to parameters, of object) {
		for _, p := range list(of["parameters"]) {
			if p := resolved(doc, p); p["in"] == "query" {
				to[p["name"].(string)] = p["schema"].(object)["type"] == "array"
			}
		}
	}
	known := map[string]parameters{}
	for path, item := range doc["paths"].(object) {
		item := item.(object)
		for method, operation := range item {
			if operation, ok := operation.(object); ok {
				all := parameters{}
				add(all, item)
				add(all, operation)
				known[strings.ToUpper(method)+" "+path] = all
			}
		}
	}
	return known
}

// maxWait bounds how long a request waits for the end of work.
const maxWait = time.Minute

// await waits until the jobs have ended, for at most the time requested.
func (a *Handler) await(r *http.Request, ids ...string) error {
	q := r.URL.Query()
	if q.Get("wait") == "" {
		return nil
	}
	seconds, err := strconv.ParseFloat(q.Get("wait"), 64)
	if err != nil || !(seconds >= 0 && seconds <= maxWait.Seconds()) {
		return param.Problems{{Field: "wait", Message: "wait expects seconds from 0 to 60, not " + strconv.Quote(q.Get("wait"))}}
	}
	a.Jobs.Wait(r.Context(), time.Duration(seconds*float64(time.Second)), ids...)
	return r.Context().Err()
}
