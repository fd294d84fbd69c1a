package trace_test

import (
	"math"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// The recorder of a context receives the rows of all parts; without one, Report does nothing.
func TestFollow(t *testing.T) {
	t.Parallel()
	var got []string
	record := func(s trace.Step) { got = append(got, s.String()) }
	ctx := trace.Follow(t.Context(), trace.Scoring, record)
	trace.Report(ctx, 0, 9)
	trace.Report(trace.Part(ctx, 4, 9), 3, 5)
	trace.Report(trace.Follow(ctx, trace.Drawing, record), 1, 2)
	trace.Report(trace.Part(trace.Follow(t.Context(), trace.Scoring, nil), 1, 2), 1, 1)
	require.Slices(t, got, []string{"Scoring: 0 of 9 rows", "Scoring: 7 of 9 rows", "Drawing: 1 of 2 rows"}, "got")
	// Once the solver has ended, there is no estimate of the remaining time.
	d := watched(1e-3, 60, func(i int) float64 { return math.Exp2(-float64(i) / 10) })
	_, ok := d.Left()
	require.Check(t, ok, "no estimate")
	d.Note(10*time.Second, trace.Step{Phase: trace.Scoring, Done: 1, Rows: 2})
	_, ok = d.Left()
	require.Check(t, !ok, "an estimate while scoring")
}
