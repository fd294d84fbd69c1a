//go:build cgo

package kernel

/*
#cgo CFLAGS: -O3 -Wno-psabi
#cgo noescape gaussian_rows
#cgo nocallback gaussian_rows
#cgo noescape gaussian_row32
#cgo nocallback gaussian_row32
#cgo noescape gaussian_sum
#cgo nocallback gaussian_sum
#cgo noescape gaussian_sum32
#cgo nocallback gaussian_sum32
#cgo noescape product_row
#cgo nocallback product_row
#cgo noescape tangents
#cgo nocallback tangents
#include "gaussian.h"
*/
import "C"

import (
	"unsafe"

	"marginlab/ml/simd"
)

const lanes = C.BLOCK

// compiled reports that the loops can leave zeros out.
const compiled = true

// c returns p for C.
func (p packed) c() C.packed {
	return C.packed{v: doubles(p.v), d: C.long(p.d), some: words64(p.some), start: places(p.start), norms: doubles(p.norms)}
}

// c returns z for C.
func (z listed) c() C.listed {
	return C.listed{v: doubles(z.v), some: words64(z.some), norms: doubles(z.norms), at: places(z.at)}
}

func doubles(v []float64) *C.double { return (*C.double)(unsafe.SliceData(v)) }

func words64(v []uint64) *C.ulonglong { return (*C.ulonglong)(unsafe.SliceData(v)) }

func places(v []int) *C.intptr_t { return (*C.intptr_t)(unsafe.Pointer(unsafe.SliceData(v))) }

// gaussianRowsAt writes m rows of exp(-gamma |x_i - z_j|²), each for the first len(dst)/m points x_i,
// into dst. Values below exp(-708) may be 0.
func gaussianRowsAt(l simd.Level, dst []float64, x packed, z listed, m int, gamma float64) {
	if len(dst) > 0 {
		C.gaussian_rows(C.int(l), doubles(dst), x.c(), C.long(len(dst)/m), z.c(), C.long(m), C.double(gamma))
	}
}

// gaussianRow32At is gaussianRowsAt for one z in single precision, to an error of about 2^-24.
func gaussianRow32At(l simd.Level, dst []float32, x packed, z listed, gamma float64) {
	if len(dst) > 0 {
		C.gaussian_row32(C.int(l), (*C.float)(&dst[0]), x.c(), C.long(len(dst)), z.c(), C.double(gamma))
	}
}

// gaussianSumAt adds sum_j w_j exp(-gamma |x_i - z_j|²) to dst[i] for the first
// len(dst) points of x.
func gaussianSumAt(l simd.Level, dst []float64, x packed, z listed, w []float64, gamma float64) {
	if len(dst) > 0 {
		C.gaussian_sum(C.int(l), doubles(dst), x.c(), C.long(len(dst)), z.c(), doubles(w), C.long(len(w)), C.double(gamma))
	}
}

// gaussianSum32At is gaussianSumAt with values of the kernel in single precision.
func gaussianSum32At(l simd.Level, dst []float64, x packed, z listed, w []float64, gamma float64) {
	if len(dst) > 0 {
		C.gaussian_sum32(C.int(l), doubles(dst), x.c(), C.long(len(dst)), z.c(), doubles(w), C.long(len(w)), C.double(gamma))
	}
}

// productRowAt writes x_i·z into dst[i] for the first len(dst) points of x and one z.
func productRowAt(l simd.Level, dst []float64, x packed, z listed) {
	if len(dst) > 0 {
		C.product_row(C.int(l), doubles(dst), x.c(), C.long(len(dst)), z.c())
	}
}

// tangentsAt replaces every v by tanh(gamma·v + coef0), to a relative error of about 4e-16.
func tangentsAt(l simd.Level, v []float64, gamma, coef0 float64) {
	if len(v) > 0 {
		C.tangents(C.int(l), doubles(v), C.long(len(v)), C.double(gamma), C.double(coef0))
	}
}
