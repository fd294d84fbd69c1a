package cmdline

import (
	"math"
	"strings"
	"testing"
	"time"

	"marginlab/ml/trace"
)

// The line appears after half a second, changes no more often than that, and is gone in the
// end; where nobody looks there is none.
func TestProgress(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	clock := time.Unix(0, 0)
	p := &progress{w: &b, now: func() time.Time { return clock }, last: clock}
	for i := range 13 {
		p.tell(trace.Step{Phase: "kernel matrix", Done: i, Rows: 20})
		clock = clock.Add(100 * time.Millisecond)
	}
	p.end()
	if got, want := b.String(), "\r\x1b[K[######..................] kernel matrix: 5 of 20 rows\r\x1b[K[############............] kernel matrix: 10 of 20 rows\r\x1b[K"; got != want {
		t.Errorf("%q", got)
	}
	b.Reset()
	cells := p.cells()
	for i := range 3 {
		clock = clock.Add(time.Second)
		cells(i+1, 4)
	}
	p.end()
	if got, want := b.String(), "\r\x1b[K[######..................] 1 of 4 cells, about 3s left\r\x1b[K[############............] 2 of 4 cells, about 2s left\r\x1b[K[##################......] 3 of 4 cells, about 1s left\r\x1b[K"; got != want {
		t.Errorf("%q", got)
	}
	b.Reset()
	solver := &progress{w: &b, now: func() time.Time { return clock }, start: clock, last: clock}
	for i := range 40 { // halves every four tenths of a second
		solver.tell(trace.Step{Phase: "svm", Iteration: i, Violation: math.Exp2(-float64(i) / 4), Goal: 1.0 / 1024})
		clock = clock.Add(100 * time.Millisecond)
	}
	if lines := strings.Split(b.String(), "\r\x1b[K"); !strings.HasSuffix(lines[len(lines)-1], ", about 1s left") && !strings.HasSuffix(lines[len(lines)-1], ", about 0s left") {
		t.Errorf("%q", lines)
	}
	b.Reset()
	along := &progress{w: &b, now: func() time.Time { return clock }, start: clock.Add(-20 * time.Second), last: time.Time{}}
	along.tell(trace.Step{Phase: "entry points", C: 2500, Done: 60, Trainings: 120, Left: 20 * time.Second})
	if got, want := b.String(), "\r\x1b[K[############............] entry points: C = 2500, 60 of 120 trainings, about 20s left"; got != want {
		t.Errorf("%q", got)
	}
	b.Reset()
	short := &progress{w: &b, now: func() time.Time { return clock }, last: clock}
	short.tell(trace.Step{Phase: "svm"})
	short.end()
	silent := progressOn(Streams{Err: &b})
	silent.last = time.Time{}
	silent.tell(trace.Step{Phase: "svm"})
	silent.end()
	if b.String() != "" {
		t.Errorf("%q", b.String())
	}
}
