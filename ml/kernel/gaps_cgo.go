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

// wide is the number of pairs of strings compared at a time.
const wide = C.WIDE

// gapsAt adds the kernel values of the packed x and z to sum, see plainGaps.
func gapsAt(l simd.Level, sum *[wide]float64, b, x, z []float64, k int, decay float64) {
	if len(x) > 0 && len(z) > 0 {
		C.gaps_rows(C.int(l), (*C.double)(&sum[0]), (*C.double)(unsafe.SliceData(b)), (*C.double)(&x[0]), C.long(len(x)/wide), (*C.double)(&z[0]), C.long(len(z)/wide), C.long(k), C.double(decay))
	}
}
