package svm

import (
	"context"
	"math"
	"runtime"

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
	m := k.Len()
	most := math.Inf(-1)
	for i := range m {
		most = max(most, k.Diag(i))
	}
	entry := int64(8)
	if singleSuits(m, most) {
		entry += 4
	}
	if entry*int64(m)*int64(rows.Padded(m)) > bytes {
		return k, nil
	}
	t := &table{Matrix: k, double: rows.Whole[float64](m)}
	if singleSuits(m, most) {
		t.single = rows.Whole[float32](m)
	}
	group, ctx := errgroup.WithContext(ctx)
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < m; i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				row := t.double[i]
				k.Row(row[:m], i)
				if j := rows.Infinite(row); j >= 0 {
					return notFinite(i, j, row[j])
				}
				if t.single != nil {
					rows.Round(t.single[i], row)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return t, nil
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
