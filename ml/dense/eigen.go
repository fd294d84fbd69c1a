package dense

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Eigen returns the eigenvalues of a symmetric matrix in ascending order and, on request, the
// corresponding unit eigenvectors as columns. ok is false if a holds numbers that are not finite or
// the iteration does not converge.
//
// The error of an eigenvalue is a few roundings of the largest one, as with any method based on
// tridiagonalisation. The implementation of gonum 0.17 panics, or returns numbers far above the
// norm of a, if the tridiagonal matrix splits and a part is nearly zero, as may happen for a
// matrix with blocks of zeros. Eigen avoids this by decomposing a plus a multiple of the identity
// that makes all eigenvalues positive.
func Eigen(a mat.Symmetric, vectors bool) (values []float64, v *mat.Dense, ok bool) {
	norm := mat.Norm(a, 1)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return nil, nil, false
	}
	n := a.SymmetricDim()
	// Scale, as sums of numbers near the limits would overflow.
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
	slices.Sort(values) // sorted up to rounding
	if vectors {
		v = new(mat.Dense)
		e.VectorsTo(v)
	}
	return values, v, true
}
