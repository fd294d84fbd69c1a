package kernel

import (
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
	d int
	v []float64
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

// set stores x as point i.
func (p packed) set(i int, x []float64) {
	for k, v := range x {
		p.v[(i/lanes*p.d+k)*lanes+i%lanes] = v
	}
}

// from returns p without the points before i, a multiple of lanes.
func (p packed) from(i int) packed { return packed{p.d, p.v[i*p.d:]} }

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
