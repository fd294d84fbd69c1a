package mercer

import (
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// The answer is robust: the worst kernel is far behind the suitable ones, by more than the
// standard error for a thousand points.
func TestWorstKernelIsWorse(t *testing.T) {
	t.Parallel()
	_, d, fresh, err := sideData(sideSet.Default)
	require.NoError(t, err)
	at := require.Value(worst(t.Context()))(t)
	var wrong []float64
	for k := range four {
		res, _, err := lessons.Fit(t.Context(), d, settings(k, sideGamma.Default, sideC.Default)...)
		require.NoError(t, err)
		w := require.Value(lessons.ErrorRate(res.Model, fresh))(t)
		wrong = append(wrong, w)
	}
	for k, w := range wrong {
		require.Check(t, k == int(at) || wrong[int(at)] >= w+0.03, "the errors %v are too close for a question", wrong)
	}
	if e := lessonstest.Show(t, Lesson(), "side-by-side"); len(e.Figures) != 5 || len(e.Tables[0].Rows) != 4 {
		t.Errorf("%d figures, %d rows", len(e.Figures), len(e.Tables[0].Rows))
	}
}
