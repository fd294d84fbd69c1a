package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
	"marginlab/ml/simd"
)

// packed holds points in blocks of lanes: the first coordinate of all points of a
// block, then the second, and so on, so that vector instructions process many points
// at once. The last block is padded with zeros.
//
// The loops over packed points exist twice: in C for the machine's vector
// instructions (gaussian.c) and, for builds without a C compiler, here in Go. The
// two agree to a few units in the last place.
type packed struct {
	d     int
	v     []float64
	norms []float64 // |x|², only beside points whose zeros are left out
}

// productRow calls productRowAt at the current level.
func productRow(dst []float64, x packed, z []float64) { productRowAt(simd.Current(), dst, x, z) }

// tangents calls tangentsAt at the current level.
func tangents(v []float64, gamma, coef0 float64) { tangentsAt(simd.Current(), v, gamma, coef0) }

// pack packs the rows of x.
func pack(x blas64.General) packed {
	p := packed{d: x.Cols, v: rows.Zeros[float64]((x.Rows + lanes - 1) / lanes * lanes * x.Cols)}
	for i := range x.Rows {
		p.set(i, x.Data[i*x.Stride:][:x.Cols])
	}
	return p
}

// listed holds points one after the other in v. Of points with many coordinates, all of them whole
// numbers and most 0, as of counted words, at holds the places of the others: of point j those from
// ends[j] to ends[j+1]. Its squared distance from x is then |x|² + sum_k z_k (z_k - 2 x_k), without a
// rounding. Of other points, at is nil.
type listed struct {
	v        []float64
	at, ends []int32
}

// part returns the points from number a up to b, in d dimensions.
func (z listed) part(d, a, b int) listed {
	z.v = z.v[a*d : b*d]
	if z.at != nil {
		z.ends = z.ends[a : b+1]
	}
	return z
}

// choose returns the points with the given numbers.
func (z listed) choose(d int, numbers []int) listed {
	some := listed{v: rows.Zeros[float64](len(numbers) * d)}
	if z.at != nil {
		some.ends = make([]int32, 1, len(numbers)+1)
	}
	for a, j := range numbers {
		copy(some.v[a*d:], z.v[j*d:][:d])
		if z.at != nil {
			some.at = append(some.at, z.at[z.ends[j]:z.ends[j+1]]...)
			some.ends = append(some.ends, int32(len(some.at)))
		}
	}
	return some
}

// sparse sets z.at, z.ends and p.norms if the coordinates of the points, the same in z and p, are many,
// whole and mostly 0.
func sparse(z *listed, p *packed) {
	const largest = 1 << 16
	if p.d < manyColumns {
		return
	}
	few := 0
	for _, v := range z.v {
		if v != math.Trunc(v) || math.Abs(v) > largest {
			return
		}
		if v != 0 {
			few++
		}
	}
	if few > len(z.v)/4 {
		return
	}
	n := len(z.v) / p.d
	z.at, z.ends = make([]int32, 0, few+1), make([]int32, 1, n+1)
	p.norms = make([]float64, len(p.v)/p.d)
	for i := range n {
		for k, v := range z.v[i*p.d:][:p.d] {
			if v != 0 {
				z.at = append(z.at, int32(k))
				p.norms[i] += v * v
			}
		}
		z.ends = append(z.ends, int32(len(z.at)))
	}
}

// set stores x as point i.
func (p packed) set(i int, x []float64) {
	for k, v := range x {
		p.v[(i/lanes*p.d+k)*lanes+i%lanes] = v
	}
}

// from returns p without the points before i, a multiple of lanes.
func (p packed) from(i int) packed {
	p.v = p.v[i*p.d:]
	if p.norms != nil {
		p.norms = p.norms[i:]
	}
	return p
}

// blocks calls f for each block of the first n points with the index of its first point, its number
// of points, and the coordinates.
func (p packed) blocks(n int, f func(first, size int, x []float64)) {
	for i := 0; i < n; i += lanes {
		f(i, min(lanes, n-i), p.v[i*p.d:][:lanes*p.d])
	}
}

// squares writes |x_j - z|² for the first len(dst) points.
func squares(dst []float64, x packed, z []float64) {
	clear(dst)
	x.blocks(len(dst), func(first, size int, x []float64) {
		v := dst[first:][:size]
		for k, zk := range z {
			for j, xj := range x[k*lanes:][:size] {
				xj -= zk
				v[j] += xj * xj
			}
		}
	})
}

func plainRow(dst []float64, x packed, z []float64, gamma float64) {
	squares(dst, x, z)
	expScaled(dst, -gamma)
}

func plainRow32(dst []float32, x packed, z []float64, gamma float64) {
	v := make([]float64, 8*lanes)
	for i := 0; i < len(dst); i += len(v) {
		part := dst[i:min(i+len(v), len(dst))]
		plainRow(v[:len(part)], x.from(i), z, gamma)
		for j := range part {
			part[j] = float32(v[j])
		}
	}
}

func plainSum(dst []float64, x packed, z, w []float64, gamma float64) {
	v := make([]float64, len(dst))
	for j, wj := range w {
		plainRow(v, x, z[j*x.d:][:x.d], gamma)
		floats.AddScaled(dst, wj, v)
	}
}

func plainProducts(dst []float64, x packed, z []float64) {
	clear(dst)
	x.blocks(len(dst), func(first, size int, x []float64) {
		v := dst[first:][:size]
		for k, zk := range z {
			if zk == 0 {
				continue
			}
			for j, xj := range x[k*lanes:][:size] {
				v[j] += xj * zk
			}
		}
	})
}
