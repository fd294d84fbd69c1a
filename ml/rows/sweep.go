package rows

import (
	"math"
	"slices"

	"marginlab/ml/simd"
)

// The loops over all points in a step of SMO. They exist twice: in C with vector instructions
// (sweep.c), and here in Go for builds without a C compiler.
//
// g is the gradient of the dual. up is 0 on I_up, the points whose u can increase, and -Inf
// elsewhere; low is 0 on I_low, the points whose u can decrease, and +Inf elsewhere. So m(a) is the
// largest g + up and M(a) the smallest g + low. The vectors are padded to a multiple of width with
// entries that are never selected: up is -Inf and low is +Inf there.

// Real is the precision of the rows of the kernel.
type Real interface{ float32 | float64 }

const width = 16

// Padded returns n rounded up to a multiple of width.
func Padded(n int) int { return (n + width - 1) / width * width }

// Partner returns the j in I_low with the largest second-order gain for i,
// (g_i - g_j)² / (K_ii + K_jj - 2 K_ij), and m(a) - M(a), or -1 and 0 if no pair has a gain.
func Partner[T Real](g, low, diag []float64, ki []T, gi, kii float64) (j int, violation float64) {
	return partnerAt(simd.Current(), g, low, diag, ki, gi, kii)
}

// Update updates the gradient after a step and returns the i that attains m(a).
func Update[T Real](g, up []float64, ki, kj []T, step float64) (i int) {
	return updateAt(simd.Current(), g, up, ki, kj, step)
}

// AddScaled adds a·row to dst.
func AddScaled[T Real](dst []float64, a float64, row []T) {
	addScaledAt(simd.Current(), dst, a, row)
}

// AddEach adds a_c·row to the c-th vector in dst, a concatenation of len(a) vectors.
func AddEach[T Real](dst []float64, a []float64, row []T) {
	addEachAt(simd.Current(), dst, a, row)
}

// Look returns the largest g_i with u_i > -c and the largest -g_i with u_i < 0, where
// g_i = 1 - own_i + f_i, and their first positions; -Inf and -1 if there are none.
func Look(own, f, u []float64, c float64) (out, in float64, outAt, inAt int) {
	return lookAt(simd.Current(), own, f, u, c)
}

// Pair sets up g, up and low of the two-class problem of classes a and b for the points of one of
// them, with u_i in [-c, 0] and g_i = sign - fa_i + fb_i. sign is 1 for the points of a, whose
// variables are -u_i, and -1 for the points of b, whose variables are u_i.
func Pair(g, up, low, fa, fb, u []float64, sign, c float64) {
	pairAt(simd.Current(), g, up, low, fa, fb, u, sign, c)
}

// Bracket raises most_i to g_i = 1 - own_i + f_i if that is larger and, if u_i < 0, lowers
// least_i to g_i if that is smaller.
func Bracket(most, least, own, f, u []float64) {
	bracketAt(simd.Current(), most, least, own, f, u)
}

// Infinite returns the position of the first entry of a padded row that is not finite, or -1.
func Infinite[T Real](row []T) int {
	if s := sumAt(simd.Current(), row); !math.IsNaN(s) && !math.IsInf(s, 0) {
		return -1 // a sum with such an entry is not finite
	}
	return slices.IndexFunc(row, func(v T) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) })
}

// The loops in Go.

func plainPartner[T Real](g, low, diag []float64, ki []T, gi, kii float64) (j int, violation float64) {
	low, diag, ki = low[:len(g)], diag[:len(g)], ki[:len(g)]
	j = -1
	best := 0.0
	for k, gk := range g {
		d := gi - (gk + low[k])
		if d > violation {
			violation = d
		}
		// d²/curvature > best for d > 0, without a division and with a rarely taken branch.
		curvature := kii + diag[k] - 2*float64(ki[k])
		if d*math.Abs(d) > best*curvature {
			if gain := d * d / Guarded(curvature); d > 0 && gain > best {
				best, j = gain, k
			}
		}
	}
	return j, violation
}

func plainUpdate[T Real](g, up []float64, ki, kj []T, step float64) (i int) {
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

func plainAddScaled[T Real](dst []float64, a float64, row []T) {
	row = row[:len(dst)]
	for k := range dst {
		dst[k] += a * float64(row[k])
	}
}

func plainAddEach[T Real](dst []float64, a []float64, row []T) {
	n := len(dst) / len(a)
	for c, v := range a {
		if v != 0 {
			plainAddScaled(dst[c*n:][:n], v, row)
		}
	}
}

func plainLook(own, f, u []float64, c float64) (out, in float64, outAt, inAt int) {
	f, u = f[:len(own)], u[:len(own)]
	out, in, outAt, inAt = math.Inf(-1), math.Inf(-1), -1, -1
	for k, v := range own {
		g := 1 - v + f[k]
		if g > out && u[k] > -c {
			out, outAt = g, k
		}
		if -g > in && u[k] < 0 {
			in, inAt = -g, k
		}
	}
	return out, in, outAt, inAt
}

func plainPair(g, up, low, fa, fb, u []float64, sign, c float64) {
	for k, v := range u {
		g[k] = sign - fa[k] + fb[k]
		most, least := v <= -c, v >= 0
		if sign > 0 {
			most, least = least, most
		}
		up[k], low[k] = 0, 0
		if least {
			up[k] = math.Inf(-1)
		}
		if most {
			low[k] = math.Inf(1)
		}
	}
}

func plainBracket(most, least, own, f, u []float64) {
	most, least, f, u = most[:len(own)], least[:len(own)], f[:len(own)], u[:len(own)]
	for k, v := range own {
		g := 1 - v + f[k]
		if g > most[k] {
			most[k] = g
		}
		if u[k] < 0 && g < least[k] {
			least[k] = g
		}
	}
}

// plainSum returns the sum of a row, which is not finite if one of its entries is not.
func plainSum[T Real](row []T) (s float64) {
	for _, v := range row {
		s += float64(v)
	}
	return s
}

// tau replaces a curvature that is not positive.
const tau = 1e-12

// Guarded returns curvature, or tau if it is not positive, as happens for indefinite kernels and
// equal points.
func Guarded(curvature float64) float64 {
	if curvature <= 0 {
		return tau
	}
	return curvature
}
