package kernel

import (
	"iter"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
	"marginlab/ml/rows"
	"marginlab/ml/simd"
)

// packed holds points in blocks of lanes: the first coordinate of all points of a
// block, then the second, and so on, so that vector instructions process many points
// at once. The last block is padded with zeros.
//
// Of sparse points, a block holds only the coordinates that differ from 0 in some of its points,
// after lanes zeros, which stand for all the others.
//
// The loops over packed points exist twice: in C for the machine's vector
// instructions (gaussian.c) and, for builds without a C compiler, here in Go. The
// two agree to a few units in the last place.
type packed struct {
	d     int
	v     []float64
	some  []uint64  // of sparse points, a bit for each coordinate that a block holds, words(d) elements a block
	start []int     // of sparse points, where in v each block begins
	norms []float64 // |x|² of sparse points, nil: not used
}

// productRow calls productRowAt at the current level, without the zeros of x or z if they are many.
func productRow(dst []float64, x packed, z []float64) { productRows(dst, x, x.list(z), 1) }

// productRows writes m rows of x_i·z_j, each for the first len(dst)/m points x_i, into dst.
func productRows(dst []float64, x packed, z listed, m int) {
	n := len(dst) / m
	for j := range m {
		one := listed{v: z.row(x.d, j)}
		if z.some != nil {
			one.some = z.bits(x.d, j)
		} else if compiled && x.d >= rows.ManyColumns && lists.Count(one.v, func(v float64) bool { return v != 0 }) < x.d/2 {
			one.some = differing(one.v, x.d)
		}
		productRowAt(simd.Current(), dst[j*n:][:n], x, one)
	}
}

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

// listed holds points one after the other in v. Of sparse points, which have many coordinates, most of
// them 0, as of counted words, some has a bit for each coordinate that differs from 0, words(d) elements
// a point: all the others are left out of squared distances, which stay the same to the last bit.
type listed struct {
	v     []float64
	some  []uint64  // nil: not sparse
	norms []float64 // |x|² of sparse points, nil: not used
	at    []int     // the places of sparse points in v, some and norms, nil: 0, 1, …
}

// words returns the number of elements of some for a point in d dimensions.
func words(d int) int { return (d + 63) / 64 }

// row returns point j.
func (z listed) row(d, j int) []float64 { return z.v[z.place(j)*d:][:d] }

// bits returns the bits of point j in some.
func (z listed) bits(d, j int) []uint64 { return z.some[z.place(j)*words(d):][:words(d)] }

func (z listed) place(j int) int {
	if z.at != nil {
		return z.at[j]
	}
	return j
}

// addTo adds w times point j to sum.
func (z listed) addTo(sum []float64, w float64, j int) {
	if z.some == nil {
		floats.AddScaled(sum, w, z.row(len(sum), j))
		return
	}
	for k, v := range z.nonzero(len(sum), j) {
		sum[k] += w * v
	}
}

// nonzero iterates over the coordinates of the sparse point j that differ from 0.
func (z listed) nonzero(d, j int) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		x := z.row(d, j)
		for k, some := range z.bits(d, j) {
			for ; some != 0; some &= some - 1 {
				bit := k*64 + bits.TrailingZeros64(some)
				if !yield(bit, x[bit]) {
					return
				}
			}
		}
	}
}

// part returns the points from number a up to b, in d dimensions.
func (z listed) part(d, a, b int) listed {
	if z.at != nil {
		z.at = z.at[a:b]
		return z
	}
	z.v = z.v[a*d : b*d]
	if z.some != nil {
		z.some = z.some[a*words(d) : b*words(d)]
	}
	if z.norms != nil {
		z.norms = z.norms[a:b]
	}
	return z
}

// choose returns the points with the given numbers. Sparse points are not copied, others to the memory
// of chosen if that is enough.
func (z listed) choose(d int, numbers []int, chosen listed) listed {
	if z.some != nil {
		z.at = lists.Map(numbers, z.place)
		return z
	}
	if n := len(numbers) * d; n > cap(chosen.v) {
		chosen.v = rows.Zeros[float64](n)
	} else {
		chosen.v = chosen.v[:n]
	}
	for a, j := range numbers {
		copy(chosen.v[a*d:][:d], z.v[j*d:])
	}
	return chosen
}

