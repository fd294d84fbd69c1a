package web

import (
	"bytes"
	"fmt"
	"io"
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

// Metrics counts what the program does, in the text format of Prometheus. It is written here, for
// the packages of Prometheus take a tenth of the start of every command.
type Metrics struct {
	reading  sync.Mutex // one reads at a time: values are read together
	mu       sync.Mutex
	families []*family // in the order of their names

	requests, trainings               *family
	requestDuration, trainingDuration *family
}

// family is what stands under one name: a counter, gauge or histogram for each set of labels.
type family struct {
	name, help, kind string
	bounds           []float64                                 // of a histogram's buckets, without the last, which has none
	series           map[string]*series                        // by labels as they are written; of gauges empty
	read             func(show func(labels string, v float64)) // shows the values of a gauge, or of a counter kept elsewhere
}

type series struct {
	counts []uint64 // of each bucket; of a counter one
	sum    float64
}

// NewMetrics returns metrics of their own, apart from any other in the process.
func NewMetrics() *Metrics {
	m := &Metrics{}
	m.requests = m.add("counter", "marginlab_http_requests_total", "HTTP requests answered.", nil)
	m.requestDuration = m.add("histogram", "marginlab_http_request_duration_seconds", "Time to answer an HTTP request, event streams included.", nil, .005, .02, .05, .1, .3, 1, 3, 10, 60)
	m.trainings = m.add("counter", "marginlab_trainings_total", "Trainings of runs that ended.", nil)
	m.trainingDuration = m.add("histogram", "marginlab_training_duration_seconds", "Time to train a run.", nil, .01, .1, 1, 10, 60, 600, 3600)
	version, goVersion := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version, goVersion = info.Main.Version, info.GoVersion
	}
	m.add("gauge", "marginlab_build_info", "Always 1; the labels name the program.", func(show func(string, float64)) {
		show(labels("go", goVersion, "version", version), 1)
	})
	m.add("gauge", "go_info", "Always 1; the label is the version of Go.", func(show func(string, float64)) { show(labels("version", runtime.Version()), 1) })
	m.Gauge("go_goroutines", "Goroutines that exist.", func() float64 { return float64(runtime.NumGoroutine()) })
	var memory runtime.MemStats
	for _, g := range []struct {
		kind, name, help string
		of               func() float64
	}{ // of which the first reads them for the others, which follow it by name
		{"gauge", "go_memstats_alloc_bytes", "Bytes of the heap in use by objects.", func() float64 { runtime.ReadMemStats(&memory); return float64(memory.Alloc) }},
		{"counter", "go_memstats_alloc_bytes_total", "Bytes allocated on the heap, those that were freed included.", func() float64 { return float64(memory.TotalAlloc) }},
		{"counter", "go_memstats_gc_cycles_total", "Collections of garbage.", func() float64 { return float64(memory.NumGC) }},
		{"counter", "go_memstats_gc_pause_seconds_total", "Time for which collections of garbage stopped the program.", func() float64 { return float64(memory.PauseTotalNs) / 1e9 }},
		{"gauge", "go_memstats_heap_idle_bytes", "Bytes of the heap in unused spans.", func() float64 { return float64(memory.HeapIdle) }},
		{"gauge", "go_memstats_heap_inuse_bytes", "Bytes of the heap in used spans.", func() float64 { return float64(memory.HeapInuse) }},
		{"gauge", "go_memstats_heap_objects", "Objects on the heap.", func() float64 { return float64(memory.HeapObjects) }},
		{"gauge", "go_memstats_heap_released_bytes", "Bytes of the heap given back to the system.", func() float64 { return float64(memory.HeapReleased) }},
		{"gauge", "go_memstats_next_gc_bytes", "Size of the heap at which garbage is collected next.", func() float64 { return float64(memory.NextGC) }},
		{"gauge", "go_memstats_stack_inuse_bytes", "Bytes of stacks.", func() float64 { return float64(memory.StackInuse) }},
		{"gauge", "go_memstats_sys_bytes", "Bytes taken from the system.", func() float64 { return float64(memory.Sys) }},
	} {
		m.add(g.kind, g.name, g.help, func(show func(string, float64)) { show("", g.of()) })
	}
	started := float64(time.Now().UnixMilli()) / 1000
	m.Gauge("process_start_time_seconds", "When the program started, in Unix time.", func() float64 { return started })
	const second = 100 // ticks
	m.process("counter", "process_cpu_seconds_total", "Time of processors that the program took.", func(stat []float64) float64 { return (stat[11] + stat[12]) / second })
	m.process("gauge", "process_virtual_memory_bytes", "Size of the address space.", func(stat []float64) float64 { return stat[20] })
	m.process("gauge", "process_resident_memory_bytes", "Memory that the program has.", func(stat []float64) float64 { return stat[21] * float64(os.Getpagesize()) })
	m.Gauge("process_max_fds", "Files that may be open.", func() float64 { return float64(openFiles(math.MaxInt)) })
	m.add("gauge", "process_open_fds", "Files that are open.", func(show func(string, float64)) {
		if files, err := os.ReadDir("/proc/self/fd"); err == nil {
			show("", float64(len(files)))
		}
	})
	return m
}

