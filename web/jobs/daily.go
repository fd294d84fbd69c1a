package jobs

import (
	"context"
	"log/slog"
	"time"

	"marginlab/store"
)

// Daily looks after a store, now and once a day until ctx ends: it deletes the workspaces
// that nobody has used for so long, as Purge does (0: none), and looks for damage. Once an
// hour it deletes for good what people deleted a day ago.
func Daily(ctx context.Context, st *store.Store, unused time.Duration, log *slog.Logger) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	forget := func() {
		if _, err := st.Forget(ctx, st.Now().Add(-store.UndoFor)); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "what was deleted a day ago is still kept", "err", err)
		}
	}
	for {
		if unused > 0 {
			n, err := retain(ctx, st, unused)
			if err != nil && ctx.Err() == nil {
				log.ErrorContext(ctx, "unused workspaces not deleted", "err", err)
			}
			if n > 0 {
				log.InfoContext(ctx, "unused workspaces deleted", "number", n)
			}
		}
		forget()
		if err := st.Inspect(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "database inspected", "err", err)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-hour.C:
				forget()
			case <-day.C:
				waiting = false
			}
		}
	}
}

func retain(ctx context.Context, st *store.Store, unused time.Duration) (n int, err error) {
	since := st.Now().Add(-unused)
	list, err := st.Unseen(ctx, since)
	if err != nil {
		return 0, err
	}
	for _, h := range list {
		deleted, err := st.Purge(ctx, h.Workspace, since)
		if err != nil {
			return n, err
		}
		if deleted {
			n++
		}
	}
	return n, nil
}
