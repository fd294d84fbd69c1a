package stepwise_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

func TestFisherAscent(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(6, 2, []float64{-1, 0, -2, 1, -1, 2, 1, 1, 2, 0, 1, -1})
	y := []float64{-1, -1, -1, 1, 1, 1}
	k := kernel.NewGram(kernel.RBF(0.5), x)
	cores := [][]float64{{0, 0}, {1, 1}}
	s := conformal.Settings{Gamma: 1, Ridge: 1e-3, Steps: 20, Rate: 0.1}
	r, err := stepwise.FisherAscent(t.Context(), k, x, y, cores, s)
	require.NoError(t, err)
	require.Check(t, r.Len() == 21 && r.Status() == trace.IterationLimit && floats.Equal(r.At(0), []float64{1, 0, 0}),
		"%d states, %s, start %v", r.Len(), r.Status(), r.At(0))
	j := func(alpha []float64) float64 {
		m := conformal.Map{Gamma: 1, Alpha0: alpha[0], Alpha: alpha[1:], Cores: cores}
		return require.Value(conformal.J(t.Context(), k, y, m.Factors(x)))(t)
	}
	for i := range r.Len() {
		require.Near(t, floats.Norm(r.At(i), 2), 1, 1e-12, "step %d has the length", i)
	}
	first, last := j(r.At(0)), j(r.At(20))
	require.Check(t, last > first, "J went from %g to %g", first, last)
	// Without cores the kernel is fixed, so the gradient is 0 at the start.
	r, err = stepwise.FisherAscent(t.Context(), k, x, y, nil, s)
	require.Check(t, err == nil && math.Abs(r.At(r.Len() - 1)[0]-1) <= 1e-9, "without cores: %v", err)
	s.Steps = 0
	require.Fails(t, require.Err(stepwise.FisherAscent(t.Context(), k, x, y, cores, s)), "", "an ascent of no steps")
	s.Steps = 5
	ended := mltest.Ended()
	require.Fails(t, require.Err(stepwise.FisherAscent(ended, k, x, y, cores, s)), "", "an ascent after the context has ended")
}
