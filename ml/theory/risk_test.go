package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func TestGaussianMiss(t *testing.T) {
	t.Parallel()
	near(t, "through the centre", theory.GaussianMiss([]float64{3, -1}, -2, []float64{1, 1}, 0.4), 0.5, 1e-12)
	near(t, "two deviations off", theory.GaussianMiss([]float64{0, 5}, 0, []float64{7, 2}, 1), math.Erfc(math.Sqrt2)/2, 1e-12)
	w, b, centre := []float64{1, -2, 0.5}, 0.3, []float64{0.2, -0.4, 1}
	p := theory.GaussianMiss(w, b, centre, 1.5)
	near(t, "the other side", theory.GaussianMiss([]float64{-1, 2, -0.5}, -b, centre, 1.5), 1-p, 1e-12)
	r := rand.New(rand.NewPCG(1, 2))
	const n = 100_000
	missed := 0.0
	for range n {
		f := b
		for j, v := range w {
			f += v * (centre[j] + 1.5*r.NormFloat64())
		}
		if f < 0 {
			missed += 1.0 / n
		}
	}
	near(t, "of many points", missed, p, 0.01)
}

func TestFeatureDim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k    kernel.Kernel
		d    int
		want float64
	}{
		{linear, 7, 7}, {kernel.Polynomial(1, 1, 2), 2, 6}, {kernel.Polynomial(1, 1, 3), 4, 35}, {rbf(1), 2, math.Inf(1)}, {kernel.Sigmoid(1, 0), 2, math.Inf(1)},
	} {
		require.Equal(t, theory.FeatureDim(c.k, c.d), c.want, "%s on %d features", c.k.Name, c.d)
	}
}

func TestSamplesFor(t *testing.T) {
	t.Parallel()
	for _, first := range []int{1, 2, 17, 1_000_000_000} {
		require.Equal(t, theory.SamplesFor(func(m int) theory.Bound { return theory.Bound{Vacuous: m < first} }), first, "samples")
	}
	require.Equal(t, theory.SamplesFor(func(int) theory.Bound { return theory.Bound{Vacuous: true} }), 0,
		"a bound that never says anything does so from")
	// With h = 2n/10 both logarithms are of powers of ten; delta/4 is 0.01.
	near(t, "decimal", theory.DecimalVCBound(0.1, 20, 100, 0.04), 0.1+math.Sqrt(0.42), 1e-12)
	for _, c := range []struct{ radius, margin, dim, want float64 }{{2, 1.45, 2, 2}, {2, 1, 10, 5}, {2, 1, 2, 3}, {1, 0, 4, 5}} {
		require.Equal(t, theory.WholeMarginVCDim(c.radius, c.margin, c.dim), c.want, "%+v", c)
	}
}
