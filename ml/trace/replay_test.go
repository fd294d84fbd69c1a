package trace_test

import (
	"context"
	"math"
	"testing"
	"time"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// count yields 0 to n and then converges.
func count(n int) func(yield func(int) bool) trace.Status {
	return func(yield func(int) bool) trace.Status {
		for i := range n + 1 {
			if !yield(i) {
				return trace.Numerical // overridden by the reason for stopping
			}
		}
		return trace.Converged
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	ended := mltest.Ended()
	for name, c := range map[string]struct {
		ctx      context.Context
		n, steps int
		len      int
		status   trace.Status
	}{
		"ends before the limit": {t.Context(), 3, 10, 4, trace.Converged},
		"ends at the limit":     {t.Context(), 3, 3, 4, trace.Converged},
		"meets the limit":       {t.Context(), 4, 3, 4, trace.IterationLimit},
		"no step":               {t.Context(), 4, 0, 1, trace.IterationLimit},
		"nothing to do":         {t.Context(), 0, 5, 1, trace.Converged},
		"ended context":         {ended, 3, 10, 1, trace.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := trace.Record(c.ctx, c.steps, count(c.n))
			require.Check(t, r.Len() == c.len && r.Status() == c.status,
				"%d states, %s; want %d, %s", r.Len(), r.Status(), c.len, c.status)
			for i := -2; i < c.len+2; i++ {
				require.Equal(t, r.At(i), min(max(i, 0), c.len-1), "state %d", i)
			}
		})
	}
}

// The recorder of a context receives the rows of the computation and of its parts; without one,
// Report does nothing.
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
}

// Once the solver has ended, there is no estimate of the remaining time.
func TestDeclineEndsWithTheSolver(t *testing.T) {
	t.Parallel()
	d := watched(1e-3, 60, func(i int) float64 { return math.Exp2(-float64(i) / 10) })
	_, ok := d.Left()
	require.Check(t, ok, "no estimate")
	d.Note(10*time.Second, trace.Step{Phase: trace.Scoring, Done: 1, Rows: 2})
	_, ok = d.Left()
	require.Check(t, !ok, "an estimate while scoring")
}
