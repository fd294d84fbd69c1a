package stepwise_test

import (
	"context"
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mixture"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

func TestEM(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(8, 2, []float64{-2, 0, -2.5, 0.5, -1.8, -0.4, -2.2, 0.3, 2, 1, 2.4, 1.6, 1.7, 0.8, 2.1, 1.3})
	s := mixture.Settings{Components: 2, Floor: 1e-3, Seed: 1, MaxIter: 200, Tol: 1e-12, Starts: 1}
	begin := mixture.Begin(x, s, 0)
	r := require.Value(stepwise.EM(t.Context(), x, begin, s))(t)
	require.Must(t, r.Len() >= 3 && r.Status() == trace.Converged && r.At(0).Iteration == 0,
		"%d states, %s", r.Len(), r.Status())
	for i := 1; i < r.Len(); i++ {
		rise := r.At(i).LogLikelihood - r.At(i-1).LogLikelihood
		require.Check(t, rise >= -1e-9, "step %d: the log-likelihood falls by %g", i, -rise)
	}
	fitted, err := mixture.Fit(t.Context(), x, s)
	require.Check(t, err == nil && fitted.LogLikelihood == r.At(r.Len()-1).LogLikelihood,
		"Fit ends at %v, the replay at %v: %v", fitted.LogLikelihood, r.At(r.Len()-1).LogLikelihood, err)
	s.MaxIter = 1
	if r, err = stepwise.EM(t.Context(), x, begin, s); err != nil || r.Len() != 2 || r.Status() != trace.IterationLimit {
		t.Errorf("one step: %d states, %s, %v", r.Len(), r.Status(), err)
	}
	ended := mltest.Ended()
	require.Is(t, require.Err(stepwise.EM(ended, x, begin, s)), context.Canceled, "after the context has ended")
	var refused *param.Refusal
	_, err = stepwise.EM(t.Context(), mat.NewDense(2, 2, []float64{1e200, 0, -1e200, 1}), begin, s)
	require.Check(t, errors.As(err, &refused), "huge points: %v", err)
	for _, wrong := range []mixture.Settings{{Floor: 1e-3}, {MaxIter: 5}} {
		require.Fails(t, require.Err(stepwise.EM(t.Context(), x, begin, wrong)), "", "%+v is taken", wrong)
	}
	require.Fails(t, require.Err(stepwise.EM(t.Context(), x, mixture.Mixture{}, s)), "", "a mixture without components is taken")
}
