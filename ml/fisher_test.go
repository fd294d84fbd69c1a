package ml_test

import (
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// A recorder receives the mixture before the machine, and the report has its status.
func TestFisherReports(t *testing.T) {
	t.Parallel()
	var phases []string
	res := require.Value(ml.Train(t.Context(), clouds(60, 2, 4), spec(t, "kernel", "fisher", "C", "1000", "tol", "1e-6"), func(s trace.Step) { phases = append(phases, s.Phase) }))(t)
	phases = slices.Compact(phases)
	require.Check(t, len(phases) != 0 && phases[0] == "mixture", "%v", phases)
	if l := res.Report.LogLikelihood; l == nil || *l != res.Model.Kernel.Fitted[0].LogLikelihood || *res.Report.LeftOut != 0 {
		t.Errorf("report %+v", res.Report)
	}
}

// A model of a Fisher kernel without its mixture, or with that of other points, cannot be
// evaluated, however it came here.
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
