package cmdline

import (
	"math"
	"strings"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// The line appears after half a second, changes no more often than that, and is gone in the
// end; where nobody looks there is none.
func TestProgress(t *testing.T) {
	t.Parallel()
	line := func(text string) string { return "\r\x1b[K\x1b[?7l" + text + "\x1b[?7h" } // in one line, however long
	var b strings.Builder
	clock := time.Unix(0, 0)
	p := &progress{w: &b, now: func() time.Time { return clock }, last: clock}
	for i := range 13 {
		p.tell(trace.Step{Phase: "kernel matrix", Done: i, Rows: 20})
		clock = clock.Add(100 * time.Millisecond)
	}
	p.end()
	got, want := b.String(), line("[####............] Kernel matrix: 5 of 20 rows")+line("[########........] Kernel matrix: 10 of 20 rows")+"\r\x1b[K"
	require.Check(t, got == want, "%q", got)
	b.Reset()
	cells := p.cells()
	for i := range 3 {
		clock = clock.Add(time.Second)
		cells(i+1, 4)
	}
	p.end()
	got, want = b.String(), line("[####............] About 3s left. 1 of 4 cells")+line("[########........] About 2s left. 2 of 4 cells")+line("[############....] About 1s left. 3 of 4 cells")+"\r\x1b[K"
	require.Check(t, got == want, "%q", got)
	b.Reset()
	solver := &progress{w: &b, now: func() time.Time { return clock }, start: clock, last: clock}
	for i := range 40 { // halves every four tenths of a second
		solver.tell(trace.Step{Phase: "svm", Iteration: i, Violation: math.Exp2(-float64(i) / 4), Goal: 1.0 / 1024})
		clock = clock.Add(100 * time.Millisecond)
	}
	lines := strings.Split(b.String(), "\r\x1b[K")
	require.Check(t, strings.Contains(lines[len(lines)-1], "About 1s left. SVM: "), "%q", lines)
	b.Reset()
	along := &progress{w: &b, now: func() time.Time { return clock }, start: clock.Add(-20 * time.Second), last: time.Time{}}
	along.tell(trace.Step{Phase: "entry points", C: 2500, Done: 60, Trainings: 120, Left: 20 * time.Second})
	got, want = b.String(), line("[########........] About 20s left. Entry points: C = 2500, 60 of 120 trainings")
	require.Check(t, got == want, "%q", got)
	b.Reset()
	short := &progress{w: &b, now: func() time.Time { return clock }, last: clock}
	short.tell(trace.Step{Phase: "svm"})
	short.end()
	silent := progressOn(Streams{Err: &b})
	silent.last = time.Time{}
	silent.tell(trace.Step{Phase: "svm"})
	silent.end()
	require.Equal(t, b.String(), "", "b.String()")
}

// The time left is told to the second, or to the minute of long ones.
func TestRough(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Millisecond: "1s", 65400 * time.Millisecond: "1m5s", 25*time.Minute + 49*time.Second: "26m", 6*time.Hour - time.Second: "6h0m",
	} {
		require.Equal(t, rough(d), want, "%v", d)
	}
}
