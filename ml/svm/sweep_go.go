//go:build !cgo

package svm

func partner[T real](g, low, diag []float64, ki []T, gi, kii float64) (j int, violation float64) {
	return plainPartner(g, low, diag, ki, gi, kii)
}

func update[T real](g, up []float64, ki, kj []T, step float64) (i int) {
	return plainUpdate(g, up, ki, kj, step)
}

func addScaled[T real](dst []float64, a float64, row []T) { plainAddScaled(dst, a, row) }

func sum[T real](row []T) float64 { return plainSum(row) }
