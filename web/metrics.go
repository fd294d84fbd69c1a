package web

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Metrics counts what the program does and writes it in the text format of Prometheus, whose own
// packages would take a tenth of the start of every command.
type Metrics struct {
	mu                                                     sync.Mutex
	all                                                    []*metric
	requests, requestDuration, trainings, trainingDuration *metric
}

// metric is what stands under one name.
type metric struct {
	name, help, kind string
	lines            []string           // in the order in which they came
	values           map[string]float64 // by line
	read             func(m *metric)    // adds the values, where they are kept elsewhere
	buckets          []float64
}

// add adds to the line of a name with a suffix and labels.
func (m *metric) add(suffix, labels string, v float64) {
	line := m.name + suffix
	if labels != "" {
		line += "{" + labels + "}"
	}
	if _, ok := m.values[line]; !ok {
		m.lines = append(m.lines, line)
	}
	m.values[line] += v
}

// NewMetrics returns metrics of their own, apart from any other in the process.
func NewMetrics() *Metrics {
	m := &Metrics{}
	m.requests = m.new("counter", "marginlab_http_requests_total", "HTTP requests answered.", nil)
	m.requestDuration = m.new("histogram", "marginlab_http_request_duration_seconds", "Time to answer an HTTP request, event streams included.", nil, .005, .02, .05, .1, .3, 1, 3, 10, 60)
	m.trainings = m.new("counter", "marginlab_trainings_total", "Trainings of runs that ended.", nil)
	m.trainingDuration = m.new("histogram", "marginlab_training_duration_seconds", "Time to train a run.", nil, .01, .1, 1, 10, 60, 600, 3600)
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	m.new("gauge", "marginlab_build_info", "Always 1; the labels name the program.", func(m *metric) {
		m.add("", fmt.Sprintf("go=%q,version=%q", runtime.Version(), version), 1)
	})
	m.Gauge("go_goroutines", "Goroutines that exist.", func() float64 { return float64(runtime.NumGoroutine()) })
	m.Gauge("go_memstats_heap_inuse_bytes", "Bytes of the heap in used spans.", func() float64 { return float64(memory().HeapInuse) })
	m.Gauge("go_memstats_sys_bytes", "Bytes taken from the system.", func() float64 { return float64(memory().Sys) })
	m.new("counter", "go_memstats_alloc_bytes_total", "Bytes allocated on the heap, freed ones included.", func(m *metric) { m.add("", "", float64(memory().TotalAlloc)) })
	started := float64(time.Now().UnixMilli()) / 1000
	m.Gauge("process_start_time_seconds", "When the program started, in Unix time.", func() float64 { return started })
	m.Gauge("process_resident_memory_bytes", "Memory that the program has.", func() float64 { return process(21) * float64(os.Getpagesize()) })
	m.new("counter", "process_cpu_seconds_total", "Time of processors that the program took.", func(m *metric) { m.add("", "", (process(11)+process(12))/100) })
	return m
}

func memory() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	return m
}

// process returns a field of what Linux says of the process in /proc/self/stat, counted from the
// one behind the name; NaN elsewhere.
func process(field int) float64 {
	text, _ := os.ReadFile("/proc/self/stat")
	if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); field < len(fields) {
		v, _ := strconv.ParseFloat(fields[field], 64)
		return v
	}
	return math.NaN()
}

func (m *Metrics) new(kind, name, help string, read func(m *metric), buckets ...float64) *metric {
	added := &metric{name: name, help: help, kind: kind, values: map[string]float64{}, read: read, buckets: buckets}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, added)
	return added
}

// count counts something and the time that it took.
func (m *Metrics) count(counter *metric, labels string, timer *metric, label string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	counter.add("", labels, 1)
	for _, most := range append(timer.buckets, math.Inf(1)) {
		within := 0.0
		if took.Seconds() <= most {
			within = 1
		}
		timer.add("_bucket", label+`,le="`+strconv.FormatFloat(most, 'g', -1, 64)+`"`, within)
	}
	timer.add("_sum", label, took.Seconds())
	timer.add("_count", label, 1)
}

// request counts one answered request.
func (m *Metrics) request(method, route string, status int, took time.Duration) {
	m.count(m.requests, fmt.Sprintf(`method=%q,route=%q,status="%d"`, method, route, status), m.requestDuration, fmt.Sprintf("route=%q", route), took)
}

// Training counts one training: "svm", "done", and how long it took.
func (m *Metrics) Training(learner, outcome string, took time.Duration) {
	m.count(m.trainings, fmt.Sprintf("learner=%q,outcome=%q", learner, outcome), m.trainingDuration, fmt.Sprintf("learner=%q", learner), took)
}

// Gauge shows what f returns, whenever it is looked at.
func (m *Metrics) Gauge(name, help string, f func() float64) {
	m.new("gauge", name, help, func(m *metric) { m.add("", "", f()) })
}

// Gauges shows what f returns by the values of a label, whenever it is looked at.
func (m *Metrics) Gauges(name, help, label string, f func() map[string]float64) {
	m.new("gauge", name, help, func(m *metric) {
		of := f()
		for _, value := range slices.Sorted(maps.Keys(of)) {
			m.add("", fmt.Sprintf("%s=%q", label, value), of[value])
		}
	})
}

// ServeHTTP writes the metrics and those of the process.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.mu.Lock()
	all := slices.Clone(m.all)
	m.mu.Unlock()
	for _, one := range all {
		_, _ = w.Write(m.text(one)) // who left does not read it
	}
}

// text returns the lines of a metric, none without values.
func (m *Metrics) text(of *metric) []byte {
	if of.read != nil { // without the lock, as it may take a while
		of = &metric{name: of.name, help: of.help, kind: of.kind, values: map[string]float64{}, read: of.read}
		of.read(of)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var b bytes.Buffer
	for i, line := range of.lines {
		if i == 0 {
			fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", of.name, of.help, of.kind)
		}
		fmt.Fprintf(&b, "%s %s\n", line, strconv.FormatFloat(of.values[line], 'g', -1, 64))
	}
	return b.Bytes()
}

// Alone answers /metrics and nothing else.
func (m *Metrics) Alone() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	return mux
}
