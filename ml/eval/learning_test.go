package eval_test

import (
	"context"
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
	d := mltest.Builtin(t, "sine")
	spec := ml.DefaultSpec()
	spec.Learner, spec.Target = "ridge", "value"
	steps := require.Value(eval.LearningCurve(t.Context(), d, spec, eval.Scheme{Folds: 4}, []float64{0.2, 1}, nil))(t)
	require.Check(t, steps[0].N == 9 && steps[1].N == 45 && steps[0].Mean == nil && steps[0].MSE > steps[1].MSE,
		"%+v", steps)
}
