package ml_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// Steps are the trainings of their C, of which that of the spec is one, and between two of them a row
// has an entry point exactly where its part differs.
func TestRegularise(t *testing.T) {
	t.Parallel()
	d := clouds(80, 3, 14)
	set := []string{"gamma", "scale", "test_fraction", "0.25", "seed", "3", "positive", "a", "C", "3", "tol", "1e-6"}
	var steps []trace.Step
	r := require.Value(ml.Regularise(t.Context(), d, spec(t, set...), func(s trace.Step) { steps = append(steps, s) }))(t)
	for k, s := range steps {
		require.Check(t, k == 0 || s.Done*steps[k-1].Trainings > steps[k-1].Done*s.Trainings,
			"%v at %d of %v", s, k, steps)
	}
	if s := steps[len(steps)-1]; s.Done != s.Trainings || s.Trainings < len(r.Steps) || s.Phase != "entry points" || s.Left != 0 || len(steps) != len(r.Steps)+r.Folds {
		t.Errorf("%d steps for %d machines, the last is %v", len(steps), len(r.Steps), s)
	}
	s := steps[0]
	require.Check(t, s.Phase == "held out, fold 1 of 5" && s.Done == 1 && s.C == 0, "the first step is %v", s)
	if s := steps[5]; s.Phase != trace.AlongC || s.C != r.Steps[0].C || s.Done != 6 || s.Left != 0 {
		t.Errorf("the first step along C is %v", s)
	}
	s = steps[len(steps)/2]
	require.Check(t, s.Left > 0, "no time is left at %v", s)
	require.Must(t, len(r.Rows) == 60 && r.Folds == 5 && len(r.Entries) != 0,
		"%d rows, %d folds, %d entries", len(r.Rows), r.Folds, len(r.Entries))
	judged := 0
	for a, s := range r.Steps {
		if s.Accuracy != nil {
			judged++
		}
		require.Check(t, a == 0 || s.C > r.Steps[a-1].C, "C = %g, step %d of %v", s.C, a, r.Steps)
	}
	require.Check(t, judged >= 57 && judged != len(r.Steps), "%d of %d steps are judged", judged, len(r.Steps))
	at := slices.IndexFunc(r.Steps, func(s ml.RegularisationStep) bool { return s.C == 3 })
	one := train(t, d, spec(t, set...)).Report
	if s := r.Steps[at]; s.SupportVectors != one.SupportVectors || s.SupportVectors-s.Bounded != *one.Free || math.Abs(s.WNorm-*one.WNorm) > 1e-4 || s.TrainAccuracy != *one.TrainAccuracy {
		t.Errorf("%+v, trained %+v", s, one)
	}
	part := func(s ml.RegularisationStep, i int) string {
		switch a := s.Alpha[i]; {
		case a == 0:
			return "outside"
		case a >= s.C:
			return "bounded"
		}
		return "free"
	}
	entries := map[ml.EntryPoint]bool{}
	for _, e := range r.Entries {
		entries[e] = true
	}
	n := 0
	for a := range len(r.Steps) - 1 {
		low, high := r.Steps[a], r.Steps[a+1]
		for i, row := range r.Rows {
			if from, to := part(low, i), part(high, i); from != to {
				if n++; !entries[ml.EntryPoint{Row: row, From: from, To: to, Low: low.C, High: high.C}] {
					t.Errorf("row %d goes from %s to %s between C = %g and %g", row, from, to, low.C, high.C)
				}
			}
		}
	}
	require.Check(t, n == len(entries) && n == len(r.Entries), "%d entries, of %d changes", len(r.Entries), n)
	require.Equal(t, require.Err(json.Marshal(r)), nil, "the error")
}
