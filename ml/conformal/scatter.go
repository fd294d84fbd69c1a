package conformal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// J returns the Fisher scalar tr S_b / tr S_w = c'B0c / c'W0c of the two classes
// (y is ±1, both present) in the feature space of the kernel c(x) c(z) k(x, z);
// k is M x M, y and c have length M. It does not depend on the order of the rows,
// on which class is +1, nor on the scale of k or c. For a positive semidefinite k
// it is at least 0.
//
// It is an error when the rows of each class coincide in feature space: J has no
// value then.
func J(ctx context.Context, k Matrix, y, c []float64) (float64, error) {
	g, err := group(k, y)
	if err != nil {
		return 0, err
	}
	if len(c) != len(y) {
		return 0, fmt.Errorf("conformal: %d factors for %d labels", len(c), len(y))
	}
	v := mat.NewDense(len(c), 1, nil)
	for a, i := range g.order {
		v.Set(a, 0, c[i])
	}
	s, err := g.scatter(ctx, v)
	if err != nil {
		return 0, err
	}
	return s.j([]float64{1})
}

// grouped is a kernel matrix with its rows grouped by class.
type grouped struct {
	k     Matrix
	order []int // the M1 rows labelled -1, then the M2 rows labelled +1
	m1    int
}

func group(k Matrix, y []float64) (*grouped, error) {
	if k.Len() != len(y) {
		return nil, fmt.Errorf("conformal: a kernel matrix of %d rows for %d labels", k.Len(), len(y))
	}
	g := &grouped{k: k, order: make([]int, 0, len(y))}
	for _, label := range []float64{-1, 1} {
		g.m1 = len(g.order) // what the last round leaves: the size of the first class
		for i, v := range y {
			if v == label {
				g.order = append(g.order, i)
			}
		}
	}
	switch {
	case len(g.order) != len(y):
		return nil, errors.New("conformal: labels must be -1 or +1")
	case g.m1 == 0 || g.m1 == len(y):
		return nil, errors.New("conformal: only one class; separating classes needs rows of both")
	}
	return g, nil
}

// scatter holds the scatter matrices restricted to vectors c = V z.
type scatter struct {
	b, w *mat.SymDense // V'B0V and V'W0V
	v    *mat.Dense    // V, rows in class order
	diag []float64     // k_ii in class order
}

// tile is the number of kernel rows worked on at a time, and of rows of a block in
// a product. It bounds the memory and the time between two looks at the context.
const tile = 64

// span is the tile of rows [from, to), all of the class that begins at row class.
type span struct{ class, from, to int }

// tiles returns the tiles of the rows in class order.
func (g *grouped) tiles() []span {
	var all []span
	for class, lo := range []int{0, g.m1} {
		hi := []int{g.m1, len(g.order)}[class]
		for from := lo; from < hi; from += tile {
			all = append(all, span{lo, from, min(from+tile, hi)})
		}
	}
	return all
}

