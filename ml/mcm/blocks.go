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

	"marginlab/ml/gemm"
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

// addGram changes the upper triangle of dst by s's: change is gemm.Add or gemm.Sub.
func addGram(ctx context.Context, dst, s blas64.General, change func(dst blas64.General, t blas.Transpose, a, b blas64.General)) error {
	for i := 0; i < dst.Rows; i += 2 * tile {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(i+2*tile, dst.Rows)
		change(block(dst, i, end, i, dst.Cols), blas.Trans, block(s, 0, s.Rows, i, end), block(s, 0, s.Rows, i, s.Cols))
	}
	return nil
}

// leaf is the size up to which triangles are not split further.
const leaf = 32

// choleskyInPlace replaces the upper triangle of the positive definite a by U with
// U'U = a. It reports false when a pivot is not positive; the error is that of ctx.
func choleskyInPlace(ctx context.Context, a blas64.General) (bool, error) {
	n := a.Rows
	if n > leaf {
		h := n / 2
		u, right, rest := block(a, 0, h, 0, h), block(a, 0, h, h, n), block(a, h, n, h, n)
		if ok, err := choleskyInPlace(ctx, u); !ok || err != nil {
			return ok, err
		}
		if err := divide(ctx, blas.Trans, u, right); err != nil {
			return false, err
		}
		if err := addGram(ctx, rest, right, gemm.Sub); err != nil {
			return false, err
		}
		return choleskyInPlace(ctx, rest)
	}
	for k := range n {
		row := a.Data[k*a.Stride+k : k*a.Stride+n]
		d := row[0]
		if !(d > 0) || math.IsInf(d, 1) {
			return false, nil
		}
		floats.Scale(1/math.Sqrt(d), row)
		for i := k + 1; i < n; i++ {
			floats.AddScaled(a.Data[i*a.Stride+i:i*a.Stride+n], -row[i-k], row[i-k:])
		}
	}
	return true, nil
}

// divide replaces b by op(U)⁻¹ b for the upper triangle U of u. The error is that
// of ctx.
func divide(ctx context.Context, t blas.Transpose, u, b blas64.General) error {
	n := u.Rows
	if n <= leaf {
		return parallel(ctx, tiles(b.Cols), func(k int) {
			blas64.Trsm(blas.Left, t, 1, upper(u), block(b, 0, n, k*tile, min((k+1)*tile, b.Cols)))
		})
	}
	h := n / 2
	first, second := block(u, 0, h, 0, h), block(u, h, n, h, n)
	known, rest := block(b, 0, h, 0, b.Cols), block(b, h, n, 0, b.Cols)
	if t == blas.NoTrans {
		first, second, known, rest = second, first, rest, known
	}
	if err := divide(ctx, t, first, known); err != nil {
		return err
	}
	gemm.Sub(rest, t, block(u, 0, h, h, n), known)
	return divide(ctx, t, second, rest)
}

func upper(u blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: u.Rows, Stride: u.Stride, Data: u.Data}
}

// choleskySolve solves U'U x = x in place for U from choleskyInPlace.
func choleskySolve(u blas64.General, x []float64) {
	blas64.Trsv(blas.Trans, upper(u), vector(x))
	blas64.Trsv(blas.NoTrans, upper(u), vector(x))
}
