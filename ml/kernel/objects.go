package kernel

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/param"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Matrix is a symmetric M x M kernel matrix. Those of this package are safe for concurrent use.
type Matrix = rows.Matrix

// comparison is a kernel between two lists of objects other than vectors. It is safe for
// concurrent use.
type comparison interface {
	// row writes k(x_i, z_j) for the first len(dst) of the z_j. After the end of the ctx that the
	// comparison was prepared with, the result is undefined.
	row(dst []float64, i int)
}

// maxStored is the largest M of a kernel matrix held in memory: 128 MB. Rows of larger ones are
// computed on demand.
const maxStored = 4096

// GramOf returns the kernel matrix of objects other than vectors (for those, see NewGram),
// computed on all processors. recorder, which may be nil, receives the number of finished rows,
// never concurrently. For more than 4096 objects, rows are computed on demand, and recorder counts
// each row when it is first computed.
//
// Errors: objects that k does not take, values that are not finite, ctx.Err().
func GramOf(ctx context.Context, k Kernel, x dataset.Objects, recorder trace.Recorder) (Matrix, error) {
	m := x.Len()
	if m > maxStored {
		diag, err := Self(ctx, k, x)
		if err != nil {
			return nil, err
		}
		c, err := compare(context.WithoutCancel(ctx), k, x, x) // rows may be requested after ctx has ended
		if err != nil {
			return nil, err
		}
		return lazyMatrix{c, diag, k.Definite(), counter(recorder, m)}, nil
	}
	c, err := compare(ctx, k, x, x)
	if err != nil {
		return nil, err
	}
	values := mat.NewDense(m, m, nil)
	report := counter(recorder, m)
	err = eachRow(ctx, m, func(i int) {
		c.row(values.RawRowView(i)[:i+1], i)
		report(i)
	})
	if err != nil {
		return nil, err
	}
	for i := range m {
		for j, v := range values.RawRowView(i)[:i] {
			values.Set(j, i, v)
		}
		if err := checkFinite(k, i, values.At(i, i)); err != nil {
			return nil, err
		}
	}
	if err := checkConverged(k, values); err != nil {
		return nil, err
	}
	return storedMatrix{values, k.Definite()}, nil
}

// counter returns a function to call after row i of n is computed, possibly repeatedly and from any
// goroutine. It calls the recorder at most a thousand times.
func counter(recorder trace.Recorder, n int) func(i int) {
	if recorder == nil {
		return func(int) {}
	}
	var mu sync.Mutex
	done, seen := 0, make([]bool, n)
	return func(i int) {
		mu.Lock()
		defer mu.Unlock()
		if seen[i] {
			return
		}
		seen[i] = true
		if done++; done%(n/1000+1) == 0 || done == n {
			recorder(trace.Step{Phase: "kernel matrix", Done: done, Rows: n})
		}
	}
}

// Cross returns the values k(x_i, z_j) for objects other than vectors (for those, see Sum).
// Errors: objects that k does not take, ctx.Err().
func Cross(ctx context.Context, k Kernel, x, z dataset.Objects) (*mat.Dense, error) {
	c, err := compare(ctx, k, x, z)
	if err != nil {
		return nil, err
	}
	values := mat.NewDense(x.Len(), z.Len(), nil)
	if err := eachRow(ctx, x.Len(), func(i int) { c.row(values.RawRowView(i), i) }); err != nil {
		return values, err
	}
	return values, checkConverged(k, values)
}

// checkConverged returns an error for the first pair of rows whose value is NaN.
func checkConverged(k Kernel, values *mat.Dense) error {
	rows, columns := values.Dims()
	for i := range rows {
		for j := range columns {
			if math.IsNaN(values.At(i, j)) {
				return param.Refuse("use other parameters, or leave out one of the rows", "kernel %s: the value of rows %d and %d did not converge", k.Name, i+1, j+1)
			}
		}
	}
	return nil
}

