package dense

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/mltest/require"
)

// U must be the factor, and Divide must invert multiplication by it.
func TestCholesky(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 2))
	for _, n := range []int{1, 31, 32, 33, 150, 300} {
		s, a := random(rng, n+5, n, 0), general(n, n)
		require.NoError(t, AddGram(context.Background(), a, s))
		u := blas64.General{Rows: n, Cols: n, Stride: n, Data: slices.Clone(a.Data)}
		ok, err := Cholesky(context.Background(), u)
		require.Must(t, ok && err == nil, "%v %v", ok, err)
		for i := range n {
			clear(u.Data[i*n : i*n+i]) // only the upper triangle is defined
		}
		back := general(n, n)
		Add(back, blas.Trans, u, u)
		for i := range n {
			for j := i; j < n; j++ {
				d := math.Abs(back.Data[i*n+j] - a.Data[i*n+j])
				require.Must(t, d <= 1e-12*float64(n), "n = %d: U'U is off by %g at %d, %d", n, d, i, j)
			}
		}
		for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			x, b := random(rng, n, 70, 0), general(n, 70)
			Add(b, trans, u, x)
			require.NoError(t, Divide(context.Background(), trans, u, b))
			Sub(b, blas.NoTrans, eye(n), x)
			d := floats.Norm(b.Data, 2)
			require.Check(t, d <= 1e-6, "n = %d: dividing leaves %g", n, d)
		}
		a.Data[n*n-1] = -1
		ok, _ = Cholesky(context.Background(), a)
		require.Check(t, !ok, "n = %d: an indefinite matrix has a factor", n)
	}
}

func eye(n int) blas64.General {
	e := general(n, n)
	for i := range n {
		e.Data[i*n+i] = 1
	}
	return e
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}
