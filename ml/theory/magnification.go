package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
	"marginlab/ml/kernel"
)

// Metric returns the Riemannian metric that a kernel induces on the inputs,
//
//	g_ij(x) = d²k(x, z) / dx_i dz_j  at z = x,
//
// so that a small step dx has squared length dx'g dx in feature space (Amari and Wu 1999; MCM
// notes, "Kernel optimization"). x has length d >= 1, g is d x d. For the RBF kernel g = 2 gamma
// I everywhere. It returns an error for kernels other than linear, poly, rbf and sigmoid.
func Metric(k kernel.Kernel, x []float64) (*mat.SymDense, error) {
	return ConformalMetric(k, x, 1, make([]float64, len(x)))
}

// ConformalMetric returns the metric at x of the kernel c(x) c(z) k(x, z), given
// the factor c = c(x) and its gradient grad (length d) there:
//
//	g~_ij = c_i c_j k + c (c_i k_j + c_j k_i) + c² g_ij,
//
// where c_i are the entries of grad, k = k(x, x), k_i = dk(x, z)/dx_i at z = x, which is 0 for
// the RBF kernel, and g is the metric of k itself (Amari and Wu 1999).
func ConformalMetric(k kernel.Kernel, x []float64, c float64, grad []float64) (*mat.SymDense, error) {
	d := len(x)
	if d == 0 || len(grad) != d {
		return nil, fmt.Errorf("theory: a gradient of %d entries at a point of %d coordinates; they must be equal and at least 1", len(grad), d)
	}
	// All but the RBF kernel are functions of x·z. With k = q(x·z): k_i = q' x_i and g_ij = q'
	// [i=j] + q'' x_i x_j.
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	value, first, second := k.Eval(x, x), 0.0, 0.0
	radial := 1.0 // 0 if k_i is not proportional to x
	gamma, coef0, degree := k.Values.Number("gamma"), k.Values.Number("coef0"), k.Values.Int("degree")
	switch k.Name {
	case "linear":
		first = 1
	case "poly":
		p, a := float64(degree), gamma*s+coef0
		first = p * gamma * math.Pow(a, p-1)
		if degree > 1 {
			second = p * (p - 1) * gamma * gamma * math.Pow(a, p-2)
		}
	case "sigmoid":
		slope := 1 - value*value
		first = gamma * slope
		second = -2 * gamma * gamma * value * slope
	case "rbf":
		first, radial = 2*gamma, 0
	default:
		return nil, fmt.Errorf("theory: no metric for the kernel %q; use linear, poly, rbf or sigmoid", k.Name)
	}
	g := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			ki, kj := radial*first*x[i], radial*first*x[j]
			v := grad[i]*grad[j]*value + c*(grad[i]*kj+grad[j]*ki) + c*c*second*x[i]*x[j]
			if i == j {
				v += c * c * first
			}
			g.SetSym(i, j, v)
		}
	}
	return g, nil
}

// Magnification returns sqrt(det g), the factor by which the feature map enlarges a small volume
// at a point with metric g. It is 0 if g is singular and NaN if its determinant is negative, as
// possible for an indefinite kernel.
func Magnification(g mat.Symmetric) float64 {
	return math.Sqrt(mat.Det(g))
}

// Axes returns the image of the unit circle in the plane under the metric g at its centre: the
// half-axes of the ellipse, the short one first, and their directions as unit columns. A negative
// eigenvalue, of an indefinite kernel, counts as 0.
func Axes(g *mat.SymDense) (half [2]float64, directions *mat.Dense, err error) {
	values, directions, ok := dense.Eigen(g, true)
	if g.SymmetricDim() != 2 || !ok {
		return half, nil, fmt.Errorf("theory: no axes for a metric of %d dimensions; it must be two-dimensional and finite", g.SymmetricDim())
	}
	for i, v := range values {
		half[i] = math.Sqrt(math.Max(0, v))
	}
	return half, directions, nil
}

// Bend returns a map of the line that is steepest at a point and fixes ±end: tanh(steepness
// (x - at)), shifted and scaled. steepness is at least 0; 0 gives the identity (MCM notes,
// "Kernel optimization: Motivation").
func Bend(steepness, at, end float64) func(x float64) float64 {
	if steepness < 1e-6 {
		return func(x float64) float64 { return x }
	}
	lo, hi := math.Tanh(steepness*(-end-at)), math.Tanh(steepness*(end-at))
	return func(x float64) float64 {
		return end * (2*(math.Tanh(steepness*(x-at))-lo)/(hi-lo) - 1)
	}
}
