package dense

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/pace"
)

// tile is the side of the blocks in which matrices are processed: small enough for a block to
// stay in cache, for ctx to be checked every few ms, and for the BLAS to stay single-threaded.
const tile = 64

// Parallel calls do from several goroutines for ranges from <= i < to that cover 0 <= i < n. If ctx
// ends, it stops early and returns ctx.Err(). The calls must be independent of each other, so that
// the result does not depend on their distribution.
func Parallel(ctx context.Context, n int, do func(from, to int)) error {
	ranges := (n + tile - 1) / tile
	var next atomic.Int64
	worker := func() {
		for i := int(next.Add(1)) - 1; i < ranges && pace.Look(ctx) == nil; i = int(next.Add(1)) - 1 {
			do(i*tile, min((i+1)*tile, n))
		}
	}
	var others sync.WaitGroup
	for range min(ranges, runtime.GOMAXPROCS(0)) - 1 {
		others.Go(worker)
	}
	worker()
	others.Wait()
	return ctx.Err()
}

// Block returns a view of rows i0 to i1-1 and columns j0 to j1-1 of a.
func Block(a blas64.General, i0, i1, j0, j1 int) blas64.General {
	return blas64.General{Rows: i1 - i0, Cols: j1 - j0, Stride: a.Stride, Data: a.Data[i0*a.Stride+j0:]}
}

// AddGram adds s's to the upper triangle of dst; the lower triangle is undefined afterwards. The
// error is ctx.Err().
func AddGram(ctx context.Context, dst, s blas64.General) error { return gram(ctx, dst, s, Add) }

// gram updates the upper triangle of dst with s's; update is Add or Sub.
func gram(ctx context.Context, dst, s blas64.General, update func(dst blas64.General, t blas.Transpose, a, b blas64.General)) error {
	for i := 0; i < dst.Rows; i += 2 * tile {
		if err := pace.Look(ctx); err != nil {
			return err
		}
		end := min(i+2*tile, dst.Rows)
		update(Block(dst, i, end, i, dst.Cols), blas.Trans, Block(s, 0, s.Rows, i, end), Block(s, 0, s.Rows, i, s.Cols))
	}
	return nil
}

// leaf is the size up to which the recursions do not split a triangle further.
const leaf = 32

// Cholesky replaces the upper triangle of a by U with U'U = a; the lower triangle is undefined
// afterwards. It reports false if a is not positive definite; the error is ctx.Err().
func Cholesky(ctx context.Context, a blas64.General) (bool, error) {
	n := a.Rows
	if n > leaf {
		h := n / 2
		u, right, rest := Block(a, 0, h, 0, h), Block(a, 0, h, h, n), Block(a, h, n, h, n)
		if ok, err := Cholesky(ctx, u); !ok || err != nil {
			return ok, err
		}
		if err := Divide(ctx, blas.Trans, u, right); err != nil {
			return false, err
		}
		if err := gram(ctx, rest, right, Sub); err != nil {
			return false, err
		}
		return Cholesky(ctx, rest)
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

// Divide replaces b by op(U)⁻¹ b for the upper triangle U of u, where op(U) is U or, with
// blas.Trans, its transpose. The error is ctx.Err().
func Divide(ctx context.Context, t blas.Transpose, u, b blas64.General) error {
	n := u.Rows
	if n <= leaf {
		return Parallel(ctx, b.Cols, func(from, to int) {
			blas64.Trsm(blas.Left, t, 1, Upper(u), Block(b, 0, n, from, to))
		})
	}
	h := n / 2
	first, second := Block(u, 0, h, 0, h), Block(u, h, n, h, n)
	known, rest := Block(b, 0, h, 0, b.Cols), Block(b, h, n, 0, b.Cols)
	if t == blas.NoTrans {
		first, second, known, rest = second, first, rest, known
	}
	if err := Divide(ctx, t, first, known); err != nil {
		return err
	}
	Sub(rest, t, Block(u, 0, h, h, n), known)
	return Divide(ctx, t, second, rest)
}

// Upper returns a view of the upper triangle of u.
func Upper(u blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: u.Rows, Stride: u.Stride, Data: u.Data}
}

// Solve replaces x by a⁻¹ x, given the factor u of a from Cholesky.
func Solve(u blas64.General, x []float64) {
	v := blas64.Vector{N: len(x), Inc: 1, Data: x}
	blas64.Trsv(blas.Trans, Upper(u), v)
	blas64.Trsv(blas.NoTrans, Upper(u), v)
}
