//go:build !cgo

package dense

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/simd"
)

// addAt adds sign op(a) b to dst, op(a)(i, p) = a[i·down + p·across].
func addAt(_ simd.Level, dst blas64.General, sign float64, a []float64, down, across int, b blas64.General) {
	for i := range dst.Rows {
		row := dst.Data[i*dst.Stride:][:dst.Cols]
		for p := range b.Rows {
			floats.AddScaled(row, sign*a[i*down+p*across], b.Data[p*b.Stride:][:b.Cols])
		}
	}
}
