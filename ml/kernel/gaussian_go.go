//go:build !cgo

package kernel

const lanes = 32

func gaussianRow(dst []float64, x packed, z []float64, gamma float64) { plainRow(dst, x, z, gamma) }

func gaussianRow32(dst []float32, x packed, z []float64, gamma float64) {
	plainRow32(dst, x, z, gamma)
}

func gaussianSum(dst []float64, x packed, z, w []float64, gamma float64) {
	plainSum(dst, x, z, w, gamma)
}

func productRow(dst []float64, x packed, z []float64) { plainProducts(dst, x, z) }
