package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
)

// FeatureMap is an explicit map phi from R^d to a feature space whose coordinates can be listed.
type FeatureMap struct {
	Inputs      int      // d
	Coordinates []string // one per feature, plain text with Unicode: "√2 x₁"
	// Kernel is the kernel of the map: phi(x)·phi(z) = k(x, z). Its name is empty if it is not in
	// the table.
	Kernel kernel.Kernel

	at func(dst, x []float64)
}

// QuadraticPlane is the map of (1 + x·z)² in the plane, into 6 dimensions (SVM
// notes 12.2).
var QuadraticPlane = FeatureMap{
	Inputs:      2,
	Coordinates: []string{"1", "√2 x₁", "√2 x₂", "x₁²", "x₂²", "√2 x₁x₂"},
	Kernel:      kernel.Polynomial(1, 1, 2),
	at: func(dst, x []float64) {
		const r = math.Sqrt2
		copy(dst, []float64{1, r * x[0], r * x[1], x[0] * x[0], x[1] * x[1], r * x[0] * x[1]})
	},
}

// ProductsSpace is the map of (x·z)² in R³ to the 9 products x_i x_j (slides, "Example of the
// quadratic kernel"). Six dimensions suffice: x_i x_j and x_j x_i are equal and can be merged
// into √2 x_i x_j. In general the homogeneous kernel of degree p needs C(d+p-1, p) dimensions,
// not d^p.
var ProductsSpace = FeatureMap{
	Inputs:      3,
	Coordinates: []string{"x₁x₁", "x₁x₂", "x₁x₃", "x₂x₁", "x₂x₂", "x₂x₃", "x₃x₁", "x₃x₂", "x₃x₃"},
	Kernel:      kernel.Polynomial(1, 0, 2),
	at: func(dst, x []float64) {
		for i, v := range x {
			for j, w := range x {
				dst[3*i+j] = v * w
			}
		}
	},
}

// GaussianBasis returns the map to the Gaussian basis functions phi_m(x) = exp(-gamma |x - c_m|²)
// at the rows c_m of centres (n x d), which is not copied; gamma = 1/(2 s²) > 0 (SVM notes 9.1).
// Its inner product is a sum over centres, not the RBF kernel, whose feature space is
// infinite-dimensional.
func GaussianBasis(centres *mat.Dense, gamma float64) FeatureMap {
	n, d := centres.Dims()
	bumps := lists.Make(n, func(i int) *kernel.Sum {
		return kernel.NewSum(kernel.RBF(gamma), centres.Slice(i, i+1, 0, d).(*mat.Dense), []float64{1})
	})
	m := FeatureMap{Inputs: d, Coordinates: make([]string, n), at: func(dst, x []float64) {
		for i, b := range bumps {
			dst[i] = b.At(x)
		}
	}}
	for i := range m.Coordinates {
		m.Coordinates[i] = fmt.Sprintf("exp(−γ |x − c%s|²)", subscript(i+1))
	}
	return m
}

// subscript formats n in subscript digits.
func subscript(n int) string {
	text := []rune(fmt.Sprint(n))
	for i := range text {
		text[i] += '₀' - '0'
	}
	return string(text)
}

// Rows returns phi of every row of x (M x d) as the rows of an M x F matrix with F features.
func (m FeatureMap) Rows(x *mat.Dense) (*mat.Dense, error) {
	n, d := x.Dims()
	if d != m.Inputs {
		return nil, fmt.Errorf("theory: the feature map takes points of %d coordinates, these have %d", m.Inputs, d)
	}
	phi := mat.NewDense(n, len(m.Coordinates), nil)
	for i := range n {
		m.at(phi.RawRowView(i), x.RawRowView(i))
	}
	return phi, nil
}

// Weights returns w = sum_j u_j phi(x_j), the weight vector in feature space of the machine
// f(x) = sum_j u_j k(x_j, x) + b = w·phi(x) + b; for an SVM u_j = alpha_j y_j. x is M x d, u has
// length M, and the result an entry per feature.
func (m FeatureMap) Weights(x *mat.Dense, u []float64) ([]float64, error) {
	phi, err := m.Rows(x)
	if err != nil {
		return nil, err
	}
	n, f := phi.Dims()
	if len(u) != n {
		return nil, fmt.Errorf("theory: %d coefficients for %d points", len(u), n)
	}
	w := mat.NewVecDense(f, nil)
	w.MulVec(phi.T(), mat.NewVecDense(n, u))
	return w.RawVector().Data, nil
}

// Monomials returns C(d+p-1, p), the number of monomials of degree p in d >= 1 variables: the
// features of (x·z)^p. With one more variable, for the constant, it counts those up to degree p,
// the features of (1 + x·z)^p. It is exact up to 2^53 and rounded beyond; NaN for d < 1 or p < 0.
func Monomials(d, p int) float64 {
	if d < 1 || p < 0 {
		return math.NaN()
	}
	c := 1.0
	for i := 1; i <= p; i++ {
		c = math.Round(c * float64(d-1+i) / float64(i))
	}
	return c
}

// RBFSeries returns exp(-gamma (x² + z²)) sum_{k<terms} (2 gamma x z)^k / k!, the inner product
// of that many features of the RBF kernel on a line, sqrt((2 gamma)^k / k!) x^k exp(-gamma x²).
// As terms grows it tends to exp(-gamma (x - z)²) (SVM notes 12.3).
func RBFSeries(gamma, x, z float64, terms int) float64 {
	sum, term := 0.0, 1.0
	for k := range terms {
		sum += term
		term *= 2 * gamma * x * z / float64(k+1)
	}
	return math.Exp(-gamma*(x*x+z*z)) * sum
}
