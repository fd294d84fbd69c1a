package mercer

import (
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// The worst kernel is far behind the suitable ones, by more than the standard error.
func TestWorstKernelIsWorse(t *testing.T) {
	t.Parallel()
	_, d, fresh := sideData(sideSet.Default)
	at := worst(t.Context())
	var wrong []float64
	for k := range four {
		res := lessons.Fit(t.Context(), d, settings(k, sideGamma.Default, sideC.Default)...)
		wrong = append(wrong, lessons.ErrorRate(res.Model, fresh))
	}
	for k, w := range wrong {
		require.Check(t, k == int(at) || wrong[int(at)] >= w+0.03, "the errors %v are too close for a question", wrong)
	}
	e := lessonstest.Show(t, Lesson(), "side-by-side")
	require.Check(t, len(e.Figures) == 5 && len(e.Tables[0].Rows) == 4, "%d figures, %d rows", len(e.Figures), len(e.Tables[0].Rows))
}
