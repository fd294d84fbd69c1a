//go:build cgo

package rows

/*
#cgo CFLAGS: -O3 -Wno-psabi
#cgo LDFLAGS: -lm
#cgo noescape partner32
#cgo nocallback partner32
#cgo noescape partner64
#cgo nocallback partner64
#cgo noescape update32
#cgo nocallback update32
#cgo noescape update64
#cgo nocallback update64
#cgo noescape add32
#cgo nocallback add32
#cgo noescape add64
#cgo nocallback add64
#cgo noescape sum32
#cgo nocallback sum32
#cgo noescape sum64
#cgo nocallback sum64
#cgo noescape add_each32
#cgo nocallback add_each32
#cgo noescape add_each64
#cgo nocallback add_each64
#cgo noescape look
#cgo nocallback look
#cgo noescape pair
#cgo nocallback pair
#cgo noescape bracket
#cgo nocallback bracket
#include "sweep.h"
*/
import "C"

import (
	"unsafe"

	"marginlab/ml/simd"
)

func doubles(v []float64) *C.double { return (*C.double)(unsafe.SliceData(v)) }

func partnerAt[T Real](l simd.Level, g, low, diag []float64, ki []T, gi, kii float64) (j int, violation float64) {
	var p C.struct_partner
	switch ki := any(ki).(type) {
	case []float32:
		p = C.partner32(C.int(l), doubles(g), doubles(low), doubles(diag), (*C.float)(unsafe.SliceData(ki)), C.long(len(g)), C.double(gi), C.double(kii))
	case []float64:
		p = C.partner64(C.int(l), doubles(g), doubles(low), doubles(diag), doubles(ki), C.long(len(g)), C.double(gi), C.double(kii))
	}
	return int(p.j), float64(p.violation)
}

func updateAt[T Real](l simd.Level, g, up []float64, ki, kj []T, step float64) (i int) {
	switch ki := any(ki).(type) {
	case []float32:
		return int(C.update32(C.int(l), doubles(g), doubles(up), (*C.float)(unsafe.SliceData(ki)), (*C.float)(unsafe.Pointer(unsafe.SliceData(kj))), C.long(len(g)), C.double(step)))
	case []float64:
		return int(C.update64(C.int(l), doubles(g), doubles(up), doubles(ki), (*C.double)(unsafe.Pointer(unsafe.SliceData(kj))), C.long(len(g)), C.double(step)))
	}
	return 0
}

func addScaledAt[T Real](l simd.Level, dst []float64, a float64, row []T) {
	switch row := any(row).(type) {
	case []float32:
		C.add32(C.int(l), doubles(dst), C.double(a), (*C.float)(unsafe.SliceData(row)), C.long(len(dst)))
	case []float64:
		C.add64(C.int(l), doubles(dst), C.double(a), doubles(row), C.long(len(dst)))
	}
}

func sumAt[T Real](l simd.Level, row []T) float64 {
	switch row := any(row).(type) {
	case []float32:
		return float64(C.sum32(C.int(l), (*C.float)(unsafe.SliceData(row)), C.long(len(row))))
	case []float64:
		return float64(C.sum64(C.int(l), doubles(row), C.long(len(row))))
	}
	return 0
}

func addEachAt[T Real](l simd.Level, dst []float64, a []float64, row []T) {
	stride, k := len(dst)/len(a), len(a)
	switch row := any(row).(type) {
	case []float32:
		C.add_each32(C.int(l), doubles(dst), C.long(stride), doubles(a), C.long(k), (*C.float)(unsafe.SliceData(row)), C.long(stride))
	case []float64:
		C.add_each64(C.int(l), doubles(dst), C.long(stride), doubles(a), C.long(k), doubles(row), C.long(stride))
	}
}

func lookAt(l simd.Level, own, f, u []float64, c float64) (out, in float64, outAt, inAt int) {
	e := C.look(C.int(l), doubles(own), doubles(f), doubles(u), C.double(c), C.long(len(own)))
	return float64(e.out), float64(e.in), int(e.out_at), int(e.in_at)
}

func pairAt(l simd.Level, g, up, low, fa, fb, u []float64, sign, c float64) {
	C.pair(C.int(l), doubles(g), doubles(up), doubles(low), doubles(fa), doubles(fb), doubles(u), C.double(sign), C.double(c), C.long(len(u)))
}

func bracketAt(l simd.Level, most, least, own, f, u []float64) {
	C.bracket(C.int(l), doubles(most), doubles(least), doubles(own), doubles(f), doubles(u), C.long(len(own)))
}