// Self returns the values k(x_i, x_i) for objects other than vectors. Errors: objects that k does
// not take, values that are unknown or not finite, ctx.Err().
func Self(ctx context.Context, k Kernel, x dataset.Objects) ([]float64, error) {
	e, err := expressionFor(k, x)
	if err != nil {
		return nil, err
	}
	values := make(partValues, len(e.parts))
	for i, p := range e.parts {
		if values[i], err = p.self(ctx, x); err != nil {
			return nil, err
		}
	}
	self := make([]float64, x.Len())
	e.root.eval(self, make([]float64, e.root.depth()*len(self)), values)
	for i, v := range self {
		if err := checkFinite(k, i, v); err != nil {
			return nil, err
		}
	}
	return self, nil
}

// Steps estimates the average cost of a value of k for objects other than vectors, in steps of 0.1
// ns; at least 1.
func Steps(k Kernel, x dataset.Objects) float64 {
	e, err := expressionFor(k, x)
	if err != nil {
		return 1
	}
	steps := 0.0
	for _, p := range e.parts {
		if p.row.steps != nil {
			steps += p.row.steps(p.Values, x)
		}
	}
	return max(1, steps)
}

// compare prepares k for two lists of objects.
func compare(ctx context.Context, k Kernel, x, z dataset.Objects) (comparison, error) {
	e, err := expressionFor(k, x, z)
	if err != nil {
		return nil, err
	}
	c := combinedRows{root: &e.root, parts: make([]comparison, len(e.parts)), depth: e.root.depth()}
	for i, p := range e.parts {
		if c.parts[i], err = p.compare(ctx, x, z); err != nil {
			return nil, err
		}
	}
	if e.root.kind == isPart {
		return c.parts[0], nil
	}
	return c, nil
}

// self returns the values k(x_i, x_i).
func (p part) self(ctx context.Context, x dataset.Objects) ([]float64, error) {
	self, err := p.row.self(ctx, p.Values, x)
	if err != nil || !p.Values.Switch(normalize.Name) {
		return self, err
	}
	for i, v := range self {
		if err := checkFinite(p.Kernel, i, v); err != nil {
			return nil, err
		}
		if v != 0 {
			self[i] = 1
		}
	}
	return self, nil
}

// checkFinite returns the error for a value v = k(x_i, x_i) that is not finite.
func checkFinite(k Kernel, i int, v float64) error {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return fmt.Errorf("kernel %s: row %d: k(x, x) overflows: use other parameters, or leave out this row", k.Name, i+1)
	}
	return nil
}

// compare prepares the kernel for two lists of objects.
func (p part) compare(ctx context.Context, x, z dataset.Objects) (comparison, error) {
	c, err := p.row.compare(ctx, p.Values, x, z)
	if err != nil || !p.Values.Switch(normalize.Name) {
		return c, err
	}
	n := normalised{comparison: c}
	if n.x, err = p.row.self(ctx, p.Values, x); err != nil {
		return nil, err
	}
	if n.z = n.x; x != z {
		n.z, err = p.row.self(ctx, p.Values, z)
	}
	return n, err
}

// normalised normalises a comparison: k(x, z) / sqrt(k(x, x) k(z, z)), and 0 if an image has length
// zero.
type normalised struct {
	comparison
	x, z []float64 // k(x_i, x_i) and k(z_j, z_j)
}

func (u normalised) row(dst []float64, i int) {
	u.comparison.row(dst, i)
	for j := range dst {
		product := u.x[i] * u.z[j]
		switch {
		case product == 0:
			dst[j] = 0
		case math.IsInf(product, 1):
			dst[j] /= math.Sqrt(u.x[i]) * math.Sqrt(u.z[j])
		default:
			dst[j] /= math.Sqrt(product)
		}
	}
}

