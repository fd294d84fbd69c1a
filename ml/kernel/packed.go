package kernel

import (
	"math"
	"math/bits"
	"slices"

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
	some  []uint64  // the coordinates that differ from 0 in some point of a block, nil if norms will do
	norms []float64 // |x|², only of whole points whose zeros are left out
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

// listed holds points one after the other in v. Of points with many coordinates, most of them 0, as of
// counted words, some has a bit for each coordinate that differs from 0, words(d) elements a point: all
// the others are left out of squared distances, which stay the same to the last bit. Of other points,
// some is nil.
type listed struct {
	v    []float64
	some []uint64
}

// words returns the number of elements of some for a point in d dimensions.
func words(d int) int { return (d + 63) / 64 }

// part returns the points from number a up to b, in d dimensions.
func (z listed) part(d, a, b int) listed {
	z.v = z.v[a*d : b*d]
	if z.some != nil {
		z.some = z.some[a*words(d) : b*words(d)]
	}
	return z
}

// choose returns the points with the given numbers, in the memory of chosen if that is enough.
func (z listed) choose(d int, numbers []int, chosen listed) listed {
	if n := len(numbers) * d; n > cap(chosen.v) {
		chosen.v = rows.Zeros[float64](n)
	} else {
		chosen.v = chosen.v[:n]
	}
	if z.some == nil {
		chosen.some = nil
	} else {
		n := len(numbers) * words(d)
		chosen.some = slices.Grow(chosen.some[:0], n)[:n]
	}
	for a, j := range numbers {
		to, from := chosen.part(d, a, a+1), z.part(d, j, j+1)
		copy(to.v, from.v)
		copy(to.some, from.some)
	}
	return chosen
}

// sparse sets z.some if the coordinates of the points, the same in z and p, are many and mostly 0. It
// sets p.norms for whole points, with which only the coordinates of z count, and p.some for others.
func sparse(z *listed, p *packed) {
	const largest = 1 << 16
	if p.d < manyColumns {
		return
	}
	whole, few := true, 0
	for _, v := range z.v {
		if v != 0 {
			few++
			whole = whole && v == math.Trunc(v) && math.Abs(v) <= largest
		}
		if few > len(z.v)/4 {
			return
		}
	}
	z.some = differing(z.v, p.d)
	if whole {
		p.norms = make([]float64, len(p.v)/p.d)
		for i := range len(z.v) / p.d {
			x := z.v[i*p.d:][:p.d]
			p.norms[i] = floats.Dot(x, x)
		}
		return
	}
	common(z, p)
}

// common sets p.some from the bits of its points in z, or clears both if the points of a block have
// little in common.
func common(z *listed, p *packed) {
	p.unite(z.some)
	few := 0
	for _, w := range p.some {
		few += bits.OnesCount64(w)
	}
	if few > p.d*len(p.some)/words(p.d)/2 {
		z.some, p.some = nil, nil
	}
}

// differing returns the bits of the coordinates that differ from 0, see listed.
func differing(v []float64, d int) []uint64 {
	n := words(d)
	some := make([]uint64, len(v)/d*n)
	for i := range len(v) / d {
		for k, x := range v[i*d:][:d] {
			if x != 0 {
				some[i*n+k/64] |= 1 << (k % 64)
			}
		}
	}
	return some
}

// unite sets p.some from the bits of its points.
func (p *packed) unite(some []uint64) {
	n := words(p.d)
	p.some = make([]uint64, len(p.v)/p.d/lanes*n)
	for i := range some {
		p.some[i/n/lanes*n+i%n] |= some[i]
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
	if p.some != nil {
		p.some = p.some[i/lanes*words(p.d):]
	}
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
