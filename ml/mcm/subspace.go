package mcm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
)

// subspace is the set S of the values of f = G beta + b on the points, with G from a Cholesky
// factor. The values on the free points, the pivots of G and one point for b, are arbitrary, and
// the matrix A maps them to the values on the other points. The points are reordered, free ones
// first.
//
// Projections onto S need a matrix with a row for each free point or each other point, whichever
// are fewer.
type subspace struct {
	factor  *factor
	ones    []float64 // the beta with G beta = 1 on the pivots
	last    int       // the point for b
	lacking float64   // 1 - G ones at that point

	order []int          // permutation of the points
	free  int            // number of free points, r + 1
	a     blas64.General // A or, if there are fewer free points than others, A'

	transposed bool
	w, d, root []float64      // weights w, 1/w and their square roots, in order
	normal     blas64.General // Cholesky factor of the normal equations for w
	scaled     blas64.General // A or A' with scaled rows, transposed; scratch, as the following
	c, f, x, y []float64
}

// newSubspace returns S, or nil if there is no point for b. The error is ctx.Err().
func newSubspace(ctx context.Context, f *factor) (*subspace, error) {
	m, r := f.m, f.rank()
	s := &subspace{factor: f, order: make([]int, 0, m), free: r + 1}
	// Residual of the constant function on the columns of G: 1 - G c.
	left := slices.Repeat([]float64{1}, m)
	c := f.interpolate(left)
	blas64.Gemv(blas.Trans, -1, blas64.General{Rows: r, Cols: m, Stride: m, Data: f.g},
		blas64.Vector{N: r, Inc: 1, Data: c}, 1, blas64.Vector{N: m, Inc: 1, Data: left})
	free := make([]bool, m)
	for _, p := range f.pivots {
		free[p], left[p] = true, 0
	}
	last := 0
	for i, v := range left {
		if math.Abs(v) > math.Abs(left[last]) {
			last = i
		}
	}
	if math.Abs(left[last]) < 1e-9 || r+1 >= m {
		return nil, nil
	}
	free[last] = true
	s.ones, s.last, s.lacking = c, last, left[last]
	s.order = append(append(s.order, f.pivots...), last)
	s.order = append(s.order, lists.Where(len(free), func(i int) bool { return !free[i] })...)

	// S is spanned by the rows of [U V], U upper triangular, columns in the order of the points:
	// U A' = V.
	u, v := general(r+1, r+1), general(r+1, m-r-1)
	for k := range r + 1 {
		g := left
		if k < r {
			g = f.column(k)
		}
		for a, i := range s.order {
			if a <= r {
				u.Data[k*u.Stride+a] = g[i]
			} else {
				v.Data[k*v.Stride+a-r-1] = g[i]
			}
		}
	}
	const stripe = 1024 // columns between checks of ctx
	for j := 0; j < v.Cols; j += stripe {
		if err := dense.Divide(ctx, blas.NoTrans, u, dense.Block(v, 0, v.Rows, j, min(j+stripe, v.Cols))); err != nil {
			return nil, err
		}
	}
	s.a, s.transposed = v, v.Rows <= v.Cols
	if !s.transposed {
		s.a = general(v.Cols, v.Rows)
		for i := range v.Rows {
			for j := range v.Cols {
				s.a.Data[j*s.a.Stride+i] = v.Data[i*v.Stride+j]
			}
		}
	}
	s.normal, s.scaled = general(s.a.Rows, s.a.Rows), general(s.a.Cols, s.a.Rows)
	for _, v := range []*[]float64{&s.w, &s.d, &s.root, &s.c, &s.f, &s.x, &s.y} {
		*v = make([]float64, m)
	}
	return s, nil
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float64, rows*cols)}
}

