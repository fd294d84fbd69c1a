package kernel

import (
	"context"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Sum is the function x -> sum_j w_j k(z_j, x), prepared for repeated and concurrent evaluation.
type Sum struct {
	f function
	z blas64.General // n x d: the points or, if f is an embedder, their images
	p packed         // the rows of z
	w []float64

	// The terms of a sum of kernels, each evaluated in its own way, and its constant. If there are
	// terms, z and p are unused.
	terms    []term
	constant float64
}

// term is a Sum with a factor.
type term struct {
	times float64
	of    *Sum
}

// NewSum returns the function sum_j w_j k(z_j, ·) over the rows z_j of z (n x d). Without weights
// it is the zero function and z is ignored. z and w are kept, not copied.
func NewSum(k Kernel, z *mat.Dense, w []float64) *Sum {
	e, err := k.expression()
	if err != nil {
		return &Sum{f: unknown{}, w: w}
	}
	return newSum(e, z, w)
}

func newSum(e expression, z *mat.Dense, w []float64) *Sum {
	s := &Sum{f: e.function(), w: w}
	if len(w) == 0 {
		return s
	}
	switch _, rest := e.root.factored(); {
	case e.root.kind == isSum:
		for _, n := range e.root.of {
			s.add(e, n, z)
		}
		return s
	case e.root.kind == isProduct && rest.kind != isProduct: // only a number
		s.add(e, e.root, z)
		return s
	}
	images := embed(s.f, z)
	switch s.f.(type) {
	case products, scores: // inner products: one image represents all
		sum := mat.NewDense(1, images.RawMatrix().Cols, nil)
		for j, wj := range w {
			floats.AddScaled(sum.RawRowView(0), wj, images.RawRowView(j))
		}
		images, s.w = sum, []float64{1}
	}
	s.z = images.RawMatrix()
	s.p, _ = arrange(s.f, s.z, false) // the sum is also wanted at points that are not whole
	return s
}

// add adds a term of an expression.
func (s *Sum) add(e expression, n node, z *mat.Dense) {
	times, rest := n.factored()
	if rest == nil {
		s.constant += times * floats.Sum(s.w)
		return
	}
	s.terms = append(s.terms, term{times, newSum(e.only(*rest), z, s.w)})
}

// At returns the sum at x (length d).
func (s *Sum) At(x []float64) float64 {
	if s.terms != nil {
		v := s.constant
		for _, t := range s.terms {
			v += t.times * t.of.At(x)
		}
		return v
	}
	return s.at(x, s.scratch())
}

// scratch returns memory for at.
func (s *Sum) scratch() []float64 { return make([]float64, len(s.w)+s.p.d) }

// AtRows writes the sum at every row of x (length d) into dst. If ctx ends, dst is incomplete.
func (s *Sum) AtRows(ctx context.Context, dst []float64, x *mat.Dense) {
	if s.terms != nil {
		s.addTerms(dst, func(dst []float64, t *Sum) { t.AtRows(ctx, dst, x) })
		return
	}
	s.each(ctx, x, func(i int, v []float64) { dst[i] = floats.Dot(s.w, v) })
}

// each calls f for every row i of x with k(z_j, x_i) for all j, from several goroutines, until ctx
// ends.
func (s *Sum) each(ctx context.Context, x *mat.Dense, f func(i int, v []float64)) {
	const block, values = 16, 1 << 20 // rows of a block, and kernel values worth a goroutine
	raw, n := x.RawMatrix(), len(s.w)
	t, ok := s.f.(tiler)
	together := ok && s.p.d >= rows.ManyColumns && n <= values/block && raw.Stride == raw.Cols
	blocks := (raw.Rows + block - 1) / block
	var done atomic.Int64
	inParallel(ctx, blocks, raw.Rows*n*(1+s.p.d/rows.ManyColumns)/values, func(k int) {
		first := k * block
		m := min(block, raw.Rows-first)
		if together {
			v := make([]float64, m*n)
			t.rows(v, s.p, s.p.list(raw.Data[first*raw.Cols:][:m*raw.Cols]), m)
			for i := range m {
				f(first+i, v[i*n:][:n])
			}
		} else {
			v := s.scratch()
			for i := first; i < first+m && pace.Look(ctx) == nil; i++ {
				f(i, s.values(x.RawRowView(i), v))
			}
		}
		if n := int(done.Add(1)); n%(blocks/1000+1) == 0 {
			trace.Report(ctx, min(n*block, raw.Rows), raw.Rows)
		}
	})
}

// Sums are functions x -> sum_j w_kj k(z_j, x) of the same points, whose kernel values are each computed
// once for all.
type Sums struct {
	of      *Sum // the points, without weights
	numbers [][]int
	weights [][]float64 // other than 0, of the points with the numbers
}

// NewSums returns the sums for the rows z_j of z and w_k of w, or nil if to compute them together is not
// faster.
func NewSums(k Kernel, z *mat.Dense, w [][]float64) *Sums {
	n, d := z.Dims()
	if d < rows.ManyColumns {
		return nil
	}
	s := &Sums{of: NewSum(k, z, make([]float64, n))}
	if s.of.terms != nil || len(s.of.w) != n { // each sum has terms, or one image for all its points
		return nil
	}
	for _, w := range w {
		some := lists.Where(n, func(j int) bool { return w[j] != 0 })
		s.numbers, s.weights = append(s.numbers, some), append(s.weights, lists.At(w, some))
	}
	return s
}

// AtRows writes sum k at row i of x to dst[i, k], as AtRows of a Sum of its terms with weights other
// than 0. If ctx ends, dst is incomplete.
func (s *Sums) AtRows(ctx context.Context, dst, x *mat.Dense) {
	s.of.each(ctx, x, func(i int, v []float64) {
		row, some := dst.RawRowView(i), make([]float64, len(v))
		for k, w := range s.weights {
			for a, j := range s.numbers[k] {
				some[a] = v[j]
			}
			row[k] = floats.Dot(w, some[:len(w)])
		}
	})
}

// AtRowsFast is AtRows with an error of at most by. ok is false, and dst undefined, if there is no
// method that is much faster.
func (s *Sum) AtRowsFast(ctx context.Context, dst []float64, x *mat.Dense) (by float64, ok bool) {
	f, ok := s.f.(fastAdder)
	if !ok || s.terms != nil || len(s.w) == 0 {
		return 0, false
	}
	clear(dst)
	if f.total(ctx, dst, x.RawMatrix(), s.z, s.w, doubleError) == 0 {
		return 0, false
	}
	return totalError * floats.Norm(s.w, 1), true
}

// totalError bounds the error of a fastAdder including rounding, relative to the sum of |w_j|.
const totalError = 0x1p-44

// addTerms writes the constant plus the sum of the terms to dst; of computes the values of one term.
func (s *Sum) addTerms(dst []float64, of func(dst []float64, t *Sum)) {
	for i := range dst {
		dst[i] = s.constant
	}
	one := make([]float64, len(dst))
	for _, t := range s.terms {
		of(one, t.of)
		floats.AddScaled(dst, t.times, one)
	}
}

// at is At with memory from scratch.
func (s *Sum) at(x, scratch []float64) float64 { return floats.Dot(s.w, s.values(x, scratch)) }

// values returns k(z_j, x) for all j, with memory from scratch for them and the image of x.
func (s *Sum) values(x, scratch []float64) []float64 {
	v, image := scratch[:len(s.w)], scratch[len(s.w):]
	if e, ok := s.f.(embedder); ok && len(v) > 0 {
		e.image(image, x)
		x = image
	}
	s.f.row(v, s.p, x)
	return v
}

// Plane is the affine map (s, t) -> Origin + s U + t V into R^d.
type Plane struct{ Origin, U, V []float64 }

// point writes the point (s, t) of the plane into dst.
func (p Plane) point(dst []float64, s, t float64) {
	for i, o := range p.Origin {
		dst[i] = o + s*p.U[i] + t*p.V[i]
	}
}

// Grid writes the sum at every point (s_i, t_j) of the plane into dst[j*len(ss)+i]; dst has length
// len(ss)·len(ts). It uses a faster method for planes if the kernel has one, and otherwise evaluates
// point by point. If ctx ends, it returns ctx.Err(), and dst is incomplete.
func (s *Sum) Grid(ctx context.Context, dst []float64, p Plane, ss, ts []float64) error {
	clear(dst)
	if len(s.w) == 0 || len(ss) == 0 || len(ts) == 0 {
		return ctx.Err()
	}
	if s.terms != nil {
		s.addTerms(dst, func(dst []float64, t *Sum) { _ = t.Grid(ctx, dst, p, ss, ts) })
		return ctx.Err()
	}
	if f, ok := s.f.(gridder); !ok || !f.grid(ctx, s, dst, p, ss, ts) {
		s.gridDirect(ctx, dst, p, ss, ts)
	}
	return ctx.Err()
}

// checkpoint reports the number of finished rows, or terms, of a grid and returns ctx.Err().
func checkpoint(ctx context.Context, done, rows int) error {
	trace.Report(ctx, done, rows)
	return pace.Look(ctx)
}

// gridDirect evaluates point by point, until ctx ends.
func (s *Sum) gridDirect(ctx context.Context, dst []float64, p Plane, ss, ts []float64) {
	x := make([]float64, len(p.Origin))
	v := s.scratch()
	every := 1 + 1<<14/len(s.w) // points between two checks of ctx
	for k := range dst {
		if k%every == 0 && checkpoint(ctx, k/len(ss), len(ts)) != nil {
			return
		}
		p.point(x, ss[k%len(ss)], ts[k/len(ss)])
		dst[k] = s.at(x, v)
	}
}

// gridProducts adds the sum for a separable kernel to dst, as a matrix product over the terms j
// of left(t_i, j) right(j, s_k). tables computes both factors for a block of terms from first
// on: left is ts x terms and includes the weights, right is terms x ss. Blocks keep the tables
// small; ctx is checked between them.
func (s *Sum) gridProducts(ctx context.Context, dst []float64, ss, ts []float64, tables func(first int, left, right blas64.General)) {
	const block = 256
	size := min(block, len(s.w))
	left := blas64.General{Rows: len(ts), Cols: size, Stride: size, Data: make([]float64, len(ts)*size)}
	right := blas64.General{Rows: size, Cols: len(ss), Stride: len(ss), Data: make([]float64, size*len(ss))}
	out := blas64.General{Rows: len(ts), Cols: len(ss), Stride: len(ss), Data: dst}
	for first := 0; first < len(s.w) && checkpoint(ctx, first, len(s.w)) == nil; first += block {
		n := min(block, len(s.w)-first)
		left.Cols, right.Rows = n, n
		tables(first, left, right)
		dense.Add(out, blas.NoTrans, left, right)
	}
}
