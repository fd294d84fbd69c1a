package trace_test

import (
	"math"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// Who follows a context hears of the rows of its work and of its parts; without anyone, telling
// does nothing.
func TestFollow(t *testing.T) {
	t.Parallel()
	var heard []string
	hear := func(s trace.Step) { heard = append(heard, s.String()) }
	ctx := trace.Follow(t.Context(), trace.Scoring, hear)
	trace.Tell(ctx, 0, 9)
	trace.Tell(trace.Part(ctx, 4, 9), 3, 5)
	trace.Tell(trace.Follow(ctx, trace.Drawing, hear), 1, 2)
	trace.Tell(trace.Part(trace.Follow(t.Context(), trace.Scoring, nil), 1, 2), 1, 1)
	require.Slices(t, heard, []string{"scoring: 0 of 9 rows", "scoring: 7 of 9 rows", "drawing: 1 of 2 rows"}, "heard")
}

// Once the solver is through, nothing is known of the time left.
func TestDeclineEndsWithTheSolver(t *testing.T) {
	t.Parallel()
	d := watched(1e-3, 60, func(i int) float64 { return math.Exp2(-float64(i) / 10) })
	_, ok := d.Left()
	require.Check(t, ok, "no estimate")
	d.Note(10*time.Second, trace.Step{Phase: trace.Scoring, Done: 1, Rows: 2})
	_, ok = d.Left()
	require.Check(t, !ok, "an estimate while scoring")
}