// arrange returns the rows of x packed and listed. whole says that f gets no points other than those of
// x if all of them are whole.
func arrange(f function, x blas64.General, whole bool) (packed, listed) {
	if s, ok := f.(skipper); ok && compiled && x.Cols >= rows.ManyColumns && x.Stride == x.Cols {
		if p, z, ok := sparse(s, x, whole); ok {
			return p, z
		}
	}
	return pack(x), listed{v: x.Data}
}

// sparse arranges points of which most coordinates are 0, so that s can leave zeros out. Squared
// distances are computed from norms and inner products between whole points, where that is exact, and
// where it changes values of s, at most 1, by about 2^-46 or less. Otherwise a block must have much in
// common.
func sparse(s skipper, x blas64.General, whole bool) (p packed, z listed, ok bool) {
	const largest, near = 1 << 16, 1 << 3 // of whole coordinates, and of γ|x|²
	n, d, few, most := x.Rows, x.Cols, 0, math.MaxInt
	for _, v := range x.Data[:n*d] {
		if v != 0 {
			few++
			whole = whole && v == math.Trunc(v) && math.Abs(v) <= largest
		}
		if few > n*d/4 {
			return p, z, false
		}
	}
	z = listed{v: x.Data, some: differing(x.Data, d)}
	if s.width() > 0 {
		z.norms = z.squares(d, n)
		if !whole && !(s.width()*floats.Max(z.norms) <= near) {
			z.norms, most = nil, (n+lanes-1)/lanes*lanes*d/2
		}
	}
	p, ok = z.pack(d, n, most)
	return p, z, ok
}

// squares returns |x|² of n sparse points.
func (z listed) squares(d, n int) []float64 {
	return lists.Make(n, func(i int) (square float64) {
		for _, v := range z.nonzero(d, i) {
			square += v * v
		}
		return square
	})
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

// list returns points that need not be whole for loops over p.
func (p packed) list(v []float64) listed {
	z := listed{v: v}
	if p.start != nil {
		z.some = differing(v, p.d)
	}
	if p.norms != nil {
		z.norms = z.squares(p.d, len(v)/p.d)
	}
	return z
}

// pack packs n sparse points in d dimensions. ok is false, and p undefined, if they take more than most
// numbers.
func (z listed) pack(d, n, most int) (p packed, ok bool) {
	blocks, w := (n+lanes-1)/lanes, words(d)
	p = packed{d: d, some: make([]uint64, blocks*w), start: make([]int, blocks)}
	for i := range n {
		for k, some := range z.bits(d, i) {
			p.some[i/lanes*w+k] |= some
		}
	}
	size := 0
	for b := range blocks {
		p.start[b] = size
		size += lanes
		for _, w := range p.some[b*w:][:w] {
			size += bits.OnesCount64(w) * lanes
		}
	}
	if size > most {
		return p, false
	}
	p.v = rows.Zeros[float64](size)
	for i := range n {
		x, at := z.row(d, i), p.start[i/lanes]+lanes+i%lanes
		held := p.some[i/lanes*w:]
		for k, some := range z.bits(d, i) {
			for ; some != 0; some &= some - 1 {
				bit := bits.TrailingZeros64(some)
				p.v[at+bits.OnesCount64(held[k]&(1<<bit-1))*lanes] = x[k*64+bit]
			}
			at += bits.OnesCount64(held[k]) * lanes
		}
	}
	if z.norms != nil {
		p.norms = make([]float64, blocks*lanes)
		for i := range n {
			p.norms[i] = z.norms[z.place(i)]
		}
	}
	return p, true
}

// set stores x as point i.
func (p packed) set(i int, x []float64) {
	for k, v := range x {
		p.v[(i/lanes*p.d+k)*lanes+i%lanes] = v
	}
}

// from returns p without the points before i, a multiple of lanes.
func (p packed) from(i int) packed {
	if p.start == nil {
		p.v = p.v[i*p.d:]
		return p
	}
	p.some, p.start = p.some[i/lanes*words(p.d):], p.start[i/lanes:]
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
