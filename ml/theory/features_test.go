package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// A map belongs to a kernel if phi(x)·phi(z) = k(x, z).
func TestFeatureMapsBelongToTheirKernels(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]theory.FeatureMap{"quadratic": theory.QuadraticPlane, "products": theory.ProductsSpace} {
		x := random(31, 25, m.Inputs)
		phi := require.Value(m.Rows(x))(t)
		var got mat.Dense
		got.Mul(phi, phi.T())
		require.Check(t, mat.EqualApprox(&got, gram(m.Kernel, x), 1e-11), "%s: phi·phi is not the kernel", name)
	}
}

func TestFeatureMapCoordinates(t *testing.T) {
	t.Parallel()
	// SVM notes 12.2: phi(-1, 1)
	phi, err := theory.QuadraticPlane.Rows(mat.NewDense(1, 2, []float64{-1, 1}))
	r := math.Sqrt2
	require.Check(t, err == nil && floats.EqualApprox(phi.RawRowView(0), []float64{1, -r, r, 1, 1, -r}, 1e-15),
		"phi(-1, 1) = %v, %v", mat.Formatted(phi), err)
	phi, err = theory.ProductsSpace.Rows(mat.NewDense(1, 3, []float64{2, 3, 5}))
	require.Check(t, err == nil && floats.Equal(phi.RawRowView(0), []float64{4, 6, 10, 6, 9, 15, 10, 15, 25}),
		"phi(2, 3, 5) = %v, %v", mat.Formatted(phi), err)
	basis := theory.GaussianBasis(mat.NewDense(2, 1, []float64{0, 3}), 0.5)
	phi, err = basis.Rows(mat.NewDense(1, 1, []float64{2}))
	require.Check(t, err == nil && floats.EqualApprox(phi.RawRowView(0), []float64{math.Exp(-2), math.Exp(-0.5)}, 1e-15),
		"Gaussian basis at 2 = %v, %v", mat.Formatted(phi), err)
	require.Check(t, basis.Coordinates[1] == "exp(−γ |x − c₂|²)" && basis.Kernel.Name == "",
		"coordinates %q, kernel %q", basis.Coordinates, basis.Kernel.Name)
	require.Fails(t, require.Err(theory.QuadraticPlane.Rows(mat.NewDense(1, 3, nil))), "", "a plane of three coordinates")
	require.Fails(t, require.Err(theory.QuadraticPlane.Weights(mat.NewDense(1, 2, nil), []float64{1, 2})), "", "two coefficients for one point")
}

// The XOR machine, alpha = 1/8 throughout, depends on the product alone (SVM notes 12.2).
func TestXORWeights(t *testing.T) {
	t.Parallel()
	x, y := xor()
	w, err := theory.QuadraticPlane.Weights(x, lists.Make(4, func(i int) float64 { return y[i] / 8 }))
	require.Must(t, err == nil && floats.EqualApprox(w, []float64{0, 0, 0, 0, 0, math.Sqrt(0.5)}, 1e-15),
		"w = %v, %v", w, err)
	phi := require.Value(theory.QuadraticPlane.Rows(x))(t)
	m := require.Value(theory.LinearMargins(w, 0, phi, y))(t)
	for i := range y {
		near(t, "functional margin", m.Functional[i], 1, 1e-14)
		near(t, "geometric margin", m.Geometric[i], math.Sqrt2, 1e-14)
	}
}

// The number of monomials equals that from enumerating exponents, and two well-known closed forms.
func TestMonomials(t *testing.T) {
	t.Parallel()
	var count func(d, p int) float64 // exponents e_1 + ... + e_d = p
	count = func(d, p int) float64 {
		if d == 1 {
			return 1
		}
		n := 0.0
		for e := range p + 1 {
			n += count(d-1, p-e)
		}
		return n
	}
	for d := 1; d < 7; d++ {
		upTo := 0.0
		for p := range 6 {
			upTo += count(d, p)
			near(t, "monomials of the degree", theory.Monomials(d, p), count(d, p), 0)
			near(t, "monomials up to the degree", theory.Monomials(d+1, p), upTo, 0)
		}
	}
	near(t, "pairs of 256 pixels", theory.Monomials(256, 2), 256*257/2, 0)
	require.Check(t, math.IsNaN(theory.Monomials(0, 2)) && math.IsNaN(theory.Monomials(2, -1)),
		"monomials of no variables, or of degree -1")
}

// Partial sums are inner products of features; the full series is the kernel.
func TestRBFSeries(t *testing.T) {
	t.Parallel()
	for _, gamma := range []float64{0.1, 1, 3} {
		for _, x := range []float64{-1.5, 0, 0.7, 2} {
			near(t, "the kernel", theory.RBFSeries(gamma, x, 1, 80), math.Exp(-gamma*(x-1)*(x-1)), 1e-9)
			feature := func(k int, v float64) float64 {
				return math.Sqrt(math.Pow(2*gamma, float64(k))/math.Gamma(float64(k+1))) * math.Pow(v, float64(k)) * math.Exp(-gamma*v*v)
			}
			sum := 0.0
			for k := range 5 {
				sum += feature(k, x) * feature(k, 0.8)
			}
			near(t, "five features", theory.RBFSeries(gamma, x, 0.8, 5), sum, 1e-12)
			near(t, "no features", theory.RBFSeries(gamma, x, 0.8, 0), 0, 0)
		}
	}
}
