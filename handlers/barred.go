package handlers

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
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
	first sync.Once    // the first reading, which every request waits for
	at    atomic.Int64 // start of the last reading, in Unix nanoseconds
	list  atomic.Pointer[store.Barred]
}

// current returns the blocked visitors as read at most barredEvery ago. While the list is being
// read again, and if that fails, the previous one applies.
func (b *barred) current(ctx context.Context, read func(context.Context) (store.Barred, error)) store.Barred {
	now := time.Now().UnixNano()
	reread := func() {
		if list, err := read(context.WithoutCancel(ctx)); err == nil {
			b.list.Store(&list)
		}
	}
	b.first.Do(func() {
		b.at.Store(now)
		b.list.Store(new(store.Barred))
		reread()
	})
	if last := b.at.Load(); now-last >= int64(barredEvery) && b.at.CompareAndSwap(last, now) {
		reread()
	}
	return *b.list.Load()
}

// refuseBarred refuses requests of blocked visitors.
func (a *App) refuseBarred(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := a.barred.current(r.Context(), a.Store.Barred)
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
