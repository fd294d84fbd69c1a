package eval_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// TestLeaveOneOut repeats every training with the other points as data of their own.
func TestLeaveOneOut(t *testing.T) {
	t.Parallel()
	d := moons(t, 30)
	for name, values := range map[string]map[string]string{
		"svm":         {"gamma": "1"},
		"hard margin": {"gamma": "30", "hard_margin": "true"},
		"mcm":         {"learner": "mcm", "kernel": "linear", "C": "10"},
		"conformal":   {"conformal": "eigen", "gamma": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := with(t, ml.DefaultSpec(), values)
			wrong, err := eval.LeaveOneOut(t.Context(), d, spec)
			require.Must(t, err == nil && len(wrong) == len(d.Y), "%v, %v", wrong, err)
			require.Check(t, slices.Contains(wrong, true) && slices.Contains(wrong, false),
				"all are the same: %v", wrong)
			for i, w := range wrong {
				right := byHand(t, d, spec, all(d), []int{i})
				require.Check(t, w == (right == 0), "point %d: wrong %t, by hand %g right", i, w, right)
			}
		})
	}
}

// TestLeaveOneOutInClosedForm compares what kernel ridge reports after one training with
// one training for each point. Nothing is scaled, as that depends on the rows.
func TestLeaveOneOutInClosedForm(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	for _, kernel := range []string{"rbf", "linear", "poly"} {
		for _, lambda := range []string{"1e-3", "1", "100"} {
			spec := with(t, ml.DefaultSpec(), map[string]string{"learner": "ridge", "kernel": kernel, "gamma": "1", "lambda": lambda, "standardize": "false"})
			res := require.Value(ml.Train(t.Context(), d, spec, nil))(t)
			wrong := require.Value(eval.LeaveOneOut(t.Context(), d, spec))(t)
			right := lists.Count(wrong, func(w bool) bool { return !w })
			require.Equal(t, *res.Report.LOOAccuracy, float64(right)/40,
				"%s, lambda %s: …, by %d trainings", kernel, lambda, len(wrong))
		}
	}
}

func TestLeaveOneOutFails(t *testing.T) {
	t.Parallel()
	d := moons(t, 10)
	spec := with(t, ml.DefaultSpec(), map[string]string{"gamma": "1"})
	_, err := eval.LeaveOneOut(mltest.Ended(), d, spec)
	require.Check(t, errors.Is(err, context.Canceled), "after the end: %v", err)
	for i := range d.Y {
		d.Y[i] = min(i, 1)
	}
	wrong, err := eval.LeaveOneOut(t.Context(), d, spec)
	require.Check(t, err != nil, "a class of one point: %v", wrong)
	spec.Learner = "oracle"
	wrong, err = eval.LeaveOneOut(t.Context(), moons(t, 10), spec)
	require.Check(t, err != nil, "an unknown learner: %v", wrong)
}
