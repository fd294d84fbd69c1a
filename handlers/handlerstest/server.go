// Package handlerstest runs the whole application for tests of the handlers: a Server with its own
// database, Clients that call it, and a check of every API response against the OpenAPI
// document.
package handlerstest

import (
	"cmp"
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"marginlab/handlers"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
	"marginlab/static"
	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Server is the application with its own database.
type Server struct {
	*httptest.Server
	App     *handlers.App
	Workers bool // runs are trained
}

// Serve starts a server. Without workers, runs stay in the queue. The test ends only
// when every request and every worker has.
func Serve(t testing.TB, workers bool, limits dataset.Limits) *Server {
	t.Helper()
	return ServeLogged(t, workers, limits, slog.New(slog.DiscardHandler))
}

// ServeLogged starts a server that writes its log to log.
func ServeLogged(t testing.TB, workers bool, limits dataset.Limits, log *slog.Logger) *Server {
	t.Helper()
	return ServeWith(t, workers, handlers.Config{Limits: limits, Log: log, Patience: time.Hour}, jobs.Config{})
}

// ServeWith starts a server with the settings of c and work; it fills in the store, the
// queue, the assets and the metrics.
func ServeWith(t testing.TB, workers bool, c handlers.Config, work jobs.Config) *Server {
	t.Helper()
	st := Store(t)
	var err error
	if c.Assets, err = assets(); err != nil {
		t.Fatal(err)
	}
	work.Workers, work.Turn, work.Log = 2, cmp.Or(work.Turn, time.Hour), c.Log
	if work.Train == nil {
		work.Train = Train
	}
	queue := jobs.New(st, work)
	c.Store, c.Jobs, c.Metrics, c.Build = st, queue, web.NewMetrics(), func() string { return "test" }
	app := handlers.New(c)
	if workers {
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); queue.Run(ctx) }()
		t.Cleanup(func() { stop(); <-ended })
	}
	s := &Server{httptest.NewServer(app.Handler()), app, workers}
	t.Cleanup(s.Close)
	t.Cleanup(app.CloseBackground)
	return s
}

// assets returns the files of package static, compressed once for all servers.
var assets = sync.OnceValues(func() (*web.Assets, error) { return web.NewAssets(static.Files) })

// migrated returns the database file of an empty store, migrated once for all servers.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "marginlab-migrated-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	st, err := store.Open(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	if err := st.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(store.DatabaseIn(dir))
})

// Store opens an empty store in a temporary directory.
func Store(t testing.TB) *store.Store {
	t.Helper()
	file, err := migrated()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(store.DatabaseIn(dir), file, 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// LongRun is the request of a training that reports steps until it is cancelled. Train
// recognises it by its number of steps.
const (
	LongRun = `{"dataset":"moons","spec":{"max_iter":1e9}}`
	endless = 1e9
)

// Train is ml.Train, except for a LongRun.
func Train(ctx context.Context, d *dataset.Data, spec ml.Spec, report trace.Recorder) (*ml.Result, error) {
	if spec.Values.Number("max_iter") != endless {
		return ml.Train(ctx, d, spec, report)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return &ml.Result{Report: ml.Report{Status: trace.Cancelled}, Model: &ml.Model{}}, nil // as solvers do
		case <-tick.C:
			report(trace.Step{Phase: "svm", Iteration: i})
		}
	}
}
