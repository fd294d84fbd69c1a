package mcm_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

func gram(x [][]float64, k func(x, z []float64) float64) mltest.Matrix {
	return mltest.Symmetric(len(x), func(i, j int) float64 { return k(x[i], x[j]) })
}

var linear = kernel.Linear().Eval

func rbf(gamma float64) func(x, z []float64) float64 { return kernel.RBF(gamma).Eval }

func standardise(x [][]float64) {
	m := mat.NewDense(len(x), len(x[0]), slices.Concat(x...))
	mltest.Standardise(m)
	for i := range x {
		copy(x[i], m.RawRowView(i))
	}
}

// rel returns the difference of a and b relative to max(1, |b|).
func rel(a, b float64) float64 { return math.Abs(a-b) / max(1, math.Abs(b)) }

// With a kernel near the identity the machine interpolates, which takes few steps rather than one per point.
func TestNearIdentity(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	const m = 300
	x := lists.Make(m, func(int) []float64 { return []float64{100 * r.NormFloat64(), 100 * r.NormFloat64()} })
	y := lists.Make(m, func(i int) float64 { return float64(1 - i%2*2) })
	for _, rho := range []float64{0.001, 0.05} {
		res, err := mcm.Train(t.Context(), gram(x, rbf(1)), y, mcm.Settings{C: 1, Rho: rho})
		require.NoError(t, err)
		require.Check(t, res.Status == trace.Converged && res.Gap <= 1e-9 && res.Iterations < m/5,
			"rho %g: %s after %d iterations, gap %g", rho, res.Status, res.Iterations, res.Gap)
	}
}
