package ml_test

import (
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// An expression trains like any kernel, of whatever kind its parts are, with a conformal
// map and without, and its model comes back from JSON with the same scores.
func TestCombinedTrains(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data       *dataset.Data
		expression string
	}{
		"points":  {clouds(40, 2, 3), "rbf + 0.5*linear*fisher(components=2, starts=1)"},
		"strings": {spelt(toy()), "spectrum(k=1, normalize=true) + 2*gap-subsequence(k=2)"},
		"graphs":  {joined(toy()), "wl(rounds=1)*wl(rounds=2, normalize=true) + 1"},
	} {
		for _, set := range [][]string{{}, {"learner", "mcm", "rho", "0.1"}, {"learner", "ridge"}, {"conformal", "gradient"}} {
			s := spec(t, append(set, "kernel", "combined", "expression", c.expression)...)
			require.Must(t, s.Takes() == c.data.Kind() && s.Applies("standardize") == (name == "points"), "%s: takes %q", name, s.Takes())
			res := train(t, c.data, s)
			text := asJSON(t, res.Model)
			back := require.Value(ml.ReadModel(strings.NewReader(text)))(t, "%s", name)
			was, err := res.Model.Accuracy(c.data)
			is, err2 := back.Accuracy(c.data)
			require.Check(t, asJSON(t, back) == text && err == nil && err2 == nil && was == is && was == *res.Report.TrainAccuracy,
				"%s %v: accuracy %g, %g after JSON, reported %g: %v, %v", name, set, was, is, *res.Report.TrainAccuracy, err, err2)
			got := res.Report.Values.Text("expression")
			require.Check(t, got != "" && !strings.Contains(got, "auto"), "%s: reported as %q", name, got)
			var report ml.Report
			if err := report.UnmarshalJSON([]byte(asJSON(t, res.Report))); err != nil || report.Values.Text("expression") != res.Report.Values.Text("expression") {
				t.Errorf("%s: the report came back with %v, %v", name, report.Values, err)
			}
		}
	}
}

func TestCombinedRefuses(t *testing.T) {
	t.Parallel()
	var s ml.Spec
	err := s.UnmarshalJSON([]byte(`{"kernel":"combined","expression":"rbf + "}`))
	require.Check(t, err != nil && err.(param.Problems).For("expression") == "expression: character 7: expected a kernel, a number or (, found the end",
		"%v", err)
	s = spec(t, "kernel", "combined", "expression", "spectrum + 1")
	require.Fails(t, require.Err(ml.Train(t.Context(), toy(), s, nil)),
		"combined compares strings, but these data are points with features; use linear", "strings on points")
	require.Equal(t, s.Name(nil), "SVM, spectrum + 1, C 1", "name")
	s = s.With("expression", param.Of("+"))
	err = ml.Check(toy(), s)
	require.Check(t, err != nil && s.Takes() == "", "checked: %v", err)
	again, err := ml.ReadStoredSpec([]byte(`{"kernel":"combined","expression":"+"}`))
	require.Check(t, err == nil && again.Text("expression") == "+", "stored: %q, %v", again.Text("expression"), err)
}

// A recorder receives the mixture before the machine, and the report has its status.
func TestFisherReports(t *testing.T) {
	t.Parallel()
	var phases []string
	res := require.Value(ml.Train(t.Context(), clouds(60, 2, 4), spec(t, "kernel", "fisher", "C", "1000", "tol", "1e-6"), func(s trace.Step) { phases = append(phases, s.Phase) }))(t)
	phases = slices.Compact(phases)
	require.Check(t, len(phases) != 0 && phases[0] == "mixture", "%v", phases)
	l := res.Report.LogLikelihood
	require.Check(t, l != nil && *l == res.Model.Kernel.Fitted[0].LogLikelihood && *res.Report.LeftOut == 0, "report %+v", res.Report)
}

// A model of a Fisher kernel without its mixture, or with the mixture of other points, has no values.
func TestFisherModelNeedsItsMixture(t *testing.T) {
	t.Parallel()
	m := train(t, clouds(40, 2, 1), spec(t, "kernel", "fisher")).Model
	other := train(t, clouds(40, 3, 1), spec(t, "kernel", "fisher")).Model
	for name, spoil := range map[string]func(m *ml.Model){
		"without":      func(m *ml.Model) { m.Kernel.Fitted = nil },
		"other points": func(m *ml.Model) { m.Kernel.Fitted = other.Kernel.Fitted },
		"no kernel":    func(m *ml.Model) { m.Kernel.Name = "rbf" },
	} {
		bad := *m
		spoil(&bad)
		text := asJSON(t, &bad)
		require.Fails(t, require.Err(ml.ReadModel(strings.NewReader(text))), "model: kernel", "%s: read with ", name)
		require.Fails(t, require.Err(ml.ReadStoredModel([]byte(text))), "", "%s: read from the store", name)
	}
	require.Fails(t, require.Err(ml.Train(t.Context(), clouds(40, 2, 1), spec(t, "kernel", "fisher", "components", "41"), nil)),
		"use fewer components", "more components than rows")
}
