// Package theory computes the quantities of learning theory for a machine and its data: risk
// bounds and capacities, shattering, constrained minima, Mercer's condition, explicit feature
// maps, bias and variance, and the metric induced by a kernel. Each has its own file. Nothing is
// trained here: the input is points, Gram matrices, coefficients or predictions.
//
// Conventions: M points x_i in R^d, labels y_i in {-1,+1}, a machine
// f(x) = sum_j u_j k(x_j, x) + b that predicts +1 iff f(x) >= 0, a Gram matrix
// K_ij = k(x_i, x_j), |w|² = u'Ku.
//
// The sources are the three lecture documents, cited by section: "MCM notes" on minimal
// complexity machines and conformal kernels, "SVM notes" on support vector machines and kernel
// methods, "slides" on support-vector machines. Comments point out their errors.
package theory

import (
	"fmt"
	"math"

	"marginlab/ml/param"

	"gonum.org/v1/gonum/mat"
)

// Matrix is a symmetric M x M kernel matrix given row by row; kernel.Gram is one.
type Matrix interface {
	Len() int                 // M
	Row(dst []float64, i int) // writes row i into dst, which has length M
}

// Gram returns k as a full matrix, as the functions of this package need it. It takes 8 M² bytes.
func Gram(k Matrix) *mat.SymDense {
	n := k.Len()
	if n == 0 {
		return new(mat.SymDense)
	}
	data := make([]float64, n*n)
	for i := range n {
		k.Row(data[i*n:(i+1)*n], i)
	}
	return mat.NewSymDense(n, data)
}

// checkGram returns an error if k is empty or has entries that are not finite.
func checkGram(k mat.Symmetric) error {
	n := k.SymmetricDim()
	if n == 0 {
		return param.Refuse("add at least one point", "an empty Gram matrix")
	}
	for i := range n {
		for j := range i + 1 {
			if v := k.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return param.Refuse("scale the points or lower the kernel's degree", "entry (%d, %d) of the Gram matrix is %g", i+1, j+1, v)
			}
		}
	}
	return nil
}

// checkLabels returns an error unless y holds n labels of -1 or +1.
func checkLabels(y []float64, n int) error {
	if len(y) != n {
		return fmt.Errorf("theory: %d labels for %d points", len(y), n)
	}
	for i, v := range y {
		if v != 1 && v != -1 {
			return fmt.Errorf("theory: label %d is %g; labels are -1 or +1", i+1, v)
		}
	}
	return nil
}

// checkFinite returns an error for values that are NaN or infinite.
func checkFinite(what string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return param.Refuse("use a finite number", "%s %d is %g", what, i+1, v)
		}
	}
	return nil
}
