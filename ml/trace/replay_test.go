package trace_test

import (
	"context"
	"testing"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

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
