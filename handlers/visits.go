package handlers

import (
	"context"
	"net/http"
	"sync"
	"time"

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

// noteUse keeps in mind when a workspace was last in use.
func (a *App) noteUse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ws := door.Workspace(r.Context()); a.visits.first(ws, a.Store.Now()) {
			if err := a.Store.Seen(context.WithoutCancel(r.Context()), ws); err != nil {
				a.log.WarnContext(r.Context(), "use of a workspace not noted", "err", err) // the request may well succeed
			}
		}
		next.ServeHTTP(w, r)
	})
}
