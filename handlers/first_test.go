package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/handlers/frame"
	"marginlab/ml/mltest/require"
	"marginlab/ml/pace"
	"marginlab/store"
	"marginlab/web/jobs"
)

// Background work waits while a request is answered, for a second at most.
func TestRequestsComeFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, held time.Duration }{
		{20 * time.Millisecond, 20 * time.Millisecond},
		{time.Minute, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &App{Base: &frame.Base{Jobs: new(jobs.Queue)}}
			work := a.Jobs.Behind(context.Background())
			time.Sleep(time.Hour) // so that there is enough to be held for
			served := a.first(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(c.answer) }))

			begin := time.Now()
			go served.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			synctest.Wait()
			require.Equal(t, pace.Look(work), nil, "pace.Look(work)")
			require.Equal(t, time.Since(begin), c.held, "during an answer of %v the work is held for", c.answer)
			synctest.Wait()
			time.Sleep(time.Hour)
		})
	}
}

// While the list of blocked visitors is read again, the previous one applies and nobody waits. A
// reading that fails is not repeated by every request.
func TestBarredIsReadAside(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{nil, store.ErrBusy} {
		synctest.Test(t, func(t *testing.T) {
			var b barred
			var readings atomic.Int32
			ask := func() {
				begin, before := time.Now(), readings.Load()
				list := b.current(t.Context(), func(context.Context) (store.Barred, error) {
					if readings.Add(1) > 1 {
						time.Sleep(time.Second)
					}
					return store.Barred{Addresses: map[string]bool{"192.0.2.7": true}}, failure
				})
				require.Equal(t, list.Addresses["192.0.2.7"], failure == nil, "blocked, %v", failure)
				require.Check(t, time.Since(begin) == 0 || readings.Load() > before, "%v: a request waits for the database", failure)
			}
			for want := range int32(3) {
				go ask()
				synctest.Wait()
				ask()
				require.Equal(t, readings.Load(), want+1, "readings, %v", failure)
				time.Sleep(barredEvery)
			}
		})
	}
}