// scatter computes V'B0V and V'W0V for V (M x r, rows in class order).
//
// With T the lower triangle of K, its diagonal halved, K = T + T' and likewise
// V'KV = S + S' for S = V'TV: half of K is enough. Writing T_w for the part of T
// inside the two class blocks and T_x for the rest, the same holds for
//
//	B0: (1/M_c - 1/M) T_w - T_x/M        W0: diag(k)/2 - T_w/M_c
//
// so one product V'T_w' and one product V'T_x' per tile of rows serve both. The
// rows of the next tile are read meanwhile.
func (g *grouped) scatter(ctx context.Context, v *mat.Dense) (*scatter, error) {
	m, r := v.Dims()
	out := &scatter{b: mat.NewSymDense(r, nil), w: mat.NewSymDense(r, nil), v: v, diag: make([]float64, m)}
	for a, i := range g.order {
		out.diag[a] = g.k.Diag(i)
	}
	var (
		vt     = mat.DenseCopyOf(v.T()) // by rows: products are then of rows with rows
		t      = []*mat.Dense{mat.NewDense(tile, m, nil), mat.NewDense(tile, m, nil)}
		within = mat.NewDense(r, tile, nil) // V'T_w'
		cross  = mat.NewDense(r, tile, nil) // V'T_x'
		sb, sw = mat.NewDense(r, r, nil), mat.NewDense(r, r, nil)
		row    = make([]float64, m)
		tiles  = g.tiles()
		read   = make(chan error, 1)
	)
	next := func(k int) { read <- g.triangle(ctx, t[k%2], row, tiles[k].from, tiles[k].to) }
	go next(0)
	for k, s := range tiles {
		if err := <-read; err != nil {
			return nil, err
		}
		if k+1 < len(tiles) {
			go next(k + 1)
		}
		n, size := float64(g.m1), s.to-s.from // n rows in the class
		if s.class > 0 {
			n = float64(m - g.m1)
		}
		byBlock(r, func(lo, hi int) {
			w, x := part(within, lo, hi, 0, size), part(cross, lo, hi, 0, size)
			product(w, part(vt, lo, hi, s.class, s.to), part(t[k%2], 0, size, s.class, s.to), 0)
			if s.class > 0 {
				product(x, part(vt, lo, hi, 0, s.class), part(t[k%2], 0, size, 0, s.class), 0)
			}
			for q := lo; q < hi; q++ {
				w, x, vq := within.RawRowView(q)[:size], cross.RawRowView(q)[:size], vt.RawRowView(q)[s.from:s.to]
				for a, tw := range w {
					tx := x[a]
					if s.class == 0 {
						tx = 0
					}
					w[a] = (1/n-1/float64(m))*tw - tx/float64(m)
					x[a] = out.diag[s.from+a]/2*vq[a] - tw/n
				}
			}
			for to := 0; to < r; to += tile {
				end := min(to+tile, r)
				product(part(sb, lo, hi, to, end), w, part(vt, to, end, s.from, s.to), 1)
				product(part(sw, lo, hi, to, end), x, part(vt, to, end, s.from, s.to), 1)
			}
		})
	}
	for a := range r {
		for b := a; b < r; b++ {
			between, within := sb.At(a, b)+sb.At(b, a), sw.At(a, b)+sw.At(b, a)
			if v := between + within; math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, errors.New("conformal: the kernel matrix has entries that are not finite; scale the inputs or lower the kernel's parameters")
			}
			out.b.SetSym(a, b, between)
			out.w.SetSym(a, b, within)
		}
	}
	return out, nil
}

// triangle sets the rows of t to the rows from..to-1 of T, as far as column to.
func (g *grouped) triangle(ctx context.Context, t *mat.Dense, row []float64, from, to int) error {
	for a := from; a < to; a++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.k.Row(row, g.order[a])
		dst := t.RawRowView(a - from)
		for b, j := range g.order[:a] {
			dst[b] = row[j]
		}
		dst[a] = row[g.order[a]] / 2
		clear(dst[a+1 : to])
	}
	return nil
}

// byBlock calls do for blocks of up to tile of n rows, from two goroutines. Each
// block is computed by itself, so the result does not depend on who does it.
func byBlock(n int, do func(lo, hi int)) {
	var all sync.WaitGroup
	for first := range 2 {
		all.Go(func() {
			for lo := first * tile; lo < n; lo += 2 * tile {
				do(lo, min(lo+tile, n))
			}
		})
	}
	all.Wait()
}

// product sets c = a b' + beta c. It takes blocks small enough for the BLAS not
// to split them again.
func product(c, a, b blas64.General, beta float64) {
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, a, b, beta, c)
}

// part returns rows i0..i1-1, columns j0..j1-1 of a.
func part(a *mat.Dense, i0, i1, j0, j1 int) blas64.General {
	return a.Slice(i0, i1, j0, j1).(*mat.Dense).RawMatrix()
}

// rounding is the share of sum c_i² k_ii below which a scatter counts as zero.
const rounding = 1e-12

// j returns the Fisher scalar of c = V z.
func (s *scatter) j(z []float64) (float64, error) {
	zv := mat.NewVecDense(len(z), z)
	var c mat.VecDense
	c.MulVec(s.v, zv)
	size := 0.0
	for i, k := range s.diag {
		size += c.AtVec(i) * c.AtVec(i) * math.Abs(k)
	}
	b, w := mat.Inner(zv, s.b, zv), mat.Inner(zv, s.w, zv)
	switch {
	case math.Abs(w) <= rounding*size || w == 0:
		return 0, errNoScatter
	case w < 0:
		return 0, errors.New("conformal: the within-class scatter is negative, because the kernel is not positive semidefinite on these rows; use another kernel or parameters")
	}
	return b / w, nil
}

var errNoScatter = errors.New("conformal: the rows of each class coincide under this kernel, so the within-class scatter is 0 and the Fisher scalar has no value; use another kernel or rows that differ")
