package kernel

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/rows"
)

// Gram is the M x M kernel matrix of the M rows of X, optionally scaled on both
// sides by a conformal factor: K_ij = c_i c_j k(x_i, x_j). Rows are computed on
// demand, so no M x M matrix is held. K_ij and K_ji are equal to the last bit.
// Its methods are safe for concurrent use.
type Gram struct {
	k    Kernel
	f    function // of k
	n    int
	p    packed    // the n points or, if f is an embedder, their images
	z    listed    // the same
	c    []float64 // nil: all ones
	diag []float64 // nil: all ones
}

// NewGram returns the kernel matrix of the rows of x (M x d). x is kept, not
// copied, and must not change afterwards.
func NewGram(k Kernel, x *mat.Dense) *Gram {
	f := bind(k)
	return newGram(k, f, embed(f, x))
}

// newGram is NewGram for the function f of k and the images of the points.
func newGram(k Kernel, f function, x *mat.Dense) *Gram {
	if raw := x.RawMatrix(); raw.Stride != raw.Cols {
		x = mat.DenseCopyOf(x)
	}
	raw := x.RawMatrix()
	g := &Gram{k: k, f: f, n: raw.Rows}
	g.p, g.z = arrange(f, raw, true)
	if f, ok := f.(selfSimilar); ok {
		for i := range g.Len() {
			v := f.self(x.RawRowView(i))
			if v != 1 && g.diag == nil {
				g.diag = slices.Repeat([]float64{1}, g.Len())
			}
			if g.diag != nil {
				g.diag[i] = v
			}
		}
		return g
	}
	g.diag = make([]float64, g.Len())
	piece := make([]float64, lanes)
	for i := range g.diag {
		// Compute the end of a block of row i, to agree with Row to the last bit.
		first := i / lanes * lanes
		v := piece[:i-first+1]
		g.rows(v, g.p.from(first), g.z.part(g.p.d, i, i+1), 1)
		g.diag[i] = v[i-first]
	}
	return g
}

// tiler is implemented by functions that compute m rows, for the points in z, faster together.
type tiler interface {
	rows(dst []float64, x packed, z listed, m int)
}

// skipper is implemented by functions that can leave the zeros of sparse points out.
type skipper interface {
	width() float64 // γ of exp(−γ |x − z|²), or 0 of a function of inner products
}

// selfSimilar is implemented by functions that know k(x, x) without the loops over a row, to the
// last bit; it is 1 for most points.
type selfSimilar interface{ self(x []float64) float64 }

// Scaled returns the Gram matrix with entries c_i c_j k(x_i, x_j). c (length M) is kept,
// not copied. It replaces an earlier scaling.
func (g *Gram) Scaled(c []float64) *Gram {
	s := *g
	s.c = c
	return &s
}

// Subset returns the Gram matrix of some of the points, in the order given.
func (g *Gram) Subset(points []int) Matrix {
	s := *g
	s.n, s.z = len(points), g.z.choose(g.p.d, points, listed{})
	if s.z.some != nil {
		s.p, _ = s.z.pack(g.p.d, s.n, math.MaxInt)
	} else {
		s.p = pack(s.listed())
	}
	if g.diag != nil {
		s.diag = lists.At(g.diag, points)
	}
	if g.c != nil {
		s.c = lists.At(g.c, points)
	}
	return &s
}

// Definite reports whether the kernel is known to be positive semidefinite. Scaling preserves it.
func (g *Gram) Definite() bool { return g.k.Definite() }

// Len returns M.
func (g *Gram) Len() int { return g.n }

// listed returns the points, none of them left out of z.
func (g *Gram) listed() blas64.General {
	return blas64.General{Rows: g.n, Cols: g.p.d, Stride: g.p.d, Data: g.z.v}
}

// point returns point i or its image.
func (g *Gram) point(i int) []float64 { return g.z.row(g.p.d, i) }

// Diag returns K_ii.
func (g *Gram) Diag(i int) float64 {
	v := 1.0
	if g.diag != nil {
		v = g.diag[i]
	}
	return g.factor(i) * g.factor(i) * v
}

// factor returns c_i.
func (g *Gram) factor(i int) float64 {
	if g.c == nil {
		return 1
	}
	return g.c[i]
}

// Row writes row i into dst, which has length M.
func (g *Gram) Row(dst []float64, i int) { g.Tile(dst, i, 0, 1) }

// Columns returns d, to which the time of a kernel value is roughly proportional.
func (g *Gram) Columns() int { return g.p.d }

// Row32 is Row in single precision, which takes half the memory. The error of an entry is about
// 2^-24 times the largest value of the kernel; entries beyond the range of float32 become infinite.
func (g *Gram) Row32(dst []float32, i int) {
	if f, ok := g.f.(rounder); ok && g.c == nil {
		f.row32(dst, g.p, g.z.part(g.p.d, i, i+1))
		return
	}
	v := make([]float64, min(len(dst), 32*lanes))
	for first := 0; first < len(dst); first += len(v) {
		part := dst[first:min(first+len(v), len(dst))]
		g.Tile(v[:len(part)], i, first, 1)
		for j := range part {
			part[j] = float32(v[j])
		}
	}
}

