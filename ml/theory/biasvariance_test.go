package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// The terms must add up to the error counted directly over models, points and both labels.
func TestDecompositionAddsUpToTheError(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 60 {
		r, n := 1+rng.IntN(12), 1+rng.IntN(15)
		f := mat.NewDense(r, n, nil)
		p := make([]float64, n)
		for j := range p {
			p[j] = rng.Float64()
			if round%2 == 0 {
				p[j] = math.Round(p[j])
			}
			for i := range r {
				f.Set(i, j, rng.NormFloat64()+0.7*p[j])
			}
		}
		d := require.Value(theory.NewBiasVariance(f, p))(t)
		wrong, bayes := 0.0, 0.0
		for j := range p {
			for i := range r {
				if f.At(i, j) >= 0 {
					wrong += 1 - p[j]
				} else {
					wrong += p[j]
				}
			}
			bayes += min(p[j], 1-p[j])
		}
		near(t, "error", d.Error, wrong/float64(r*n), 1e-12)
		near(t, "noise", d.Noise, bayes/float64(n), 1e-12)
		near(t, "sum", d.Noise+d.Bias+d.UnbiasedVariance-d.BiasedVariance, d.Error, 1e-12)
		require.Check(t, r != 1 || d.Variance == 0, "one model varies by %g", d.Variance)
	}
}

func TestDecompositionByHand(t *testing.T) {
	t.Parallel()
	// Four models, three points, all labels +1 without noise: one point is right in all models,
	// one in 3 of 4, one in 1 of 4.
	d := require.Value(theory.NewBiasVariance(mat.NewDense(4, 3, []float64{
		1, 1, 1,
		2, 0.5, -1,
		1, 0, -3,
		1, -1, -1,
	}), []float64{1, 1, 1}))(t)
	near(t, "error", d.Error, 4.0/12, 1e-15)
	near(t, "bias", d.Bias, 1.0/3, 1e-15)
	near(t, "variance that hurts", d.UnbiasedVariance, 0.25/3, 1e-15)
	near(t, "variance that helps", d.BiasedVariance, 0.25/3, 1e-15)
	near(t, "variance", d.Variance, 0, 1e-15)
	for j, want := range []struct {
		main, spread float64
		biased       bool
	}{{1, 0, false}, {1, 0.25, false}, {-1, 0.25, true}} {
		require.Check(t, d.Main[j] == want.main && d.Spread[j] == want.spread && d.Biased[j] == want.biased,
			"point %d: main %g, spread %g, biased %t", j+1, d.Main[j], d.Spread[j], d.Biased[j])
	}
	tie, err := theory.NewBiasVariance(mat.NewDense(2, 1, []float64{1, -1}), []float64{0})
	require.Check(t, err == nil && tie.Main[0] == 1 && tie.Error == 0.5, "a tie: %+v, %v", tie, err)
}