// eachRow calls work for n rows on all processors. It starts with the last rows, the longest of a
// lower triangle. It returns ctx.Err().
func eachRow(ctx context.Context, n int, work func(i int)) error {
	var next atomic.Int64
	next.Store(int64(n))
	var group errgroup.Group
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() error {
			for pace.Look(ctx) == nil {
				i := next.Add(-1)
				if i < 0 {
					return nil
				}
				work(int(i))
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// expressionFor returns k as an expression if it takes the objects.
func expressionFor(k Kernel, objects ...dataset.Objects) (expression, error) {
	e, err := k.expression()
	if err != nil {
		return e, err
	}
	for _, o := range objects {
		if kind := e.takes(); o.Kind() != kind || kind == dataset.KindVectors {
			return e, fmt.Errorf("kernel %s takes %s, not %s", k.Name, kind, o.Kind())
		}
	}
	return e, nil
}

// Scaled returns the matrix with entries c_i c_j K_ij. c (length M) is kept, not copied. If k is a
// Gram, c replaces its scaling.
func Scaled(k Matrix, c []float64) Matrix {
	if g, ok := k.(*Gram); ok {
		return g.Scaled(c)
	}
	return scaledMatrix{k, c}
}

// Subset returns the matrix of some of the objects, in the order given.
func Subset(k Matrix, points []int) Matrix {
	switch k := k.(type) {
	case *Gram:
		return k.Subset(points)
	case scaledMatrix:
		return scaledMatrix{Subset(k.Matrix, points), lists.At(k.c, points)}
	}
	if len(points) > maxStored {
		return subMatrix{k, points}
	}
	values := mat.NewDense(len(points), len(points), nil)
	row := make([]float64, k.Len())
	for a, i := range points {
		k.Row(row, i)
		for b, j := range points {
			values.Set(a, b, row[j])
		}
	}
	return storedMatrix{values, rows.Definite(k)}
}

// storedMatrix is a matrix held in memory.
type storedMatrix struct {
	values   *mat.Dense
	definite bool
}

func (h storedMatrix) Len() int                 { return h.values.RawMatrix().Rows }
func (h storedMatrix) Diag(i int) float64       { return h.values.At(i, i) }
func (h storedMatrix) Row(dst []float64, i int) { copy(dst, h.values.RawRowView(i)) }

// Definite reports whether the matrix is known to be positive semidefinite.
func (h storedMatrix) Definite() bool { return h.definite }

// lazyMatrix is a matrix whose rows are computed on demand.
type lazyMatrix struct {
	comparison
	diag     []float64
	definite bool
	report   func(i int)
}

func (c lazyMatrix) Len() int           { return len(c.diag) }
func (c lazyMatrix) Diag(i int) float64 { return c.diag[i] }

func (c lazyMatrix) Row(dst []float64, i int) {
	c.row(dst, i)
	c.report(i)
}

// Definite reports whether the matrix is known to be positive semidefinite.
func (c lazyMatrix) Definite() bool { return c.definite }

// subMatrix is a submatrix of another.
type subMatrix struct {
	Matrix
	points []int
}

func (p subMatrix) Len() int           { return len(p.points) }
func (p subMatrix) Diag(i int) float64 { return p.Matrix.Diag(p.points[i]) }

func (p subMatrix) Row(dst []float64, i int) {
	row := make([]float64, p.Matrix.Len())
	p.Matrix.Row(row, p.points[i])
	for a, j := range p.points {
		dst[a] = row[j]
	}
}

// Definite reports whether the matrix is known to be positive semidefinite.
func (p subMatrix) Definite() bool { return rows.Definite(p.Matrix) }

type scaledMatrix struct {
	Matrix
	c []float64
}

func (s scaledMatrix) Diag(i int) float64 { return s.c[i] * s.c[i] * s.Matrix.Diag(i) }

func (s scaledMatrix) Row(dst []float64, i int) {
	s.Matrix.Row(dst, i)
	for j, c := range s.c {
		dst[j] *= s.c[i] * c
	}
}

// Definite reports whether the matrix is known to be positive semidefinite. Scaling preserves it.
func (s scaledMatrix) Definite() bool { return rows.Definite(s.Matrix) }
