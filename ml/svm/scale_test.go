package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// kernels lists kernels with values of every magnitude.
var kernels = []kernel.Kernel{
	{Name: "linear"},
	kernel.Polynomial(1, 1, 5),
	kernel.Polynomial(0.1, 0, 3),
	kernel.RBF(1),
	kernel.RBF(1e-3),
	kernel.Sigmoid(0.05, -1),
}

// TestEveryC trains with every C from the smallest to the largest allowed. The effect of C
// depends on the magnitude of the kernel: alpha is of order 1/K, so that it can be 1e-19 C. The
// KKT conditions and the duality gap are computed from the full matrix and alpha only.
func TestEveryC(t *testing.T) {
	t.Parallel()
	sonar, sonarY := mltest.TwoClasses(t, "sonar.csv", "R")
	mltest.Standardise(sonar)
	moon, moonY := moons(60, 0.3)
	r := rand.New(rand.NewPCG(23, 5))
	spread, spreadY := mat.NewDense(30, 3, nil), make([]float64, 30)
	for i := range spreadY { // lengths from 1e-2 to 1e2, one point in three a copy
		spreadY[i] = float64(1 - 2*(i%2))
		size := math.Pow(10, 4*r.Float64()-2)
		for j := range 3 {
			spread.Set(i, j, size*r.NormFloat64())
		}
		if i%3 == 2 {
			spread.SetRow(i, spread.RawRowView(i-1))
		}
	}
	for _, set := range []struct {
		name string
		x    *mat.Dense
		y    []float64
	}{{"sonar", sonar, sonarY}, {"moons", moon, moonY}, {"spread", spread, spreadY}} {
		for _, kern := range kernels {
			t.Run(fmt.Sprintf("%s/%s/%g", set.name, kern.Name, kern.Values.Number("gamma")), func(t *testing.T) {
				t.Parallel()
				gram := kernel.NewGram(kern, set.x)
				k := full(gram)
				for e := -6; e <= 9; e++ {
					c := math.Pow(10, float64(e))
					const tol = 1e-3
					res, err := Train(mltest.NewLooks(t.Context(), 1_000_000), gram, set.y, Settings{C: c, Tol: tol, MaxIter: 500_000})
					require.Must(t, err == nil, "C = %g: %v", c, err)
					violation, gap, rounding := judge(t, k, set.y, c, res)
					switch {
					case violation <= tol+rounding && res.Status == trace.Converged:
						if m := float64(len(set.y)); kern.Name != "sigmoid" && (gap < -m*c*(1e-13+rounding) || gap > m*c*(tol+rounding)) {
							t.Errorf("C = %g: primal minus dual %g", c, gap)
						}
					case res.Status == trace.Numerical && 0x1p-52*largest(k)*c > tol/100:
					case res.Status == trace.IterationLimit && kern.Name == "sigmoid" && c > 1e7: // slow progress along nearly flat directions
					default:
						t.Errorf("C = %g: %s, violation %g, rounding %g", c, res.Status, violation, rounding)
					}
				}
			})
		}
	}
}

// judge computes the KKT violation of alpha, the duality gap and the rounding error of a gradient.
func judge(t *testing.T, k mltest.Matrix, y []float64, c float64, r *Result) (violation, gap, rounding float64) {
	high, low := math.Inf(-1), math.Inf(1)
	ku := make([]float64, len(y))
	dual := 0.0
	for i := range y {
		parts := 0.0
		for j, a := range r.Alpha {
			ku[i] += k.At(i, j) * a * y[j]
			parts += math.Abs(k.At(i, j) * a)
		}
		rounding = max(rounding, 0x1p-52*parts)
		a := r.Alpha[i]
		require.Must(t, (a >= 0 && a <= c), "alpha[%d] = %g is not in [0, %g]", i, a, c)
		if y[i] > 0 && a < c || y[i] < 0 && a > 0 {
			high = max(high, y[i]-ku[i])
		}
		if y[i] > 0 && a > 0 || y[i] < 0 && a < c {
			low = min(low, y[i]-ku[i])
		}
		dual += a - a*y[i]*ku[i]/2
		gap += a * y[i] * ku[i] / 2
	}
	for i := range y {
		gap += c * max(0, 1-y[i]*(ku[i]+r.B))
	}
	return max(0, high-low), gap - dual, rounding
}

// TestNoFreePointByRounding trains on a grid, where many alphas are exactly 0 or C: a point next
// to its bound by rounding, as the only free one, would put b at the end of the interval allowed
// by the KKT conditions.
func TestNoFreePointByRounding(t *testing.T) {
	t.Parallel()
	few := 0
	for seed := range 4000 {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		m := 2 + r.IntN(10)
		x, y := mat.NewDense(m, 2, nil), make([]float64, m)
		for i := range m {
			x.SetRow(i, []float64{float64(r.IntN(4)), float64(r.IntN(4))})
			y[i] = float64(1 - 2*(i%2))
		}
		c := math.Pow(10, float64(r.IntN(7)-2))
		kern := []kernel.Kernel{kernels[0], kernels[2], kernels[3], kernels[4]}[r.IntN(4)]
		res := train(t, kernel.NewGram(kern, x), y, Settings{C: c, Tol: 1e-6})
		if res.Free > 2 {
			continue
		}
		few++
		for _, a := range res.Alpha {
			if room := min(a, c-a); res.Free == 1 && 0 < room && room < 1e-12*c {
				t.Errorf("seed %d, %s, C = %g: the only free alpha is beside its bound: %v", seed, kern.Name, c, res.Alpha)
			}
		}
	}
	require.Check(t, few >= 1000, "only %d problems have at most two free points", few)
}
