package ml_test

import (
	"strings"
	"testing"

	"marginlab/ml/dataset"
)

// Labels of others' files are no formulas in the files that people download.
func TestPredictionsHoldNoFormulas(t *testing.T) {
	t.Parallel()
	d := data([][]float64{{-2}, {-1}, {1}, {2}}, "=1+2", "=1+2", "yes", "yes")
	d.Label = "@label"
	s := spec(t, "kernel", "linear")
	m := train(t, d, s).Model
	points, err := m.Points(d, s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := m.WritePoints(&b, points); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, "row,'@label,predicted,") || !strings.Contains(got, "\n1,'=1+2,'=1+2,") || !strings.Contains(got, "\n3,yes,yes,") {
		t.Errorf("of the points:\n%s", got)
	}
	table, err := dataset.ParseTable(strings.NewReader("x1,@label\n-3,=1+2\n3,yes\n"), "more.csv", dataset.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.PredictTable(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := p.WriteCSV(&b, false); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "\n1,'=1+2,") || !strings.Contains(got, ",'=1+2\n") || !strings.Contains(got, "\n2,yes,") {
		t.Errorf("of the file:\n%s", got)
	}
}
