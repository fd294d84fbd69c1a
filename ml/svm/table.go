package svm

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"marginlab/ml/lists"
	"marginlab/ml/rows"
)

// table is a matrix with all rows in memory, padded, in one precision or both. It is safe for
// concurrent use if its source is.
type table struct {
	Matrix             // the source
	double [][]float64 // nil: computed by the source
	single [][]float32 // nil: not read by any training
}

// Tabulated returns k with all rows in memory, computed in parallel, so that k must be safe for
// concurrent use, as is the result. If the rows need more than the given number of bytes, it
// returns k. The error is ctx.Err() or names a value that is not finite.
func Tabulated(ctx context.Context, k Matrix, bytes int64) (Matrix, error) {
	m, entry, most := k.Len(), int64(8), math.Inf(-1)
	for i := range m {
		most = max(most, k.Diag(i))
	}
	t := &table{Matrix: k}
	single := singleSuits(m, most)
	if single {
		entry += 4
	}
	if entry*int64(m)*int64(rows.Padded(m)) > bytes {
		return k, nil
	}
	t.double = rows.Whole[float64](m)
	if err := computeAll(ctx, k, t.double); err != nil {
		return nil, err
	}
	for i, row := range t.double {
		if j := rows.Infinite(row); j >= 0 {
			return nil, notFinite(i, j, row[j])
		}
	}
	if single {
		t.single = rows.Whole[float32](m)
		for i, row := range t.single {
			rows.Round(row, t.double[i])
		}
	}
	return t, nil
}

// isWide reports whether the points of k have many columns and exceed a processor's cache.
func isWide(k Matrix) bool {
	t, ok := k.(tiler)
	return ok && t.Columns() >= rows.ManyColumns && 8*t.Columns()*k.Len() >= wideBytes
}

// tabulate computes all rows together.
func (o *smo[T]) tabulate() error {
	o.rows.Drop()
	all, rest := o.rows.Memory.Whole(o.m)
	o.spent += o.m * o.m / 2
	if err := computeAll(o.Context, o.k, all); err != nil {
		return err
	}
	for i, row := range all {
		if err := o.finite(i, row); err != nil {
			return err
		}
	}
	t := &table{Matrix: o.k}
	switch all := any(all).(type) {
	case [][]float64:
		t.double = all
	case [][]float32:
		t.single = all
	}
	o.k, o.rows.Whole, o.rows.Memory, o.together = t, all, rest, math.MaxInt
	return nil
}

// computeAll computes all rows of k, which are padded, in parallel, unless ctx ends.
func computeAll[T rows.Real](ctx context.Context, k Matrix, all [][]T) error {
	const tile = 128
	m := len(all)
	compute := func(first, end int) { // some rows
		v := make([]float64, m)
		for i := first; i < end && ctx.Err() == nil; i++ {
			k.Row(v, i)
			rows.Round(all[i], v)
		}
	}
	if t, ok := k.(tiler); ok { // half of them in tiles, whose points stay in a processor's cache, and the rest mirrored
		compute = func(first, end int) {
			v := make([]float64, tile*tile)
			for j := first; j < m && ctx.Err() == nil; j += tile {
				n := min(tile, m-j)
				t.Tile(v[:(end-first)*n], first, j, end-first)
				for i := first; i < end; i++ {
					rows.Round(all[i][j:], v[(i-first)*n:][:n])
				}
				for i := j; i < j+n && j > first; i++ {
					for a := first; a < end; a++ {
						all[i][a] = all[a][i]
					}
				}
			}
		}
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := int(next.Add(tile)) - tile; i < m; i = int(next.Add(tile)) - tile {
				compute(i, min(i+tile, m))
			}
		})
	}
	group.Wait()
	for _, row := range all {
		clear(row[m:])
	}
	return ctx.Err()
}

// tabulated returns the rows of k if they are all in memory, otherwise nil.
func tabulated[T rows.Real](k Matrix) [][]T {
	t, ok := k.(*table)
	if !ok {
		return nil
	}
	if rows, ok := any(t.double).([][]T); ok {
		return rows
	}
	rows, _ := any(t.single).([][]T)
	return rows
}

// Row writes row i.
func (t *table) Row(dst []float64, i int) {
	if t.double == nil {
		t.Matrix.Row(dst, i)
		return
	}
	copy(dst, t.double[i])
}

// Definite reports whether the source is definite.
func (t *table) Definite() bool { return rows.Definite(t.Matrix) }

// Merged merges points as the source does.
func (t *table) Merged(ctx context.Context, y, w []float64, size int, most float64) (Matrix, []int, float64) {
	return merged(ctx, t.Matrix, y, w, size, most)
}

// AddProduct adds weighted rows.
func (t *table) AddProduct(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	if t.double == nil {
		return addProduct(ctx, t.Matrix, dst, points, w)
	}
	return addHeld(ctx, func(i int) []float64 { return t.double[i] }, dst, points, w)
}

// AddProduct32 adds weighted rows in single precision, if they are not in memory in double.
func (t *table) AddProduct32(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	if t.double != nil {
		return t.AddProduct(ctx, dst, points, w)
	}
	return addHeld(ctx, func(i int) []float32 { return t.single[i] }, dst, points, w)
}

// Subset selects from the rows in memory.
func (t *table) Subset(points []int) Matrix { return &tablePart{whole: t, points: points} }

// tablePart is the matrix of some of the points of a table.
type tablePart struct {
	whole  *table
	points []int
	source Matrix // the same points of the table's source, nil until needed
}

// Len returns the number of points.
func (p *tablePart) Len() int { return len(p.points) }

// Diag returns the kernel of point i with itself.
func (p *tablePart) Diag(i int) float64 { return p.whole.Diag(p.points[i]) }

// Definite reports whether the whole matrix is definite.
func (p *tablePart) Definite() bool { return p.whole.Definite() }

// Row writes row i.
func (p *tablePart) Row(dst []float64, i int) {
	if p.whole.double != nil {
		gather(dst, p.whole.double[p.points[i]], p.points)
		return
	}
	if p.source == nil {
		p.source = rows.Subset(p.whole.Matrix, p.points)
	}
	p.source.Row(dst, i)
}

// Row32 writes row i in single precision.
func (p *tablePart) Row32(dst []float32, i int) {
	if p.whole.single != nil {
		gather(dst, p.whole.single[p.points[i]], p.points)
		return
	}
	gather(dst, p.whole.double[p.points[i]], p.points)
}

// gather writes the entries of row at the given points.
func gather[T, S rows.Real](dst []T, row []S, points []int) {
	for k, j := range points {
		dst[k] = T(row[j])
	}
}

// AddProduct32 adds weighted rows in the precision in memory.
func (p *tablePart) AddProduct32(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	row := make([]float32, rows.Padded(p.Len()))
	return addHeld(ctx, func(i int) []float32 {
		p.Row32(row[:p.Len()], i)
		return row
	}, dst, points, w)
}

// Subset selects from the same table.
func (p *tablePart) Subset(points []int) Matrix { return p.whole.Subset(lists.At(p.points, points)) }
