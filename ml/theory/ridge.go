package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
)

// Powers returns the map of (1 + x z)^p on a line to p+1 dimensions: the powers of x times the
// square roots of the binomial coefficients. p is 1 to 16.
func Powers(p int) (FeatureMap, error) {
	if p < 1 || p > 16 {
		return FeatureMap{}, fmt.Errorf("theory: degree %d; use 1 to 16", p)
	}
	m := FeatureMap{Inputs: 1, Coordinates: []string{"1"}, Kernel: kernel.Polynomial(1, 1, p)}
	factors := make([]float64, p+1)
	for k := range factors {
		n := Monomials(p-k+1, k) // p over k
		factors[k] = math.Sqrt(n)
		if k > 0 {
			name := "x" + superscript(k)
			if n > 1 {
				name = fmt.Sprintf("√%g %s", n, name)
			}
			m.Coordinates = append(m.Coordinates, name)
		}
	}
	m.at = func(dst, x []float64) {
		power := 1.0
		for k, f := range factors {
			dst[k] = f * power
			power *= x[0]
		}
	}
	return m, nil
}

// superscript formats an exponent, empty for 1.
func superscript(n int) string {
	if n == 1 {
		return ""
	}
	raised := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	text := []rune(fmt.Sprint(n))
	for i, digit := range text {
		text[i] = raised[digit-'0']
	}
	return string(text)
}

// RidgeWeights returns the w that minimises
//
//	1/2 |phi w - t|² + 1/2 lambda |w|²
//
// for the rows of phi, images of M points in a feature space of D dimensions, targets t and
// lambda > 0: the primal solution (phi'phi + lambda I)^-1 phi't, a system of D equations; package
// ridge solves one of M equations for the same function (SVM notes 15.3).
func RidgeWeights(phi *mat.Dense, t []float64, lambda float64) ([]float64, error) {
	m, d := phi.Dims()
	if len(t) != m {
		return nil, fmt.Errorf("theory: %d targets for %d points", len(t), m)
	}
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return nil, fmt.Errorf("theory: lambda is %g; it must be above 0 and finite", lambda)
	}
	var a mat.SymDense
	a.SymOuterK(1, phi.T())
	for k := range d {
		a.SetSym(k, k, a.At(k, k)+lambda)
	}
	var c mat.Cholesky
	if !c.Factorize(&a) {
		return nil, fmt.Errorf("theory: the %d equations for the weights are singular after rounding; raise lambda", d)
	}
	right, w := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
	right.MulVec(phi.T(), mat.NewVecDense(m, t))
	if err := c.SolveVecTo(w, right); err != nil {
		return nil, fmt.Errorf("theory: the equations for the weights: %w", err)
	}
	return w.RawVector().Data, nil
}

// Shrinkage returns the factors by which kernel ridge regression shrinks the targets along the
// eigenvectors of the kernel matrix: m_k / (m_k + lambda) for its eigenvalues m_k and lambda > 0.
// Their sum is the effective number of degrees of freedom.
func Shrinkage(eigenvalues []float64, lambda float64) []float64 {
	return lists.Map(eigenvalues, func(m float64) float64 { return m / (m + lambda) })
}
