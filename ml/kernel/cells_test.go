package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// clutter draws points of the plane: clusters of every width, copies, a line, and some far out.
func clutter(r *rand.Rand, n int) *mat.Dense {
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		a, b := r.NormFloat64(), r.NormFloat64()
		switch r.IntN(8) {
		case 0:
			if i > 0 {
				a, b = x.At(r.IntN(i), 0), x.At(i-1, 1)
			}
		case 1:
			a, b = 3+1e-3*a, -2+1e-6*b
		case 2:
			a, b = math.Round(4*a), math.Round(b)
		case 3:
			b = 0
		case 4:
			a, b = a*math.Exp(5*b), 1e-12*b
		}
		x.SetRow(i, []float64{a, b})
	}
	return x
}

// The error of sums in cells is at most what they are made for, and as small as rounding allows.
func TestSumInCells(t *testing.T) {
	t.Parallel()
	for _, gamma := range []float64{1e-300, 1e-6, 1e-3, 0.3, 1, 2, 4.1, 50, 1e3, 1e6} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%g/%d", gamma, seed), func(t *testing.T) {
				t.Parallel()
				e := []float64{1e-3, 1e-6, singleError, 0}[seed]
				r := rand.New(rand.NewPCG(seed, 3))
				x, z := clutter(r, 700), clutter(r, 400)
				w, size := make([]float64, 400), 0.0
				for j := range w {
					w[j] = math.Exp(9*float64(seed%2)*r.Float64()) * (r.Float64() - 0.5)
					size += math.Abs(w[j])
				}
				got := make([]float64, 700)
				work := newGaussianCells(gamma, max(e, doubleError)).sum(t.Context(), got, x.RawMatrix(), z.RawMatrix(), w, math.MaxInt)
				require.Must(t, work > 0, "refused")
				worst := 0.0
				for i, v := range got {
					want, lost := 0.0, 0.0 // a sum and what it has lost to rounding
					for j, wj := range w {
						a, b := x.At(i, 0)-z.At(j, 0), x.At(i, 1)-z.At(j, 1)
						add := wj * math.Exp(-gamma*(a*a+b*b))
						sum := want + add
						if math.Abs(want) > math.Abs(add) {
							lost += (want - sum) + add
						} else {
							lost += (add - sum) + want
						}
						want = sum
					}
					worst = max(worst, math.Abs(v-want-lost)/size)
				}
				require.Check(t, worst <= max(e, 0x1p-49), "error %.2g of the sum of the weights", worst)
			})
		}
	}
}

// Products are computed in cells if they have many values and few cells, and agree with the others.
func TestProductsInCells(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 3))
	const n, m = 12_000, 8000
	x, c := clutter(r, n), make([]float64, n)
	points, w, size := make([]int, m), make([]float64, m), 0.0
	for i := range c {
		c[i] = r.NormFloat64()
	}
	for k := range points {
		points[k], w[k] = r.IntN(n), r.NormFloat64()
		size += math.Abs(w[k] * c[points[k]])
	}
	z := mat.NewDense(m, 2, nil)
	for k, i := range points {
		z.SetRow(k, x.RawRowView(i))
	}
	for gamma, in := range map[float64]bool{1e-4: true, 0.01: true, 1e6: false} {
		got := make([]float64, n)
		work := sumInCells(t.Context(), got, x.RawMatrix(), z.RawMatrix(), w, gamma, doubleError)
		require.Check(t, work > 0 == in && work < n*m/3*2, "gamma = %g: work %d of %d", gamma, work, n*m)
		few := sumInCells(t.Context(), got[:10], x.Slice(0, 10, 0, 2).(*mat.Dense).RawMatrix(), z.RawMatrix(), w, gamma, doubleError)
		require.Equal(t, few, 0, "work for few values")

		g := NewGram(RBF(gamma), x).Scaled(c)
		got, want, row := make([]float64, n), make([]float64, n), make([]float64, n)
		charged := require.Value(g.AddProduct(t.Context(), got, points, w))(t)
		rough := make([]float64, n)
		cheaper := require.Value(g.AddProduct32(t.Context(), rough, points, w))(t)
		if !in {
			work = n * m
		}
		require.Equal(t, charged, work, "work of the product")
		require.Check(t, (cheaper < work) == in, "gamma = %g: work %d of a product in single precision", gamma, cheaper)
		for k, i := range points {
			g.Row(row, i)
			floats.AddScaled(want, w[k], row)
		}
		for i, v := range got {
			require.Near(t, v, want[i], 1e-14*size*math.Abs(c[i]), "gamma = %g: product", gamma)
			if in {
				require.Near(t, rough[i], v, singleError*size*math.Abs(c[i]), "gamma = %g: product in single precision", gamma)
			}
		}
	}
}

// Sums of few terms at many points are not made in cells, which would cost more.
func TestFewTermsAreSummed(t *testing.T) {
	t.Parallel()
	x, z := mat.NewDense(400_000, 2, nil), mat.NewDense(50, 2, nil)
	for i := range 400_000 {
		x.Set(i, 0, float64(i))
	}
	work := sumInCells(t.Context(), make([]float64, 400_000), x.RawMatrix(), z.RawMatrix(), make([]float64, 50), 10, doubleError)
	require.Equal(t, work, 0, "50 terms at 400 000 points are summed in cells: work")
	// Sums in cells stop when the context ends, wherever that is.
	r := rand.New(rand.NewPCG(8, 3))
	x, z, w := clutter(r, 3000), clutter(r, 2000), make([]float64, 2000)
	for looks := int64(0); ; looks += 1 + looks/8 {
		ctx := mltest.NewLooks(t.Context(), looks)
		newGaussianCells(1, doubleError).sum(ctx, make([]float64, 3000), x.RawMatrix(), z.RawMatrix(), w, math.MaxInt)
		if ctx.Over() <= 0 {
			require.Check(t, looks > 100, "it looks %d times", looks)
			return
		}
		require.Check(t, ctx.Over() < 200, "%d looks after the end", ctx.Over())
	}
}
