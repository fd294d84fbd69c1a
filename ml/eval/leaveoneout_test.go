package eval_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/dataset"
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
	ctx := mltest.Ended()
	_, err := eval.LeaveOneOut(ctx, d, spec)
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

// The last step is cross-validation; before it there are fewer points, of every class.
func TestLearningCurve(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("pinwheel", 90, 0.4, 1))(t)
	spec := ml.DefaultSpec()
	scheme := eval.Scheme{Folds: 3, Repeats: 2, Seed: 4}
	mu := 0
	steps := require.Value(eval.LearningCurve(t.Context(), d, spec, scheme, []float64{0.01, 0.5, 1}, func(done, total int) {
		mu++
		require.Check(t, done == mu && total == 18, "%d of %d", done, total)
	}))(t)
	whole := require.Value(eval.CrossValidate(t.Context(), d, spec, nil, scheme, nil))(t)
	diff := cmp.Diff(whole.Settings[0].Folds, steps[2].Folds)
	require.Check(t, diff == "" && steps[2].Accuracy == whole.Settings[0].Accuracy && steps[2].Deviation == whole.Settings[0].Deviation, "%v", diff)
	n := lists.Map(steps, func(s eval.LearningStep) int { return s.N })
	require.Check(t, slices.Equal(n, []int{3, 30, 60}), "%d points", n) // one of each class at least
	require.Check(t, steps[0].Folds[0].TrainAccuracy == 1 && steps[0].Accuracy < steps[2].Accuracy, "%+v", steps)
	for _, share := range []float64{0, -1, 1.1, math.NaN()} {
		require.Fails(t, require.Err(eval.LearningCurve(t.Context(), d, spec, scheme, []float64{share}, nil)),
			"fraction of the training set", "%g", share)
	}
	ctx := mltest.Ended()
	require.Is(t, require.Err(eval.LearningCurve(ctx, d, spec, scheme, []float64{1}, nil)), context.Canceled, "cancelled")
}

// Values are shared out as well, and have errors.
func TestLearningCurveOfValues(t *testing.T) {
	t.Parallel()
	sine, _ := dataset.FindBuiltin("sine")
	d := require.Value(sine.Load())(t)
	spec := ml.DefaultSpec()
	spec.Learner, spec.Target = "ridge", "value"
	steps := require.Value(eval.LearningCurve(t.Context(), d, spec, eval.Scheme{Folds: 4}, []float64{0.2, 1}, nil))(t)
	require.Check(t, steps[0].N == 9 && steps[1].N == 45 && steps[0].Mean == nil && steps[0].MSE > steps[1].MSE,
		"%+v", steps)
}
