package ml

import (
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/param"
)

// Errors holds the regression errors of f.
type Errors struct {
	MSE float64 `json:"mse"` // mean (t − f)²
	// R2 is 1 − MSE over the variance of the values: 1 if f fits all of them, 0 if it is no
	// better than their mean; nil if all values are equal.
	R2 *float64 `json:"r2,omitempty"`
}

// errorsOf compares f with the values t of at least one row. It returns an error if their squares
// overflow.
func errorsOf(f, t []float64) (e Errors, err error) {
	for i, v := range f {
		e.MSE += (t[i] - v) * (t[i] - v) / float64(len(t))
	}
	if finite(e.MSE) == nil {
		return e, param.Refuse("scale the values", "the squared errors are too large for floating-point numbers")
	}
	if _, variance := stat.PopMeanVariance(t, nil); variance > 0 {
		e.R2 = finite(1 - e.MSE/variance)
	}
	return e, nil
}
