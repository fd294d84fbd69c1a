//go:build !cgo

package kernel

import "marginlab/ml/simd"

const wide = 16

func gapsAt(_ simd.Level, sum *[wide]float64, b, x, z []float64, k int, decay float64) {
	plainGaps(sum, b, x, z, k, decay)
}
