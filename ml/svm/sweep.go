package svm

import (
	"math"

	"marginlab/ml/simd"
)

// The sweeps over all points that a step on a pair costs. They exist twice: in C
// for the machine's vector instructions (sweep.c), and here in Go for builds
// without a C compiler. The vectors are padded to a multiple of width with
// entries that are never chosen: up is -Inf there and low is +Inf.

// real is the precision of the rows of the kernel.
type real interface{ float32 | float64 }

const width = 16

// padded is the least multiple of width that is not below n.
func padded(n int) int { return (n + width - 1) / width * width }

// partner, update, addScaled and sum are the loops of the level that runs.
func partner[T real](g, low, diag []float64, ki []T, gi, kii float64) (j int, violation float64) {
	return partnerAt(simd.Current(), g, low, diag, ki, gi, kii)
}

func update[T real](g, up []float64, ki, kj []T, step float64) (i int) {
	return updateAt(simd.Current(), g, up, ki, kj, step)
}

func addScaled[T real](dst []float64, a float64, row []T) {
	addScaledAt(simd.Current(), dst, a, row)
}

func sum[T real](row []T) float64 { return sumAt(simd.Current(), row) }

// plainPartner returns the j in I_low that gains most with i to second order,
// (g_i - g_j)² / (K_ii + K_jj - 2 K_ij), and m(a) - M(a), or -1 and 0 when no
// pair gains anything.
func plainPartner[T real](g, low, diag []float64, ki []T, gi, kii float64) (j int, violation float64) {
	low, diag, ki = low[:len(g)], diag[:len(g)], ki[:len(g)]
	j = -1
	best := 0.0
	for k, gk := range g {
		d := gi - (gk + low[k])
		if d > violation {
			violation = d
		}
		// d²/curvature > best for d > 0, without a division and with a branch
		// that is rarely taken.
		curvature := kii + diag[k] - 2*float64(ki[k])
		if d*math.Abs(d) > best*curvature {
			if gain := d * d / guarded(curvature); d > 0 && gain > best {
				best, j = gain, k
			}
		}
	}
	return j, violation
}

// plainUpdate brings the gradient up to date after a step and in the same pass finds
// the i of m(a).
func plainUpdate[T real](g, up []float64, ki, kj []T, step float64) (i int) {
	up, ki, kj = up[:len(g)], ki[:len(g)], kj[:len(g)]
	best := math.Inf(-1)
	for k, gk := range g {
		gk -= step * (float64(ki[k]) - float64(kj[k]))
		g[k] = gk
		if v := gk + up[k]; v > best {
			best, i = v, k
		}
	}
	return i
}

// plainAddScaled adds a·row to dst.
func plainAddScaled[T real](dst []float64, a float64, row []T) {
	row = row[:len(dst)]
	for k := range dst {
		dst[k] += a * float64(row[k])
	}
}

// plainSum is the sum of a row: not finite when one of its entries is not.
func plainSum[T real](row []T) (s float64) {
	for _, v := range row {
		s += float64(v)
	}
	return s
}
