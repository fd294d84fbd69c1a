package svm

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"marginlab/ml/rows"
)

// table is a matrix with all rows in memory, shared by concurrent trainings. Its rows are padded.
type table struct {
	Matrix // the source
	double [][]float64
	single [][]float32 // nil if no training reads it
}

// Tabulated returns k with all rows in memory, computed in parallel, so that k must be safe for
// concurrent use, as is the result. If the rows need more than the given number of bytes, it
// returns k. The error is ctx.Err() or names a value that is not finite.
func Tabulated(ctx context.Context, k Matrix, bytes int64) (Matrix, error) {
	single, size := tableOf(k)
	if size > bytes {
		return k, nil
	}
	t := &table{Matrix: k, double: rows.Whole[float64](k.Len())}
	if single {
		t.single = rows.Whole[float32](k.Len())
	}
	if err := t.fill(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// tableOf returns the bytes of a table of k, and whether it has rows in single precision.
func tableOf(k Matrix) (single bool, bytes int64) {
	m, most := k.Len(), math.Inf(-1)
	for i := range m {
		most = max(most, k.Diag(i))
	}
	entry := int64(8)
	if single = singleSuits(m, most); single {
		entry += 4
	}
	return single, entry * int64(m) * int64(rows.Padded(m))
}

// widened returns k with all rows in memory, which is taken from s.CacheBytes, if that pays: see
// strategies.go. The result is valid until release is called.
func widened(ctx context.Context, k Matrix, s *Settings) (in Matrix, release func(), err error) {
	m := k.Len()
	single, bytes := tableOf(k)
	release = func() {}
	if p, ok := k.(pieces); !ok || s.without.wide || p.Columns() < Wide || 8*p.Columns()*m < wideBytes || bytes > s.CacheBytes/4*3 {
		return k, release, nil
	}
	double := rows.NewMemory[float64](s.Memory, m, bytes)
	t := &table{Matrix: k, double: double.Whole(m)}
	release = double.Free
	if single {
		memory := rows.NewMemory[float32](s.Memory, m, bytes)
		t.single = memory.Whole(m)
		release = func() { double.Free(); memory.Free() }
	}
	s.CacheBytes -= bytes
	return t, release, t.fill(ctx)
}

// fill computes all rows.
func (t *table) fill(ctx context.Context) error {
	if err := computeAll(ctx, t.Matrix, t.double); err != nil {
		return err
	}
	for i, row := range t.single {
		rows.Round(row, t.double[i])
	}
	return nil
}

// computeAll computes all rows of k, which are padded, in parallel. Where k can compute pieces of
// rows, it computes half of them in tiles, whose points stay in a processor's cache, and mirrors
// them. The error is ctx.Err() or names a value that is not finite.
func computeAll(ctx context.Context, k Matrix, all [][]float64) error {
	const tile = 128
	m := len(all)
	piece, width := func(dst []float64, i, _ int) { k.Row(dst, i) }, m
	p, half := k.(pieces)
	if half {
		piece, width = p.Piece, tile
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	compute := func(first, column int) {
		for i := first; i < min(first+tile, m) && ctx.Err() == nil; i++ {
			v := all[i][column:min(column+width, m)]
			piece(v, i, column)
			if half && column > first {
				for j, x := range v {
					all[column+j][i] = x
				}
			}
		}
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for first := int(next.Add(tile)) - tile; first < m; first = int(next.Add(tile)) - tile {
				column := 0
				if half {
					column = first
				}
				for ; column < m; column += width {
					compute(first, column)
				}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, row := range all {
		clear(row[m:])
		if j := rows.Infinite(row); j >= 0 {
			return notFinite(i, j, row[j])
		}
	}
	return nil
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

// Row copies row i.
func (t *table) Row(dst []float64, i int) { copy(dst, t.double[i]) }

// Held returns row i itself, padded.
func (t *table) Held(i int) []float64 { return t.double[i] }

// Definite reports whether the source is definite.
func (t *table) Definite() bool { return rows.Definite(t.Matrix) }

// Merged merges points as the source does.
func (t *table) Merged(ctx context.Context, y, w []float64, size int) (Matrix, []int, float64) {
	return merged(ctx, t.Matrix, y, w, size)
}

// AddProduct adds weighted rows.
func (t *table) AddProduct(ctx context.Context, dst []float64, points []int, w []float64) (work int, err error) {
	return addHeld(ctx, t.Held, dst, points, w)
}
