package ml_test

import (
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// Labels of others' files are no formulas in the files that people download.
func TestPredictionsHoldNoFormulas(t *testing.T) {
	t.Parallel()
	d := data([][]float64{{-2}, {-1}, {1}, {2}}, "=1+2", "=1+2", "yes", "yes")
	d.Label = "@label"
	s := spec(t, "kernel", "linear")
	m := train(t, d, s).Model
	points := require.Value(m.Points(d, s))(t)
	var b strings.Builder
	require.NoError(t, m.WritePoints(&b, points))
	if got := b.String(); !strings.HasPrefix(got, "row,'@label,predicted,") || !strings.Contains(got, "\n1,'=1+2,'=1+2,") || !strings.Contains(got, "\n3,yes,yes,") {
		t.Errorf("of the points:\n%s", got)
	}
	table := require.Value(dataset.ParseTable(strings.NewReader("x1,@label\n-3,=1+2\n3,yes\n"), "more.csv", dataset.Limits{}))(t)
	p := require.Value(m.PredictTable(t.Context(), table))(t)
	b.Reset()
	require.NoError(t, p.WriteCSV(&b, false))
	got := b.String()
	require.Check(t, strings.Contains(got, "\n1,'=1+2,") && strings.Contains(got, ",'=1+2\n") && strings.Contains(got, "\n2,yes,"), "of the file:\n%s", got)
}
