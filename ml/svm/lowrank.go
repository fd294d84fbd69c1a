package svm

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/rows"
)

// Points in the plane under a smooth kernel have a K_FF of low rank but for rounding: a pivoted
// Cholesky factor G with K_FF - GG' far below rho takes n r² instead of n³ operations, and so do
// the equations (Fine and Scheinberg, "Efficient SVM training using low-rank kernel
// representations", JMLR 2, 2001), by Woodbury's identity:
//
//	(GG' + rho I)⁻¹ = (I - G (G'G + rho I)⁻¹ G') / rho

// lowRank is a factor of K_FF.
type lowRank struct {
	*monitor
	g     blas64.General // G'
	inner []float64      // memory for rows of G and for G'G + rho I
}

// lowRank returns nil unless the rank is low and the context goes on.
func (o *smo[T]) lowRank(free []int, rho float64, scratch []float64) *lowRank {
	n := len(free)
	least := lowLeft * rho
	if !o.mayBeLow(n) || least < lowRounding*o.size || !rows.Definite(o.k) {
		return nil
	}
	f := &lowRank{monitor: o.monitor, g: blas64.General{Cols: n, Stride: n, Data: scratch[:n*(n/lowOf)]}}
	f.inner = scratch[len(f.g.Data):]
	part := rows.Subset(o.k, free)
	left, coef := make([]float64, n), make([]float64, n/lowOf) // the diagonal of K_FF - GG', a row of G
	for a, i := range free {
		left[a] = o.diag[i]
	}
	for {
		r, p := f.g.Rows, floats.MaxIdx(left)
		if left[p] <= least {
			o.rank, o.lowFrom = r, lowOf*r
			return f
		}
		if r == n/lowOf || o.Ended(n) {
			o.rank, o.lowFrom = 0, 2*n
			return nil
		}
		row := f.g.Data[r*n:][:n]
		part.Row(row, p)
		o.spent += n + n*r/2
		if r > 0 {
			for k := range r {
				coef[k] = f.g.Data[k*n+p]
			}
			blas64.Gemv(blas.Trans, -1, f.g, vector(coef[:r]), 1, vector(row))
		}
		floats.Scale(1/math.Sqrt(left[p]), row)
		for a, v := range row {
			left[a] -= v * v
		}
		f.g.Rows++
	}
}

// times returns Gd.
func (f *lowRank) times(d []float64) []float64 {
	v := make([]float64, f.g.Rows)
	blas64.Gemv(blas.NoTrans, 1, f.g, vector(d), 0, vector(v))
	f.spent += len(d) * len(v) / 2
	return v
}

func (f *lowRank) curvature(d []float64) float64 {
	v := f.times(d)
	return floats.Dot(v, v)
}

func (f *lowRank) subtract(left, d []float64, points []int) {
	part := make([]float64, len(d))
	for _, a := range points {
		part[a] = d[a]
	}
	v := f.times(part)
	blas64.Gemv(blas.Trans, -1, f.g, vector(v), 1, vector(left))
	f.spent += len(left) * len(v) / 2
}

func (f *lowRank) equations(inside []int, left []float64, rho, sum float64) equations {
	n, r := len(inside), f.g.Rows
	g := blas64.General{Rows: n, Cols: r, Stride: r, Data: f.inner[:n*r]}
	m := blas64.General{Rows: r, Cols: r, Stride: r, Data: f.inner[n*r:][:r*r]}
	d, e := make([]float64, n), make([]float64, n)
	for k := range r {
		row := f.g.Data[k*f.g.Stride:]
		for p, a := range inside {
			g.Data[p*r+k] = row[a]
		}
	}
	clear(m.Data)
	for k := range r {
		m.Data[k*r+k] = rho
	}
	f.spent += n*r*r/12 + n*r + r*r*r/36
	if dense.AddGram(f.Context, m, g) != nil {
		return nil
	}
	if ok, err := dense.Cholesky(f.Context, m); !ok || err != nil {
		return nil
	}
	for p, a := range inside {
		d[p], e[p] = left[a], 1
	}
	v := make([]float64, r)
	for _, x := range [][]float64{d, e} {
		blas64.Gemv(blas.Trans, 1, g, vector(x), 0, vector(v))
		dense.Solve(m, v)
		blas64.Gemv(blas.NoTrans, -1/rho, g, vector(v), 1/rho, vector(x))
	}
	floats.AddScaled(d, (sum-floats.Sum(d))/floats.Sum(e), e)
	floats.AddConst((sum-floats.Sum(d))/float64(n), d) // left by rounding
	return solved(d)
}

// solved are equations that are solved anew where points are fixed.
type solved []float64

func (d solved) fix([]int, []float64) bool { return false }

func (d solved) solve() []float64 { return d }

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
