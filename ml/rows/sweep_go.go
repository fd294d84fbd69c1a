//go:build !cgo

package rows

import "marginlab/ml/simd"

func partnerAt[T Real](_ simd.Level, g, low, diag []float64, ki []T, gi, kii float64) (j int, violation float64) {
	return plainPartner(g, low, diag, ki, gi, kii)
}

func updateAt[T Real](_ simd.Level, g, up []float64, ki, kj []T, step float64) (i int) {
	return plainUpdate(g, up, ki, kj, step)
}

func addScaledAt[T Real](_ simd.Level, dst []float64, a float64, row []T) {
	plainAddScaled(dst, a, row)
}

func sumAt[T Real](_ simd.Level, row []T) float64 { return plainSum(row) }

func addEachAt[T Real](_ simd.Level, dst []float64, a []float64, row []T) { plainAddEach(dst, a, row) }

func lookAt(_ simd.Level, own, f, u []float64, c float64) (out, in float64, outAt, inAt int) {
	return plainLook(own, f, u, c)
}

func pairAt(_ simd.Level, g, up, low, fa, fb, u []float64, sign, c float64) {
	plainPair(g, up, low, fa, fb, u, sign, c)
}

func bracketAt(_ simd.Level, most, least, own, f, u []float64) {
	plainBracket(most, least, own, f, u)
}
