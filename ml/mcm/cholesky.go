package mcm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"marginlab/ml/lists"
	"marginlab/ml/pace"
)

// factor is a pivoted Cholesky factor K ~ G G' of a symmetric matrix, M x r. It reproduces the
// rows and columns of its pivots exactly.
type factor struct {
	g      []float64 // column k of G is g[k*M : (k+1)*M]
	pivots []int     // r rows of K; G restricted to them is lower triangular
	m      int
}

// cholesky factors k with the largest remaining diagonal as the next pivot (Fine and Scheinberg
// 2001), until none exceeds tol times the largest diagonal. It computes only the rows of the
// pivots. For an indefinite matrix it stops when no positive diagonal remains. It returns ctx.Err()
// or an error for an entry that is not finite.
func cholesky(ctx context.Context, k Matrix, tol float64) (*factor, error) {
	m := k.Len()
	left := make([]float64, m) // remaining diagonal
	top := 0.0
	for i := range left {
		left[i] = k.Diag(i)
		top = max(top, left[i])
	}
	f := &factor{m: m}
	coef := make([]float64, 0, 64)
	for len(f.pivots) < m {
		if err := pace.Look(ctx); err != nil {
			return nil, err
		}
		p := 0
		for i, v := range left {
			if v > left[p] {
				p = i
			}
		}
		if !(left[p] > tol*top) {
			break
		}
		r := len(f.pivots)
		f.g = append(f.g, make([]float64, m)...)
		g := f.g[r*m:]
		k.Row(g, p)
		if err := finite(g, p); err != nil {
			return nil, err
		}
		if r > 0 {
			coef = coef[:0]
			for j := range r {
				coef = append(coef, f.g[j*m+p])
			}
			blas64.Gemv(blas.Trans, -1, blas64.General{Rows: r, Cols: m, Stride: m, Data: f.g[:r*m]},
				blas64.Vector{N: r, Inc: 1, Data: coef}, 1, blas64.Vector{N: m, Inc: 1, Data: g})
		}
		root := math.Sqrt(left[p])
		for i := range g {
			g[i] /= root
			left[i] -= g[i] * g[i]
		}
		for _, q := range f.pivots {
			g[q] = 0 // exactly, without rounding
		}
		g[p], left[p] = root, math.Inf(-1)
		f.pivots = append(f.pivots, p)
	}
	return f, nil
}

func (f *factor) rank() int { return len(f.pivots) }

func (f *factor) column(k int) []float64 { return f.g[k*f.m : (k+1)*f.m] }

// interpolate returns the beta with G beta = y on the pivots.
func (f *factor) interpolate(y []float64) []float64 {
	beta := lists.At(y, f.pivots)
	for k, p := range f.pivots {
		g := f.column(k)
		beta[k] /= g[p]
		for i := k + 1; i < len(beta); i++ {
			beta[i] -= g[f.pivots[i]] * beta[k]
		}
	}
	return beta
}

// coefficients returns the lambda, zero off the pivots, with K lambda = G beta:
// L' lambda_P = beta for L, the rows of the pivots of G.
func (f *factor) coefficients(beta []float64) []float64 {
	lambda := make([]float64, f.m)
	for k := f.rank() - 1; k >= 0; k-- {
		v := beta[k]
		g := f.column(k)
		for i := k + 1; i < f.rank(); i++ {
			v -= g[f.pivots[i]] * lambda[f.pivots[i]]
		}
		lambda[f.pivots[k]] = v / g[f.pivots[k]]
	}
	return lambda
}
