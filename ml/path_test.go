package ml_test

import (
	"context"
	"math"
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/ml/ridge"
)

// At some lambda, a training and the path have the same split, scaling and kernel width.
func TestPathIsAlongTheTrainings(t *testing.T) {
	t.Parallel()
	d := clouds(80, 3, 14)
	set := []string{"learner", "ridge", "gamma", "scale", "test_fraction", "0.25", "seed", "3", "positive", "a"}
	path := require.Value(ml.Path(context.Background(), d, spec(t, set...)))(t)
	for _, lambda := range []string{"1e-4", "0.3", "50"} {
		s := spec(t, append(set, "lambda", lambda)...)
		r := train(t, d, s).Report
		at, ok := path.At(s.Values.Number("lambda"))
		require.Check(t, ok && math.Abs(at.MSE-*r.MSE) <= 1e-8 && math.Abs(at.LOOError-*r.LOOError) <= 1e-8,
			"lambda %s: %+v, trained %g and %g", lambda, at, *r.MSE, *r.LOOError)
	}
}

func TestPathIsThereForSome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set  []string
		n    int
		want bool
	}{
		{[]string{"learner", "ridge"}, ridge.MaxPath, true},
		{[]string{"learner", "ridge"}, ridge.MaxPath + 1, false},
		{[]string{"learner", "ridge", "conformal", "eigen"}, 10, false},
		{[]string{"learner", "svm"}, 10, false},
		{[]string{"learner", "mcm"}, 10, false},
	} {
		s := spec(t, c.set...)
		require.Equal(t, ml.HasPath(s, c.n), c.want, "%v, %d rows", c.set, c.n)
		_, err := ml.Path(context.Background(), toy(), s)
		require.Check(t, (err == nil) == (c.want || c.n > ridge.MaxPath), "%v: %v", c.set, err)
	}
}