// process adds what Linux tells of the process in /proc/self/stat; of counts the fields from the
// state on, which is the first.
func (m *Metrics) process(kind, name, help string, of func(stat []float64) float64) {
	m.add(kind, name, help, func(show func(string, float64)) {
		text, _ := os.ReadFile("/proc/self/stat")
		var stat []float64
		for field := range strings.FieldsSeq(string(text[bytes.LastIndexByte(text, ')')+1:])) { // behind the name
			v, _ := strconv.ParseFloat(field, 64)
			stat = append(stat, v)
		}
		if len(stat) > 21 {
			show("", of(stat))
		}
	})
}

// add adds what stands under a name, which nothing else has.
func (m *Metrics) add(kind, name, help string, read func(show func(labels string, v float64)), bounds ...float64) *family {
	f := &family{name: name, help: help, kind: kind, bounds: bounds, series: map[string]*series{}, read: read}
	m.mu.Lock()
	defer m.mu.Unlock()
	at, _ := slices.BinarySearchFunc(m.families, name, func(f *family, name string) int { return strings.Compare(f.name, name) })
	m.families = slices.Insert(m.families, at, f)
	return f
}

// labels writes pairs of names and values, in the order of the names.
func labels(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(pairs[i] + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(pairs[i+1]) + `"`)
	}
	return b.String()
}

// observe counts a value: in its bucket, where there are some.
func (m *Metrics) observe(f *family, v float64, pairs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := labels(pairs...)
	s := f.series[key]
	if s == nil {
		s = &series{counts: make([]uint64, len(f.bounds)+1)}
		f.series[key] = s
	}
	at, _ := slices.BinarySearch(f.bounds, v)
	s.counts[at]++
	s.sum += v
}

// request counts one answered request.
func (m *Metrics) request(method, route string, status int, took time.Duration) {
	m.observe(m.requests, 1, "method", method, "route", route, "status", strconv.Itoa(status))
	m.observe(m.requestDuration, took.Seconds(), "route", route)
}

// Training counts one training: "svm", "done", and how long it took.
func (m *Metrics) Training(learner, outcome string, took time.Duration) {
	m.observe(m.trainings, 1, "learner", learner, "outcome", outcome)
	m.observe(m.trainingDuration, took.Seconds(), "learner", learner)
}

// Gauge shows what f returns, whenever it is looked at.
func (m *Metrics) Gauge(name, help string, f func() float64) {
	m.add("gauge", name, help, func(show func(string, float64)) { show("", f()) })
}

// Gauges shows what f returns by the values of a label, whenever it is looked at.
func (m *Metrics) Gauges(name, help, label string, f func() map[string]float64) {
	m.add("gauge", name, help, func(show func(string, float64)) {
		of := f()
		for _, value := range slices.Sorted(maps.Keys(of)) {
			show(labels(label, value), of[value])
		}
	})
}

// ServeHTTP writes the metrics and those of the process.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.reading.Lock()
	defer m.reading.Unlock()
	m.mu.Lock()
	families := slices.Clone(m.families)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	var b strings.Builder
	for _, f := range families {
		m.write(&b, f)
	}
	_, _ = io.WriteString(w, b.String()) // who left does not read it
}

// write writes a family that has values.
func (m *Metrics) write(b *strings.Builder, f *family) {
	said := false
	show := func(suffix, labels string, v float64) {
		if !said {
			fmt.Fprintf(b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", f.name, f.help, f.kind)
			said = true
		}
		if labels != "" {
			labels = "{" + labels + "}"
		}
		fmt.Fprintf(b, "%s%s%s %s\n", f.name, suffix, labels, strconv.FormatFloat(v, 'g', -1, 64))
	}
	if f.read != nil { // which may take a while
		f.read(func(labels string, v float64) { show("", labels, v) })
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.series)) {
		s, all := f.series[key], uint64(0)
		if f.bounds == nil {
			show("", key, float64(s.counts[0]))
			continue
		}
		for k, n := range s.counts {
			bound := "+Inf"
			if all += n; k < len(f.bounds) {
				bound = strconv.FormatFloat(f.bounds[k], 'g', -1, 64)
			}
			show("_bucket", key+`,le="`+bound+`"`, float64(all))
		}
		show("_sum", key, s.sum)
		show("_count", key, float64(all))
	}
}

// Alone answers /metrics and nothing else.
func (m *Metrics) Alone() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m)
	return mux
}
