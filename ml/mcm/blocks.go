package mcm

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// tile is the side of the blocks that matrices are worked on in: small enough
// for a block to stay in cache and for ctx to be looked at every few ms, and for
// the BLAS to keep to one thread.
const tile = 64

// parallel calls do(0), ..., do(n-1) from several goroutines, and stops early,
// with the error of ctx, when that ends. Calls must not depend on each other;
// then the result is the same however they are spread.
func parallel(ctx context.Context, n int, do func(i int)) error {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// block returns rows i0..i1-1, columns j0..j1-1 of a.
func block(a blas64.General, i0, i1, j0, j1 int) blas64.General {
	return blas64.General{Rows: i1 - i0, Cols: j1 - j0, Stride: a.Stride, Data: a.Data[i0*a.Stride+j0:]}
}

// tiles is the number of tiles that n rows make.
func tiles(n int) int { return (n + tile - 1) / tile }

// weightedGram sets the lower triangle of dst = A diag(w) A' by tiles. scaled is
// scratch of the shape of A.
func weightedGram(ctx context.Context, dst, a, scaled blas64.General, w []float64) error {
	n := tiles(a.Rows)
	err := parallel(ctx, n, func(k int) {
		for i := k * tile; i < min((k+1)*tile, a.Rows); i++ {
			floats.MulTo(scaled.Data[i*a.Stride:i*a.Stride+a.Cols], a.Data[i*a.Stride:i*a.Stride+a.Cols], w)
		}
	})
	if err != nil {
		return err
	}
	return parallel(ctx, n*(n+1)/2, func(k int) {
		i := int((math.Sqrt(8*float64(k)+1) - 1) / 2) // k = i(i+1)/2 + j, j <= i
		j := k - i*(i+1)/2
		i0, i1, j0, j1 := i*tile, min((i+1)*tile, a.Rows), j*tile, min((j+1)*tile, a.Rows)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, block(scaled, i0, i1, 0, a.Cols), block(a, j0, j1, 0, a.Cols),
			0, block(dst, i0, i1, j0, j1))
	})
}

// choleskyInPlace replaces the lower triangle of the positive definite a by L
// with L L' = a. It reports false when a pivot is not positive; the error is
// that of ctx.
func choleskyInPlace(ctx context.Context, a blas64.General) (bool, error) {
	n := a.Rows
	for k0 := 0; k0 < n; k0 += tile {
		k1 := min(k0+tile, n)
		for k := k0; k < k1; k++ {
			row := a.Data[k*a.Stride:]
			for j := k0; j < k; j++ {
				other := a.Data[j*a.Stride:]
				row[j] = (row[j] - floats.Dot(row[k0:j], other[k0:j])) / other[j]
			}
			d := row[k] - floats.Dot(row[k0:k], row[k0:k])
			if !(d > 0) || math.IsInf(d, 1) {
				return false, nil
			}
			row[k] = math.Sqrt(d)
		}
		diag := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: k1 - k0, Stride: a.Stride, Data: a.Data[k0*a.Stride+k0:]}
		below := tiles(n - k1)
		err := parallel(ctx, below, func(i int) {
			i0, i1 := k1+i*tile, min(k1+(i+1)*tile, n)
			blas64.Trsm(blas.Right, blas.Trans, 1, diag, block(a, i0, i1, k0, k1))
		})
		if err != nil {
			return false, err
		}
		err = parallel(ctx, below*(below+1)/2, func(k int) {
			i := int((math.Sqrt(8*float64(k)+1) - 1) / 2)
			j := k - i*(i+1)/2
			i0, i1, j0, j1 := k1+i*tile, min(k1+(i+1)*tile, n), k1+j*tile, min(k1+(j+1)*tile, n)
			blas64.Gemm(blas.NoTrans, blas.Trans, -1, block(a, i0, i1, k0, k1), block(a, j0, j1, k0, k1),
				1, block(a, i0, i1, j0, j1))
		})
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// choleskySolve solves L L' x = x in place for L from choleskyInPlace.
func choleskySolve(l blas64.General, x []float64) {
	t := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: l.Rows, Stride: l.Stride, Data: l.Data}
	v := blas64.Vector{N: l.Rows, Inc: 1, Data: x}
	blas64.Trsv(blas.NoTrans, t, v)
	blas64.Trsv(blas.Trans, t, v)
}
