package jobs

import (
	"context"
	"log/slog"
	"time"

	"marginlab/store"
)

// Retain deletes workspaces that nobody has used for so long, as Purge of the store does,
// now and once a day until ctx ends.
func Retain(ctx context.Context, st *store.Store, unused time.Duration, log *slog.Logger) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		n, err := retain(ctx, st, unused)
		switch {
		case err != nil && ctx.Err() == nil:
			log.ErrorContext(ctx, "unused workspaces not deleted", "deleted", n, "err", err)
		case n > 0:
			log.InfoContext(ctx, "unused workspaces deleted", "deleted", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-day.C:
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
