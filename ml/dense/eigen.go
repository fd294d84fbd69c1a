package dense

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Eigen returns the eigenvalues of a symmetric matrix, rising, and, when asked for, unit
// eigenvectors that go with them, in the columns. It reports false when a holds numbers
// that are not finite, and when the iteration for the eigenvalues did not converge.
//
// An eigenvalue is off by a few roundings of the largest one, as with any method that turns
// a into a tridiagonal matrix first. That of gonum 0.17 panics, or returns numbers far
// beyond the norm of a, where such a matrix falls apart and a part is all but zero, as it may
// for a matrix with blocks of zeros. No part is so where a multiple of the identity was added that
// makes all eigenvalues positive, and this is what is decomposed here.
func Eigen(a mat.Symmetric, vectors bool) (values []float64, v *mat.Dense, ok bool) {
	norm := mat.Norm(a, 1)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, nil, false
	}
	n := a.SymmetricDim()
	// Numbers near the limits of what is finite leave no room for a sum.
	scale := 1.0
	if norm > 0 {
		_, exponent := math.Frexp(norm)
		scale = math.Ldexp(1, -min(max(exponent, -1000), 1000))
	}
	shift := 2 * norm * scale
	b := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			b.SetSym(i, j, a.At(i, j)*scale)
		}
		b.SetSym(i, i, b.At(i, i)+shift)
	}
	var e mat.EigenSym
	if !e.Factorize(b, vectors) {
		return nil, nil, false
	}
	values = e.Values(nil)
	for k := range values {
		values[k] = (values[k] - shift) / scale
	}
	slices.Sort(values) // already so, but for a rounding
	if vectors {
		v = new(mat.Dense)
		e.VectorsTo(v)
	}
	return values, v, true
}
