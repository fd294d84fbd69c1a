package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

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
				e := []float64{1e-3, 1e-6, 1e-10, 0}[seed]
				r := rand.New(rand.NewPCG(seed, 3))
				x, z := clutter(r, 700), clutter(r, 400)
				w, size := make([]float64, 400), 0.0
				for j := range w {
					w[j] = math.Exp(9*float64(seed%2)*r.Float64()) * (r.Float64() - 0.5)
					size += math.Abs(w[j])
				}
				got := make([]float64, 700)
				ok := newGaussianCells(gamma, max(e, cellError)).sum(t.Context(), got, x.RawMatrix(), z.RawMatrix(), w, math.MaxInt)
				require.Must(t, ok, "refused")
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
				if worst > max(e, 0x1p-49) {
					t.Errorf("error %.2g of the sum of the weights", worst)
				}
			})
		}
	}
}
