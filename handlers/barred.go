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

// barredEvery is the interval at which a server rereads the list of blocked visitors, which
// another process, the terminal, may change.
const barredEvery = 5 * time.Second

// barred caches the visitors blocked by the operator.
type barred struct {
	mu   sync.Mutex
	at   time.Time
	list store.Barred
}

// of returns the blocked visitors as of at most barredEvery ago. If reading fails, the previous
// list applies.
func (b *barred) of(ctx context.Context, read func(context.Context) (store.Barred, error)) store.Barred {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); b.at.IsZero() || now.Sub(b.at) >= barredEvery {
		b.at = now
		if list, err := read(context.WithoutCancel(ctx)); err == nil {
			b.list = list
		}
	}
	return b.list
}

// refuseBarred refuses requests of blocked visitors.
func (a *App) refuseBarred(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := a.barred.of(r.Context(), a.Store.Barred)
		switch {
		case list.Workspaces[frame.Workspace(r.Context())]:
			a.site.Error(w, r, web.Errorf(web.Forbidden, "The operator of this server has blocked this workspace. Its data are kept; ask the operator."))
		case list.Addresses[web.Address(r.Context())]:
			a.site.Error(w, r, web.Errorf(web.Forbidden, "The operator of this server has blocked your network address; ask the operator."))
		default:
			next.ServeHTTP(w, r)
		}
	})
}
