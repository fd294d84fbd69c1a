package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
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

// While the list of blocked visitors is read again, the previous one applies and nobody waits.
func TestBarredIsReadAside(t *testing.T) {
	t.Parallel()
	b := barred{list: &store.Barred{Addresses: map[string]bool{"192.0.2.7": true}}}
	reading, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	read := func(context.Context) (list store.Barred, err error) {
		close(reading)
		<-release
		return list, nil
	}
	go b.current(t.Context(), read)
	<-reading
	told := make(chan store.Barred, 1)
	go func() { told <- b.current(t.Context(), read) }()
	select {
	case list := <-told:
		require.Check(t, list.Addresses["192.0.2.7"], "%v", list)
	case <-time.After(time.Minute):
		t.Error("a request waits for the database")
	}
}
