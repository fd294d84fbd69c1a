package web

import (
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Metrics collects the program's metrics and serves them to Prometheus.
type Metrics struct {
	requests, requestDuration, trainings, trainingDuration *family

	mu       sync.Mutex
	families []*family
}

// family is the metrics of one name.
type family struct {
	name, kind, help string
	set              *metrics.Set
	write            func(w io.Writer)
}

// NewMetrics returns an independent set of metrics.
func NewMetrics() *Metrics {
	m := &Metrics{}
	m.requests = m.add("marginlab_http_requests_total", "counter", "HTTP requests answered.", nil)
	m.requestDuration = m.add("marginlab_http_request_duration_seconds", "histogram", "Time to answer an HTTP request, event streams included.", nil)
	m.trainings = m.add("marginlab_trainings_total", "counter", "Trainings of runs that ended.", nil)
	m.trainingDuration = m.add("marginlab_training_duration_seconds", "histogram", "Time to train a run.", nil)
	version, goVersion := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version, goVersion = info.Main.Version, info.GoVersion
	}
	build := m.add("marginlab_build_info", "gauge", "Always 1; the labels name the program.", nil)
	build.set.NewGauge(labelled(build.name, "version", version, "go", goVersion), nil).Set(1)
	return m
}

// add adds metrics of one name, which write writes, or, if it is nil, the set.
func (m *Metrics) add(name, kind, help string, write func(io.Writer)) *family {
	f := &family{name, kind, help, metrics.NewSet(), write}
	if write == nil {
		f.write = f.set.WritePrometheus
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.families = append(m.families, f)
	return f
}

// labelled returns name with labels, given as pairs of name and value.
func labelled(name string, pairs ...string) string {
	var labels []string
	for p := range slices.Chunk(pairs, 2) {
		labels = append(labels, fmt.Sprintf("%s=%q", p[0], p[1]))
	}
	return name + "{" + strings.Join(labels, ",") + "}"
}

// Upper ends of the bins of durations, in seconds.
var (
	requestBins  = []float64{.005, .02, .05, .1, .3, 1, 3, 10, 60}
	trainingBins = []float64{.01, .1, 1, 10, 60, 600, 3600}
)

// request counts a completed request.
func (m *Metrics) request(method, route string, status int, took time.Duration) {
	m.requests.set.GetOrCreateCounter(labelled(m.requests.name, "method", method, "route", route, "status", fmt.Sprint(status))).Inc()
	m.requestDuration.set.GetOrCreatePrometheusHistogramExt(labelled(m.requestDuration.name, "route", route), requestBins).Update(took.Seconds())
}

// Training counts a training with its learner ("svm"), outcome ("done") and duration.
func (m *Metrics) Training(learner, outcome string, took time.Duration) {
	m.trainings.set.GetOrCreateCounter(labelled(m.trainings.name, "learner", learner, "outcome", outcome)).Inc()
	m.trainingDuration.set.GetOrCreatePrometheusHistogramExt(labelled(m.trainingDuration.name, "learner", learner), trainingBins).Update(took.Seconds())
}

// Gauge adds a gauge whose value f returns at each scrape.
func (m *Metrics) Gauge(name, help string, f func() float64) {
	m.add(name, "gauge", help, func(w io.Writer) { metrics.WriteGaugeFloat64(w, name, f()) })
}

// Gauges adds a gauge per label value, returned by f at each scrape.
func (m *Metrics) Gauges(name, help, label string, f func() map[string]float64) {
	m.add(name, "gauge", help, func(w io.Writer) {
		for value, v := range f() {
			metrics.WriteGaugeFloat64(w, labelled(name, label, value), v)
		}
	})
}

// ServeHTTP writes the program's metrics, and then those of the process, which Prometheus takes without
// type and help.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.mu.Lock()
	families := slices.Clone(m.families)
	m.mu.Unlock()
	for _, f := range families {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		f.write(w)
	}
	metrics.WriteProcessMetrics(w)
}

// Alone returns a handler that serves /metrics only.
func (m *Metrics) Alone() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	return mux
}
