//go:build cgo

package dense

/*
#cgo CFLAGS: -O3 -Wno-psabi
#cgo noescape product_add
#cgo nocallback product_add
#include "product.h"
*/
import "C"

import (
	"gonum.org/v1/gonum/blas/blas64"

	"marginlab/ml/simd"
)

// addAt adds sign op(a) b to dst, op(a)(i, p) = a[i·down + p·across].
func addAt(l simd.Level, dst blas64.General, sign float64, a []float64, down, across int, b blas64.General) {
	if C.product_add(C.int(l), (*C.double)(&dst.Data[0]), C.long(dst.Stride), C.double(sign),
		(*C.double)(&a[0]), C.long(down), C.long(across),
		(*C.double)(&b.Data[0]), C.long(b.Stride),
		C.long(dst.Rows), C.long(dst.Cols), C.long(b.Rows)) == 0 {
		panic("dense: out of memory")
	}
}
