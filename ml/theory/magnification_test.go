package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

var factor = conformal.Map{Alpha0: 0.4, Gamma: 0.9, Alpha: []float64{1.2, -0.3, 0.8}, Cores: [][]float64{{0, 0}, {1, -1}, {-0.5, 2}}}

func c(x []float64) float64 {
	sum := factor.Alpha0
	for j, a := range factor.Cores {
		sum += factor.Alpha[j] * math.Exp(-factor.Gamma*(math.Pow(x[0]-a[0], 2)+math.Pow(x[1]-a[1], 2)))
	}
	return sum
}

// The metric is a second derivative of the kernel, checked by finite differences.
func TestMetricAgainstDifferences(t *testing.T) {
	t.Parallel()
	const h = 1e-4
	rng := rand.New(rand.NewPCG(13, 13))
	for _, k := range []kernel.Kernel{
		linear, quadratic, rbf(0.7),
		kernel.Polynomial(0.5, 0.2, 3),
		kernel.Polynomial(2, 1, 1),
		kernel.Sigmoid(0.4, -0.3),
	} {
		for range 10 {
			x := []float64{rng.NormFloat64(), rng.NormFloat64()}
			plain := require.Value(theory.Metric(k, x))(t)
			cx, grad := factor.Gradient(x)
			near(t, "c", cx, c(x), 1e-14)
			bent := require.Value(theory.ConformalMetric(k, x, cx, grad))(t)
			for i := range 2 {
				up, down := shift(x, i, h), shift(x, i, -h)
				near(t, "gradient of c", grad[i], (c(up)-c(down))/(2*h), 1e-6)
				for j := range 2 {
					slope := func(f func(x, z []float64) float64) float64 {
						right, left := shift(x, j, h), shift(x, j, -h)
						return (f(up, right) - f(up, left) - f(down, right) + f(down, left)) / (4 * h * h)
					}
					near(t, k.Name+": metric", plain.At(i, j), slope(k.Eval), 1e-5)
					near(t, k.Name+": metric of the reshaped kernel", bent.At(i, j),
						slope(func(x, z []float64) float64 { return c(x) * c(z) * k.Eval(x, z) }), 1e-5)
				}
			}
		}
	}
}

func shift(x []float64, i int, h float64) []float64 {
	s := append([]float64{}, x...)
	s[i] += h
	return s
}

// For the RBF kernel det g~ = (2 gamma c²)^(d-1) (2 gamma c² + |grad c|²), by the
// determinant of a multiple of the identity plus a square.
func TestMagnificationOfTheRBFKernel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(14, 14))
	for d := 1; d <= 4; d++ {
		x, grad := make([]float64, d), make([]float64, d)
		square := 0.0
		for i := range x {
			x[i], grad[i] = rng.NormFloat64(), rng.NormFloat64()
			square += grad[i] * grad[i]
		}
		gamma, cx := 0.3+rng.Float64(), 0.5+rng.Float64()
		g := require.Value(theory.Metric(rbf(gamma), x))(t)
		near(t, "plain", theory.Magnification(g), math.Pow(2*gamma, float64(d)/2), 1e-12)
		g = require.Value(theory.ConformalMetric(rbf(gamma), x, cx, grad))(t)
		base := 2 * gamma * cx * cx
		near(t, "reshaped", theory.Magnification(g), math.Sqrt(math.Pow(base, float64(d-1))*(base+square)), 1e-12)
	}
}

// The length of a short path in feature space, from kernel values, agrees with the metric.
func TestMetricMeasuresFeatureSpace(t *testing.T) {
	t.Parallel()
	x, step := []float64{0.3, -0.8}, []float64{3e-4, -2e-4}
	z := []float64{x[0] + step[0], x[1] + step[1]}
	g := require.Value(theory.Metric(quadratic, x))(t)
	want := quadratic.Eval(x, x) + quadratic.Eval(z, z) - 2*quadratic.Eval(x, z)
	v := mat.NewVecDense(2, step)
	near(t, "squared length, relative", mat.Inner(v, g, v)/want, 1, 1e-3)
}

func TestMagnificationOfIndefiniteMetric(t *testing.T) {
	t.Parallel()
	v := theory.Magnification(mat.NewSymDense(2, []float64{1, 2, 2, 1}))
	require.Check(t, math.IsNaN(v), "magnification %g by an indefinite metric", v)
}
