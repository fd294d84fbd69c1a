// Package handlerstest runs the whole application for tests of the handlers: a Server with its own
// database, Clients that call it, and a check of every API response against the OpenAPI
// document.
package handlerstest

import (
	"cmp"
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"marginlab/handlers"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
	"marginlab/static"
	"marginlab/store"
	"marginlab/store/storetest"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Server is the application with its own database.
type Server struct {
	*httptest.Server
	App     *handlers.App
	Workers bool // runs are trained
}

// Serve starts a server, with limits other than the default ones if given. Without workers, runs
// stay in the queue. The test ends only after all requests and workers have ended.
func Serve(t testing.TB, workers bool, limits ...dataset.Limits) *Server {
	t.Helper()
	c := handlers.Config{Patience: time.Hour}
	if len(limits) > 0 {
		c.Limits = limits[0]
	}
	return ServeWith(t, workers, c, jobs.Config{})
}

// Fresh is Serve for a parallel test, which it marks as such.
func Fresh(t *testing.T, workers bool, limits ...dataset.Limits) *Server {
	t.Helper()
	t.Parallel()
	return Serve(t, workers, limits...)
}

// ServeWith starts a server with the settings c and work; it fills in the store, queue, assets and
// metrics, and the default limits and a log that nobody reads where c has none.
func ServeWith(t testing.TB, workers bool, c handlers.Config, work jobs.Config) *Server {
	t.Helper()
	c.Limits = cmp.Or(c.Limits, dataset.DefaultLimits)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	st := Store(t)
	c.Assets = require.Value(assets())(t)
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

// Store opens an empty store in a temporary directory.
func Store(t testing.TB) *store.Store {
	t.Helper()
	return storetest.Open(t, t.TempDir(), store.Open)
}

// LongRun requests a training that reports steps until it is cancelled. Train recognises it by its
// number of steps.
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
