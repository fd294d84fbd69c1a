package jobs

import (
	"context"
	"log/slog"
	"time"

	"marginlab/store"
)

// Daily maintains a store, now and once a day until ctx ends: it marks workspaces not used for
// the duration unused (0: never), deletes those marked a day ago, and checks the database for
// damage. Once an hour it purges items deleted a day ago.
func Daily(ctx context.Context, st *store.Store, unused time.Duration, log *slog.Logger) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	for {
		retain(ctx, st, unused, log)
		forget(ctx, st, log)
		logFault(ctx, log, "database inspected", st.Inspect(ctx))
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-hour.C:
				forget(ctx, st, log)
			case <-day.C:
				waiting = false
			}
		}
	}
}

// BackUp makes backups of a store whenever one is due, until ctx ends. After a failure, which is
// logged, it retries within an hour.
func BackUp(ctx context.Context, st *store.Store, b store.Backups, log *slog.Logger) {
	for {
		wait, err := b.Wait(st.Now())
		if err == nil && wait == 0 {
			var file string
			if file, err = st.BackUp(ctx, b); err == nil {
				log.InfoContext(ctx, "backup made", "file", file)
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log.ErrorContext(ctx, "no backup made", "dir", b.Dir, "err", err)
			wait = min(b.Every, time.Hour)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(wait, time.Hour)): // the clock may be corrected meanwhile
		}
	}
}

// Tend keeps the write-ahead log of a store short and logs when disk space becomes low and when it
// recovers, until ctx ends.
func Tend(ctx context.Context, st *store.Store, log *slog.Logger) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	low := false
	for {
		n, err := st.Tend(ctx)
		logFault(ctx, log, "database maintenance failed", err)
		if n > 0 {
			log.WarnContext(ctx, "trash emptied early because the disk is low", "things", n)
		}
		switch full := st.Roomy(ctx); {
		case full != nil && !low:
			log.ErrorContext(ctx, "uploads, runs and searches are refused", "err", full)
			low = true
		case full == nil && low:
			log.InfoContext(ctx, "uploads, runs and searches are accepted again")
			low = false
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tendEvery is the interval of Tend: an idle log is emptied within twice that.
const tendEvery = 5 * time.Second

// logFault logs an error, unless ctx has ended.
func logFault(ctx context.Context, log *slog.Logger, what string, err error) {
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, what, "err", err)
	}
}

// forget purges items deleted a day ago, unless the clock is mistrusted.
func forget(ctx context.Context, st *store.Store, log *slog.Logger) {
	err := st.TrustClock(ctx)
	if err == nil {
		_, err = st.Forget(ctx, st.Now().Add(-store.UndoFor))
	}
	logFault(ctx, log, "items deleted more than a day ago not purged", err)
}

// retain marks and deletes unused workspaces.
func retain(ctx context.Context, st *store.Store, unused time.Duration, log *slog.Logger) {
	if unused > 0 {
		marked, err := st.Expire(ctx, st.Now().Add(-unused), false)
		logFault(ctx, log, "unused workspaces not deleted", err)
		if marked > 0 {
			log.WarnContext(ctx, "unused workspaces will be deleted in a day; marginlab purge --undo keeps them", "number", marked)
		}
	}
	err := st.TrustClock(ctx)
	if err == nil {
		err = st.DropCopies(st.Now())
	}
	logFault(ctx, log, "old copies of the database not deleted", err)
	n, err := st.Sweep(ctx)
	logFault(ctx, log, "unused workspaces not deleted", err)
	if n > 0 {
		log.WarnContext(ctx, "unused workspaces deleted", "number", n)
	}
}
