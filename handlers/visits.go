package handlers

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"marginlab/handlers/door"
	"marginlab/store"
)

// visits are the workspaces that have been here today, as far as they fit.
type visits struct {
	mu   sync.Mutex
	day  int64
	here map[store.Workspace]struct{}
}

// maxVisits bounds what visits remember; beyond it a workspace may be looked up again.
const maxVisits = 10_000

// first tells whether a workspace has not been here today.
func (v *visits) first(ws store.Workspace, now time.Time) bool {
	day := now.Unix() / (24 * 60 * 60)
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.here[ws]; ok && v.day == day {
		return false
	}
	if v.day != day || len(v.here) >= maxVisits {
		v.day, v.here = day, map[store.Workspace]struct{}{}
	}
	v.here[ws] = struct{}{}
	return true
}

// networks are the addresses that workspaces were last used from, as far as they fit. They
// are kept in memory alone.
type networks struct {
	mu   sync.Mutex
	from map[store.Workspace]string
}

// note keeps the address that a request of a workspace comes from.
func (n *networks) note(ws store.Workspace, r *http.Request) {
	address, err := httprate.KeyByIP(r)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.from == nil || len(n.from) >= maxVisits && n.from[ws] == "" {
		n.from = map[store.Workspace]string{}
	}
	n.from[ws] = address
}

// of returns the address that a workspace was last used from, empty if it is not known.
func (n *networks) of(ws store.Workspace) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.from[ws]
}

// noteUse keeps in mind when, and from where, a workspace was last in use.
func (a *App) noteUse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws := door.Workspace(r.Context())
		a.networks.note(ws, r)
		if a.visits.first(ws, a.Store.Now()) {
			if err := a.Store.Seen(context.WithoutCancel(r.Context()), ws); err != nil {
				a.log.WarnContext(r.Context(), "use of a workspace not noted", "err", err) // the request may well succeed
			}
		}
		next.ServeHTTP(w, r)
	})
}