// Tile writes parts of m rows into dst, one after the other: K_ij for the rows from i and the
// len(dst)/m columns from j, a multiple of 32.
func (g *Gram) Tile(dst []float64, i, j, m int) {
	n := len(dst) / m
	g.rows(dst, g.p.from(j), g.z.part(g.p.d, i, i+m), m)
	if g.c == nil {
		return
	}
	for a, ci := range g.c[i:][:m] {
		for b, cj := range g.c[j:][:n] {
			dst[a*n+b] *= ci * cj
		}
	}
}

// rows writes m rows of kernel values of the points in z into dst.
func (g *Gram) rows(dst []float64, x packed, z listed, m int) {
	if f, ok := g.f.(tiler); ok {
		f.rows(dst, x, z, m)
		return
	}
	n := len(dst) / m
	for a := range m {
		g.f.row(dst[a*n:][:n], x, z.row(x.d, a))
	}
}

// AddProduct adds the product of K and a sparse vector to dst (length M): it adds sum_k w_k K_ij,
// with j = points[k], to dst[i]. It stores no part of K, runs on all processors if there is enough
// work, and sums large numbers of RBF values in the plane in cells, see cells.go. It returns its
// work in kernel values. If ctx ends, it returns ctx.Err(), and dst is incomplete.
func (g *Gram) AddProduct(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	return g.addProduct(ctx, g.sum, doubleError, dst, points, w)
}

// AddProduct32 is AddProduct with the values of Row32 if that is faster. They are summed in double
// precision, or in cells with an error of 2^-32 sum |w_k|.
func (g *Gram) AddProduct32(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	if f, ok := g.f.(adder32); ok {
		return g.addProduct(ctx, func(s, _ []float64, p packed, z listed, w []float64) { f.add32(s, p, z, w) }, singleError, dst, points, w)
	}
	return g.AddProduct(ctx, dst, points, w)
}

// addProduct is AddProduct with the given sum, or a fastAdder with an error of at most
// tolerance·sum_k |w_k|.
func (g *Gram) addProduct(ctx context.Context, sum func(s, v []float64, p packed, z listed, w []float64), tolerance float64, dst []float64, points []int, w []float64) (work int, err error) {
	d := g.p.d
	if _, ok := g.f.(products); ok && len(points) > 1 { // sum_j w_j x·z_j = x·sum_j w_j z_j
		one := make([]float64, d)
		for k, j := range points {
			g.z.addTo(one, w[k]*g.factor(j), j)
		}
		g.addPart(ctx, sum, tolerance, dst, g.p.list(one), []float64{1})
		return len(dst) * len(points), ctx.Err()
	}
	most := max(64, 1<<21/max(1, d)) // copied at a time: they should take little memory
	var z listed
	for err = ctx.Err(); err == nil && len(points) > 0; err = ctx.Err() {
		n := min(most, len(points))
		z = g.z.choose(d, points[:n], z)
		cw := w[:n]
		if g.c != nil {
			cw = floats.MulTo(make([]float64, n), lists.At(g.c, points[:n]), cw)
		}
		work += g.addPart(ctx, sum, tolerance, dst, z, cw)
		points, w = points[n:], w[n:]
	}
	return work, err
}

// addPart is addProduct for the points in z, with the weights cw that include their factors.
func (g *Gram) addPart(ctx context.Context, sum func(s, v []float64, p packed, z listed, w []float64), tolerance float64, dst []float64, z listed, cw []float64) (work int) {
	if f, ok := g.f.(fastAdder); ok && g.z.some == nil {
		total := dst
		if g.c != nil {
			total = make([]float64, len(dst))
		}
		if work := f.total(ctx, total, g.listed(), blas64.General{Rows: len(cw), Cols: g.p.d, Stride: g.p.d, Data: z.v}, cw, tolerance); work > 0 {
			if g.c != nil {
				floats.Add(dst, floats.MulTo(total, g.c, total))
			}
			return work
		}
	}
	// A share of the work is a part of dst that fits the L1 cache. It checks ctx every few
	// milliseconds at most.
	const stretch, values = 16 * lanes, 1 << 20
	share := func(first int) {
		size := min(stretch, len(dst)-first)
		s, v := make([]float64, size), make([]float64, size)
		for a := 0; a < len(cw) && pace.Look(ctx) == nil; a += values / stretch {
			b := min(a+values/stretch, len(cw))
			sum(s, v, g.p.from(first), z.part(g.p.d, a, b), cw[a:b])
		}
		if g.c != nil {
			floats.Mul(s, g.c[first:][:size])
		}
		floats.Add(dst[first:][:size], s)
	}
	inParallel(ctx, (len(dst)+stretch-1)/stretch, len(dst)*len(cw)*(1+g.p.d/rows.ManyColumns)/values, func(k int) { share(k * stretch) })
	return len(dst) * len(cw)
}

// inParallel calls do for 0 to n-1 on all processors, in at most most goroutines, until ctx ends.
func inParallel(ctx context.Context, n, most int, do func(k int)) {
	var next atomic.Int64
	work := func() {
		for k := int(next.Add(1)) - 1; k < n && pace.Look(ctx) == nil; k = int(next.Add(1)) - 1 {
			do(k)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), most) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// sum adds sum_j w_j k(x_i, z_j) to s[i] for the first len(s) points of p; v (length of s) is
// overwritten.
func (g *Gram) sum(s, v []float64, p packed, z listed, w []float64) {
	if f, ok := g.f.(adder); ok {
		f.add(s, p, z, w)
		return
	}
	for j, wj := range w {
		g.rows(v, p, z.part(p.d, j, j+1), 1)
		floats.AddScaled(s, wj, v)
	}
}
