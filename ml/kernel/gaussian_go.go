//go:build !cgo

package kernel

import (
	"math"

	"marginlab/ml/simd"
)

const lanes = 32

// compiled reports that the loops can leave zeros out.
const compiled = false

func gaussianRowsAt(_ simd.Level, dst []float64, x packed, z listed, m int, gamma float64) {
	n := len(dst) / m
	for j := range m {
		plainRow(dst[j*n:][:n], x, z.v[j*x.d:][:x.d], gamma)
	}
}

func gaussianRow32At(_ simd.Level, dst []float32, x packed, z listed, gamma float64) {
	plainRow32(dst, x, z.v, gamma)
}

func gaussianSumAt(_ simd.Level, dst []float64, x packed, z listed, w []float64, gamma float64) {
	plainSum(dst, x, z.v, w, gamma)
}

// gaussianSum32At uses double precision: single precision gains nothing here.
func gaussianSum32At(_ simd.Level, dst []float64, x packed, z listed, w []float64, gamma float64) {
	plainSum(dst, x, z.v, w, gamma)
}

func productRowAt(_ simd.Level, dst []float64, x packed, z listed) { plainProducts(dst, x, z.v) }

func tangentsAt(_ simd.Level, v []float64, gamma, coef0 float64) {
	for i, s := range v {
		v[i] = math.Tanh(gamma*s + coef0)
	}
}
