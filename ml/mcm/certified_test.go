package mcm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// Training many small problems at C = 1e6, no more results than now lack a certificate.
func TestCertifiedAtLargeC(t *testing.T) {
	t.Parallel()
	kernels := []kernel.Kernel{kernel.Linear(), kernel.Polynomial(0.5, 1, 3), kernel.Polynomial(1, 1, 2), kernel.RBF(0.01), kernel.RBF(0.1), kernel.RBF(1)}
	trials, uncertified := 0, 0
	for seed := range 300 {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		m, d := 10+r.IntN(60), 1+r.IntN(5)
		x, y := mat.NewDense(m, d, nil), make([]float64, m)
		for i := range m {
			y[i] = float64(1 - 2*(i%2))
			for j := range d {
				x.Set(i, j, r.NormFloat64()+0.6*y[i])
			}
			if i > 0 && seed%3 == 0 && r.IntN(4) == 0 {
				x.SetRow(i, x.RawRowView(r.IntN(i)))
			}
		}
		kern := kernels[seed%len(kernels)]
		for _, rho := range []float64{0, 0.01} {
			res := require.Value(Train(t.Context(), kernel.NewGram(kern, x), y, Settings{C: 1e6, Rho: rho}))(t)
			trials++
			if math.IsNaN(res.Gap) || res.Status == trace.Numerical {
				uncertified++
				require.Check(t, res.Gap <= 1e-6,
					"seed %d, %s, rho %g: %s, gap %g, objective %g", seed, kern.Name, rho, res.Status, res.Gap, res.Objective)
			}
		}
	}
	require.Check(t, uncertified <= 6, "%d of %d uncertified", uncertified, trials)
}
