package conformal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/param"
)

// J returns the Fisher scalar tr S_b / tr S_w = c'B0c / c'W0c of the classes (y has a number per
// class, at least two classes) in the feature space of the kernel c(x) c(z) k(x, z); k is M x M,
// y and c have length M. It is independent of the order of the rows, the numbers of the classes
// and the scale of k and c. It is nonnegative for a positive semidefinite k.
//
// It returns an error if the rows of each class coincide in feature space, where J is undefined.
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

// Scatter returns V'B0V and V'W0V, r x r, for a matrix v whose M rows are in the order of k; nil
// stands for the identity, which gives B0 and W0 themselves. y holds the labels, as in J.
func Scatter(ctx context.Context, k Matrix, y []float64, v *mat.Dense) (b, w *mat.SymDense, err error) {
	g, err := group(k, y)
	if err != nil {
		return nil, nil, err
	}
	r := len(y)
	if v != nil {
		var rows int
		if rows, r = v.Dims(); rows != len(y) {
			return nil, nil, fmt.Errorf("conformal: a matrix of %d rows for %d labels", rows, len(y))
		}
	}
	sorted := mat.NewDense(len(y), r, nil)
	for a, i := range g.order {
		if v == nil {
			sorted.Set(a, i, 1)
		} else {
			sorted.SetRow(a, v.RawRowView(i))
		}
	}
	s, err := g.scatter(ctx, sorted)
	if err != nil {
		return nil, nil, err
	}
	return s.b, s.w, nil
}

// grouped is a kernel matrix with its rows grouped by class.
type grouped struct {
	k     Matrix
	order []int // rows sorted by class, the smallest label first
	begin []int // start of each class, then M
}

func group(k Matrix, y []float64) (*grouped, error) {
	if k.Len() != len(y) {
		return nil, fmt.Errorf("conformal: a kernel matrix of %d rows for %d labels", k.Len(), len(y))
	}
	g := &grouped{k: k, order: make([]int, 0, len(y))}
	labels := slices.Clone(y)
	slices.Sort(labels)
	for _, label := range slices.Compact(labels) {
		g.begin = append(g.begin, len(g.order))
		g.order = append(g.order, lists.Where(len(y), func(i int) bool { return y[i] == label })...)
	}
	g.begin = append(g.begin, len(g.order))
	switch {
	case len(g.order) != len(y):
		return nil, errors.New("conformal: labels must be numbers, one for each class")
	case len(g.begin) < 3:
		return nil, param.Refuse("add rows of another class", "there is only one class to separate")
	}
	return g, nil
}

// scatter holds the scatter matrices restricted to vectors c = V z.
type scatter struct {
	b, w *mat.SymDense // V'B0V and V'W0V
	v    *mat.Dense    // V, rows in class order
	diag []float64     // k_ii in class order
}

// tile is the number of kernel rows processed at a time, which bounds the memory and the time
// between checks of the context.
const tile = 128

// scatter computes V'B0V and V'W0V for V (M x r, rows in class order).
//
// With T the lower triangle of K, its diagonal halved, K = T + T', and so V'KV = S + S' for
// S = V'TV: half of K suffices. With T_w the part of T inside the class blocks and T_x the rest,
// the same holds for
//
//	B0: (1/M_c - 1/M) T_w - T_x/M        W0: diag(k)/2 - T_w/M_c
//
// so one product T_w V and one product T_x V per tile of rows serve both.
func (g *grouped) scatter(ctx context.Context, v *mat.Dense) (*scatter, error) {
	m, r := v.Dims()
	out := &scatter{b: mat.NewSymDense(r, nil), w: mat.NewSymDense(r, nil), v: v, diag: make([]float64, m)}
	for a, i := range g.order {
		out.diag[a] = g.k.Diag(i)
	}
	var (
		row    = make([]float64, m)
		t      = mat.NewDense(tile, m, nil)
		within = mat.NewDense(tile, r, nil) // T_w V
		cross  = mat.NewDense(tile, r, nil) // T_x V
		sb, sw = mat.NewDense(r, r, nil), mat.NewDense(r, r, nil)
	)
	for class, lo := range g.begin[:len(g.begin)-1] {
		hi := g.begin[class+1]
		n := float64(hi - lo)
		for from := lo; from < hi; from += tile {
			to := min(from+tile, hi)
			for a := from; a < to; a++ {
				if err := pace.Look(ctx); err != nil {
					return nil, err
				}
				g.k.Row(row, g.order[a])
				dst := t.RawRowView(a - from)
				for b, j := range g.order[:a] {
					dst[b] = row[j]
				}
				dst[a] = row[g.order[a]] / 2
				clear(dst[a+1 : to])
			}
			multiply(within, t, v, to-from, lo, to)
			if lo > 0 {
				multiply(cross, t, v, to-from, 0, lo)
			}
			for a := from; a < to; a++ {
				va, w, x := v.RawRowView(a), within.RawRowView(a-from), cross.RawRowView(a-from)
				for q := range w {
					tw, tx := w[q], x[q]
					w[q] = (1/n-1/float64(m))*tw - tx/float64(m)
					x[q] = out.diag[a]/2*va[q] - tw/n
				}
			}
			accumulate(sb, v, within, from, to)
			accumulate(sw, v, cross, from, to)
			// cross must be zero again for tiles without an earlier class.
			if lo == 0 {
				cross.Zero()
			}
		}
	}
	for a := range r {
		for b := a; b < r; b++ {
			between, within := sb.At(a, b)+sb.At(b, a), sw.At(a, b)+sw.At(b, a)
			if v := between + within; math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, param.Refuse("scale the inputs or lower the kernel's parameters", "the kernel matrix has entries that are not finite")
			}
			out.b.SetSym(a, b, between)
			out.w.SetSym(a, b, within)
		}
	}
	return out, nil
}

// multiply sets the first n rows of dst to t[:n, from:to] v[from:to, :].
func multiply(dst, t, v *mat.Dense, n, from, to int) {
	r := v.RawMatrix().Cols
	d := dst.Slice(0, n, 0, r).(*mat.Dense)
	d.Zero()
	dense.Add(d.RawMatrix(), blas.NoTrans, t.Slice(0, n, from, to).(*mat.Dense).RawMatrix(), v.Slice(from, to, 0, r).(*mat.Dense).RawMatrix())
}

// accumulate adds v[from:to, :]' t[:to-from, :] to s.
func accumulate(s, v, t *mat.Dense, from, to int) {
	r := v.RawMatrix().Cols
	dense.Add(s.RawMatrix(), blas.Trans, v.Slice(from, to, 0, r).(*mat.Dense).RawMatrix(), t.Slice(0, to-from, 0, r).(*mat.Dense).RawMatrix())
}

// product returns op(a) b.
func product(t blas.Transpose, a, b *mat.Dense) *mat.Dense {
	rows, cols := a.Dims()
	if t == blas.Trans {
		rows = cols
	}
	ab := mat.NewDense(rows, b.RawMatrix().Cols, nil)
	dense.Add(ab.RawMatrix(), t, a.RawMatrix(), b.RawMatrix())
	return ab
}

// rounding is the size of a scatter, relative to sum c_i² k_ii, below which it counts as zero.
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
		return 0, param.Refuse("use another kernel or parameters", "the within-class scatter is negative, because the kernel is not positive semidefinite on these rows")
	}
	return b / w, nil
}

var errNoScatter = param.Refuse("use another kernel or rows that differ", "the rows of each class coincide under this kernel, so the within-class scatter is 0 and the Fisher scalar has no value")