// weigh prepares project for the weights w > 0. It reports false if they differ too much or are
// not finite.
func (s *subspace) weigh(ctx context.Context, w []float64) (bool, error) {
	for a, i := range s.order {
		if !(w[i] > 0) || math.IsInf(w[i], 1) {
			return false, nil
		}
		s.w[a], s.d[a], s.root[a] = w[i], 1/w[i], math.Sqrt(w[i])
	}
	if err := s.rebalance(ctx); err != nil {
		return false, err
	}
	// W_free + A'W A or 1/W + A (1/W_free) A', W being the weights of the others.
	diag, inner := s.w[:s.free], s.w[s.free:]
	if !s.transposed {
		diag, inner = s.d[s.free:], s.d[:s.free]
	}
	err := dense.Parallel(ctx, len(inner), func(from, to int) {
		for p := from; p < to; p++ {
			root, row := math.Sqrt(inner[p]), s.scaled.Data[p*s.scaled.Stride:][:s.scaled.Cols]
			for i := range row {
				row[i] = root * s.a.Data[i*s.a.Stride+p]
			}
		}
	})
	if err != nil {
		return false, err
	}
	clear(s.normal.Data)
	if err := dense.AddGram(ctx, s.normal, s.scaled); err != nil {
		return false, err
	}
	for i, v := range diag {
		s.normal.Data[i*s.normal.Stride+i] += v
	}
	return dense.Cholesky(ctx, s.normal)
}

// imbalance bounds an entry of A times the square root of the ratio of the weights of its points.
const imbalance = 10

// leastPivot is the smallest entry of A that counts as nonzero: below it, the values of a point do
// not depend on the free point, up to rounding.
const leastPivot = 1e-5

// rebalance exchanges light free points for heavy ones until no entry of diag(W)^1/2 A
// diag(W_free)^-1/2 exceeds imbalance: each exchange multiplies the volume of the free points by
// the entry (Goreinov, Tyrtyshnikov and Zamarashkin 1997). The normal equations are then
// moderately conditioned even for the extreme weights of an interior point method.
func (s *subspace) rebalance(ctx context.Context) error {
	rows, cols, sign := s.free, 0, 1.0 // offsets of the rows and columns of a among the points
	if s.transposed {
		rows, cols, sign = 0, s.free, -1
	}
	scale := s.x[:s.a.Cols]
	for i := range scale {
		scale[i] = math.Pow(s.root[cols+i], -sign)
	}
	for changed := true; changed; {
		changed = false
		for j := range s.a.Rows {
			row := s.a.Data[j*s.a.Stride : j*s.a.Stride+s.a.Cols]
			best, at := imbalance*math.Pow(s.root[rows+j], -sign), -1
			for i, v := range row {
				if v = math.Abs(v); v*scale[i] > best && v >= leastPivot {
					best, at = v*scale[i], i
				}
			}
			if at < 0 {
				continue
			}
			if err := s.exchange(ctx, j, at, sign); err != nil {
				return err
			}
			a, b := rows+j, cols+at
			s.order[a], s.order[b] = s.order[b], s.order[a]
			s.w[a], s.w[b] = s.w[b], s.w[a]
			s.d[a], s.d[b] = s.d[b], s.d[a]
			s.root[a], s.root[b] = s.root[b], s.root[a]
			scale[at] = math.Pow(s.root[b], -sign)
			changed = true
		}
	}
	return nil
}

// exchange swaps the points of row j and column i of a.
func (s *subspace) exchange(ctx context.Context, j, i int, sign float64) error {
	row := s.a.Data[j*s.a.Stride : j*s.a.Stride+s.a.Cols]
	pivot := row[i]
	row[i] = 0
	floats.Scale(1/pivot, row)
	err := dense.Parallel(ctx, s.a.Rows, func(from, to int) {
		for l := from; l < to; l++ {
			if l != j {
				other := s.a.Data[l*s.a.Stride : l*s.a.Stride+s.a.Cols]
				c := other[i]
				floats.AddScaled(other, -c, row)
				other[i] = sign * c / pivot
			}
		}
	})
	floats.Scale(-sign, row)
	row[i] = 1 / pivot
	return err
}

