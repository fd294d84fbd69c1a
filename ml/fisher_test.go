package ml_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// The mixture of a Fisher kernel is fitted to the training rows: whatever the rows held out
// are, it stays the same. Of a fold TestTrainerJudges tells.
func TestFisherLearnsFromTrainingRows(t *testing.T) {
	t.Parallel()
	for _, standardize := range []string{"true", "false"} {
		s := spec(t, "kernel", "fisher", "components", "3", "standardize", standardize, "test_fraction", "0.25")
		d := clouds(80, 2, 4)
		target := require.Value(ml.TargetOf(d, s))(t)
		_, held := dataset.Split(target.Strata(), 0.25, s.Seed)
		a := train(t, d, s)
		moved := clouds(80, 2, 4)
		for _, i := range held {
			moved.X.Set(i, 0, moved.X.At(i, 0)+100)
		}
		b := train(t, moved, s)
		diff := cmp.Diff(asJSON(t, a.Model), asJSON(t, b.Model))
		require.Check(t, diff == "", "standardize %s: rows held out decide: %s", standardize, diff)
		if l := a.Report.LogLikelihood; l == nil || *l != a.Model.Kernel.Fitted[0].LogLikelihood || *a.Report.LeftOut != 0 {
			t.Errorf("report %+v", a.Report)
		}
	}
}

// A recorder hears of the mixture before it hears of the machine.
func TestFisherIsHeard(t *testing.T) {
	t.Parallel()
	var phases []string
	_, err := ml.Train(t.Context(), clouds(60, 2, 4), spec(t, "kernel", "fisher", "C", "1000", "tol", "1e-6"), func(s trace.Step) { phases = append(phases, s.Phase) })
	phases = slices.Compact(phases)
	require.Check(t, err == nil && len(phases) != 0 && phases[0] == "mixture", "%v, %v", err, phases)
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
		_, err := ml.ReadModel(strings.NewReader(text))
		require.Check(t, err != nil && strings.Contains(err.Error(), "model: kernel"), "%s: read with %v", name, err)
		require.Fails(t, require.Err(ml.ReadStoredModel([]byte(text))), "", "%s: read from the store", name)
	}
	require.Fails(t, require.Err(ml.Train(t.Context(), clouds(40, 2, 1), spec(t, "kernel", "fisher", "components", "41"), nil)),
		"take fewer components", "more components than rows")
}
