// Package dense multiplies and factors matrices, several times as fast as gonum. Matrices have the
// layout of blas64: row-major, possibly parts of larger ones.
package dense

import (
	"fmt"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"marginlab/ml/simd"
)

// Add adds op(a) b to dst, where op(a), m x k, is a or, with blas.Trans, its transpose, b is k x n
// and dst m x n. dst must not overlap a or b. Large products run in parallel; the result
// does not depend on the number of processors. It panics if the sizes do not match.
func Add(dst blas64.General, t blas.Transpose, a, b blas64.General) {
	multiply(simd.Current(), dst, 1, t, a, b)
}

// Sub subtracts op(a) b from dst; otherwise it is like Add.
func Sub(dst blas64.General, t blas.Transpose, a, b blas64.General) {
	multiply(simd.Current(), dst, -1, t, a, b)
}

// multiply adds sign op(a) b to dst.
func multiply(l simd.Level, dst blas64.General, sign float64, t blas.Transpose, a, b blas64.General) {
	m, k, down, across := a.Rows, a.Cols, a.Stride, 1
	if t != blas.NoTrans {
		m, k, down, across = k, m, across, down
	}
	if m != dst.Rows || k != b.Rows || b.Cols != dst.Cols {
		panic(fmt.Sprintf("dense: %d x %d times %d x %d into %d x %d", m, k, b.Rows, b.Cols, dst.Rows, dst.Cols))
	}
	if m == 0 || k == 0 || dst.Cols == 0 {
		return
	}
	// Each goroutine takes some rows of dst or, if there are more of them, columns.
	const lines, products = 16, 1 << 20 // minimum per goroutine
	shares := max(1, min(runtime.GOMAXPROCS(0), max(m, dst.Cols)/lines, m*k*dst.Cols/products))
	var wg sync.WaitGroup
	for i := range shares {
		part, a, b := dst, a.Data, b
		if m >= dst.Cols {
			from, to := m*i/shares, m*(i+1)/shares
			part.Rows, part.Data, a = to-from, dst.Data[from*dst.Stride:], a[from*down:]
		} else {
			from, to := dst.Cols/lines*i/shares*lines, dst.Cols/lines*(i+1)/shares*lines
			if i == shares-1 {
				to = dst.Cols
			}
			part.Cols, part.Data = to-from, dst.Data[from:]
			b.Cols, b.Data = to-from, b.Data[from:]
		}
		work := func() { addAt(l, part, sign, a, down, across, b) }
		if i == shares-1 {
			work()
		} else {
			wg.Go(work)
		}
	}
	wg.Wait()
}