// project sets f to the minimiser of f'diag(w)f/2 - c'f over S, with a step of iterative
// refinement.
func (s *subspace) project(f, c []float64) {
	for a, i := range s.order {
		s.c[a] = c[i]
	}
	s.once(s.f, s.c)
	for a, v := range s.f {
		s.c[a] -= s.w[a] * v
	}
	s.once(s.x, s.c)
	for a, i := range s.order {
		f[i] = s.f[a] + s.x[a]
	}
}

func (s *subspace) once(f, c []float64) {
	head, tail := vector(f[:s.free]), vector(f[s.free:])
	copy(head.Data, c)
	if s.transposed {
		blas64.Gemv(blas.NoTrans, 1, s.a, vector(c[s.free:]), 1, head)
		dense.Solve(s.normal, head.Data)
		blas64.Gemv(blas.Trans, 1, s.a, head, 0, tail)
		return
	}
	// w f = c on the free points and c - x on the others, up to A'x and -x, which are orthogonal
	// to S.
	floats.MulTo(s.y, c, s.d)
	x := vector(s.y[s.free:])
	blas64.Gemv(blas.NoTrans, 1, s.a, vector(s.y[:s.free]), -1, x)
	dense.Solve(s.normal, x.Data)
	blas64.Gemv(blas.Trans, -1, s.a, x, 1, head)
	floats.Mul(head.Data, s.d[:s.free])
	blas64.Gemv(blas.NoTrans, 1, s.a, head, 0, tail)
}

// balance sets dst to the change of v on the free points that makes v orthogonal to S.
func (s *subspace) balance(dst, v []float64) {
	for a, i := range s.order {
		s.c[a] = v[i]
	}
	t := blas.Trans
	if s.transposed {
		t = blas.NoTrans
	}
	copy(dst, s.c[:s.free])
	blas64.Gemv(t, -1, s.a, vector(s.c[s.free:]), -1, vector(dst))
}

// row sets dst to the row of A for position a in the order.
func (s *subspace) row(dst []float64, a int) {
	for k := range dst {
		if s.transposed {
			dst[k] = s.a.Data[k*s.a.Stride+a-s.free]
		} else {
			dst[k] = s.a.Data[(a-s.free)*s.a.Stride+k]
		}
	}
}

// extend computes f on the other points from f on the free ones.
func (s *subspace) extend(f []float64) {
	for a, i := range s.order {
		s.c[a] = f[i]
	}
	t := blas.NoTrans
	if s.transposed {
		t = blas.Trans
	}
	blas64.Gemv(t, 1, s.a, vector(s.c[:s.free]), 0, vector(s.c[s.free:]))
	for a := s.free; a < len(s.order); a++ {
		f[s.order[a]] = s.c[a]
	}
}

// settle makes f an element of S to full accuracy. extend is inaccurate if the free points determine
// the others badly, which the pivots of the factor never do. So settle computes f from its values on
// the pivots, then corrects the error at the free points by further functions.
func (s *subspace) settle(f []float64) {
	r, m := s.factor.rank(), s.factor.m
	g, miss := s.f, s.x
	copy(miss, f)
	clear(f)
	for least := math.Inf(1); ; {
		beta, b := s.weights(miss)
		for i := range g {
			g[i] = b
		}
		blas64.Gemv(blas.Trans, 1, blas64.General{Rows: r, Cols: m, Stride: m, Data: s.factor.g}, vector(beta), 1, vector(g))
		floats.Add(f, g)
		floats.Sub(miss, g)
		size := 0.0
		for _, i := range s.order[:s.free] {
			size = max(size, math.Abs(miss[i]))
		}
		if !(size >= 1e-13 && size <= least/2) || math.IsInf(size, 1) {
			return
		}
		least = size
		s.extend(miss)
	}
}

// weights returns the beta and b of f.
func (s *subspace) weights(f []float64) (beta []float64, b float64) {
	beta = s.factor.interpolate(f)
	b = f[s.last]
	for k, v := range beta {
		b -= v * s.factor.column(k)[s.last]
	}
	b /= s.lacking
	floats.AddScaled(beta, -b, s.ones)
	return beta, b
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }
