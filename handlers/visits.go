package handlers

import (
	"context"
	"net/http"
	"sync"
	"time"

	"marginlab/handlers/frame"
	"marginlab/store"
	"marginlab/web"
)

// visits records the last use of up to maxVisits workspaces, in memory only.
type visits struct {
	mu sync.Mutex
	of map[store.Workspace]visit
}

// visit holds the day and the network address of a workspace's last use, and its creation time.
type visit struct {
	day     int64
	address string
	since   time.Time
}

// maxVisits bounds the recorded visits; when it is exceeded, all are forgotten.
const maxVisits = 10_000

func (v *visits) change(ws store.Workspace, change func(*visit)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	known, ok := v.of[ws]
	if !ok && len(v.of) >= maxVisits {
		clear(v.of)
	}
	change(&known)
	v.of[ws] = known
}

func (v *visits) get(ws store.Workspace) visit {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.of[ws]
}

// network returns the address from which a workspace was last used, empty if unknown.
func (v *visits) network(ws store.Workspace) string { return v.get(ws).address }

// record records the use of a workspace and reports whether it is the first on that day.
func (v *visits) record(ws store.Workspace, address string, now time.Time) (first bool) {
	v.change(ws, func(known *visit) {
		day := now.Unix() / (24 * 60 * 60)
		first = known.day != day
		known.day, known.address = day, address
	})
	return first
}

// since returns when the workspace of a token came into being, to the hour; zero if it is empty.
func (a *App) since(ctx context.Context, token string) time.Time {
	ws := store.WorkspaceOf(token)
	known := a.visits.get(ws)
	if !known.since.IsZero() {
		return known.since
	}
	since, err := a.Store.Since(ctx, ws)
	if err != nil || since.IsZero() {
		return time.Time{}
	}
	since = since.Truncate(time.Hour)
	a.visits.change(ws, func(v *visit) { v.since = since })
	return since
}

// noteUse records the use of workspaces.
func (a *App) noteUse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws := frame.Workspace(r.Context())
		if a.visits.record(ws, web.Address(r.Context()), a.Store.Now()) {
			if err := a.Store.Seen(context.WithoutCancel(r.Context()), ws); err != nil {
				a.log.WarnContext(r.Context(), "use of a workspace not noted", "err", err) // the request may still succeed
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Limits per network address of new workspaces and of keys for programs: a burst for a lecture
// hall, then one per interval.
const (
	newWorkspaces     = 600
	newWorkspaceEvery = 6 * time.Second
)

// newWorkspace names a workspace and holds the key that opens it.
type newWorkspace struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// createWorkspace sends a program the key of a new workspace. The key is not stored: the store only
// keeps its hash, once the workspace holds something.
func (a *App) createWorkspace(w http.ResponseWriter, r *http.Request) error {
	if wait := a.newKeys.Take(web.Address(r.Context())); wait > 0 {
		return web.Later(wait, web.Errorf(web.TooMany, "More than %d keys have been requested from your address. Try again in %d s.", newWorkspaces, web.Seconds(wait)))
	}
	key := a.site.Keys.New()
	w.Header().Set("Cache-Control", "no-store")
	return web.JSON(w, http.StatusCreated, newWorkspace{string(store.WorkspaceOf(key))[:12], key})
}

// newcomer returns the reason why a workspace may not store its first item, nil if it may.
func (a *App) newcomer(ws store.Workspace) error {
	wait := a.newWorkspaces.Take(a.Store.NetworkOf(ws))
	if wait == 0 {
		return nil
	}
	return web.Later(wait, web.Errorf(web.TooMany, "More than %d new workspaces have been created from your network. Nothing was saved. Try again in %d s or, if you have worked here before, open your workspace with its key in Settings.", newWorkspaces, web.Seconds(wait)))
}
