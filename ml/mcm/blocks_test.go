package mcm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"marginlab/ml/gemm"
)

func normal(rng *rand.Rand, rows, cols int) blas64.General {
	a := general(rows, cols)
	for i := range a.Data {
		a.Data[i] = rng.NormFloat64()
	}
	return a
}

// U must be the factor, and dividing by it must undo multiplying.
func TestCholeskyInPlace(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 2))
	for _, n := range []int{1, 31, 32, 33, 150, 300} {
		s, a := normal(rng, n+5, n), general(n, n)
		if err := addGram(context.Background(), a, s, gemm.Add); err != nil {
			t.Fatal(err)
		}
		u := blas64.General{Rows: n, Cols: n, Stride: n, Data: slices.Clone(a.Data)}
		if ok, err := choleskyInPlace(context.Background(), u); !ok || err != nil {
			t.Fatal(ok, err)
		}
		for i := range n {
			clear(u.Data[i*n : i*n+i]) // only the upper triangle is meant
		}
		back := general(n, n)
		gemm.Add(back, blas.Trans, u, u)
		for i := range n {
			for j := i; j < n; j++ {
				if d := math.Abs(back.Data[i*n+j] - a.Data[i*n+j]); d > 1e-12*float64(n) {
					t.Fatalf("n = %d: U'U is off by %g at %d, %d", n, d, i, j)
				}
			}
		}
		for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			x, b := normal(rng, n, 70), general(n, 70)
			gemm.Add(b, trans, u, x)
			if err := divide(context.Background(), trans, u, b); err != nil {
				t.Fatal(err)
			}
			gemm.Sub(b, blas.NoTrans, eye(n), x)
			if d := blas64.Nrm2(vector(b.Data)); d > 1e-6 {
				t.Errorf("n = %d: dividing leaves %g", n, d)
			}
		}
		a.Data[n*n-1] = -1
		if ok, _ := choleskyInPlace(context.Background(), a); ok {
			t.Errorf("n = %d: an indefinite matrix has a factor", n)
		}
	}
}

func eye(n int) blas64.General {
	e := general(n, n)
	for i := range n {
		e.Data[i*n+i] = 1
	}
	return e
}
