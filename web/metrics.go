package web

import (
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts what the program does, in the text format of Prometheus.
type Metrics struct {
	registry                          *prometheus.Registry
	requests, trainings               *prometheus.CounterVec
	requestDuration, trainingDuration *prometheus.HistogramVec
}

// NewMetrics returns metrics of their own, apart from any other in the process.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry:         prometheus.NewRegistry(),
		requests:         prometheus.NewCounterVec(prometheus.CounterOpts{Name: "marginlab_http_requests_total", Help: "HTTP requests answered."}, []string{"method", "route", "status"}),
		requestDuration:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "marginlab_http_request_duration_seconds", Help: "Time to answer an HTTP request, event streams included.", Buckets: []float64{.005, .02, .05, .1, .3, 1, 3, 10, 60}}, []string{"route"}),
		trainings:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: "marginlab_trainings_total", Help: "Trainings of runs that ended."}, []string{"learner", "outcome"}),
		trainingDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "marginlab_training_duration_seconds", Help: "Time to train a run.", Buckets: []float64{.01, .1, 1, 10, 60, 600, 3600}}, []string{"learner"}),
	}
	version, goVersion := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version, goVersion = info.Main.Version, info.GoVersion
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "marginlab_build_info", Help: "Always 1; the labels name the program.", ConstLabels: prometheus.Labels{"version": version, "go": goVersion}})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.requestDuration, m.trainings, m.trainingDuration, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// request counts one answered request.
func (m *Metrics) request(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.requestDuration.WithLabelValues(route).Observe(took.Seconds())
}

// Training counts one training: "svm", "done", and how long it took.
func (m *Metrics) Training(learner, outcome string, took time.Duration) {
	m.trainings.WithLabelValues(learner, outcome).Inc()
	m.trainingDuration.WithLabelValues(learner).Observe(took.Seconds())
}

// Gauge shows what f returns, whenever it is looked at.
func (m *Metrics) Gauge(name, help string, f func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
}

// Gauges shows what f returns by the values of a label, whenever it is looked at.
func (m *Metrics) Gauges(name, help, label string, f func() map[string]float64) {
	m.registry.MustRegister(gauges{prometheus.NewDesc(name, help, []string{label}, nil), f})
}

// gauges is a prometheus.Collector.
type gauges struct {
	desc *prometheus.Desc
	of   func() map[string]float64
}

// Describe tells what there is.
func (g gauges) Describe(to chan<- *prometheus.Desc) { to <- g.desc }

// Collect tells what it is now.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	for value, v := range g.of() {
		to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, v, value)
	}
}

// ServeHTTP writes the metrics and those of the process.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(w, r)
}

// Alone answers /metrics and nothing else.
func (m *Metrics) Alone() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	return mux
}
