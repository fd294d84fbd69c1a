package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Metrics counts what the program does, in the text format of Prometheus.
type Metrics struct {
	set *metrics.Set
}

// NewMetrics returns metrics of their own, apart from any other in the process.
func NewMetrics() *Metrics { return &Metrics{metrics.NewSet()} }

// request counts one answered request.
func (m *Metrics) request(method, route string, status int, took time.Duration) {
	m.set.GetOrCreateCounter(fmt.Sprintf(`marginlab_http_requests_total{method=%q,route=%q,status=%q}`, method, route, strconv.Itoa(status))).Inc()
	m.set.GetOrCreateHistogram(fmt.Sprintf(`marginlab_http_request_duration_seconds{route=%q}`, route)).Update(took.Seconds())
}

// Training counts one training: "svm", "done", and how long it took.
func (m *Metrics) Training(learner, outcome string, took time.Duration) {
	m.set.GetOrCreateCounter(fmt.Sprintf(`marginlab_trainings_total{learner=%q,outcome=%q}`, learner, outcome)).Inc()
	m.set.GetOrCreateHistogram(fmt.Sprintf(`marginlab_training_duration_seconds{learner=%q}`, learner)).Update(took.Seconds())
}

// Gauge shows what f returns, whenever it is looked at.
func (m *Metrics) Gauge(name string, f func() float64) { m.set.NewGauge(name, f) }

// ServeHTTP writes the metrics and those of the process.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}

// Alone answers /metrics and nothing else.
func (m *Metrics) Alone() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	return mux
}
