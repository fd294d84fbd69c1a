//go:build cgo

package kernel

/*
#cgo CFLAGS: -O3 -Wno-psabi
#cgo noescape gaps_rows
#cgo nocallback gaps_rows
#include "gaps.h"
*/
import "C"

import (
	"unsafe"

	"marginlab/ml/simd"
)

// wide is how many strings are compared with one at a time.
const wide = C.WIDE

// gapsAt adds to sum what the symbols x of a string have in common with the packed z, see
// plainGaps.
func gapsAt(l simd.Level, sum *[wide]float64, b, x, z []float64, k int, decay float64) {
	if len(x) > 0 && len(z) > 0 {
		C.gaps_rows(C.int(l), (*C.double)(&sum[0]), (*C.double)(unsafe.SliceData(b)), (*C.double)(&x[0]), C.long(len(x)), (*C.double)(&z[0]), C.long(len(z)/wide), C.long(k), C.double(decay))
	}
}
