package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// Hard margins of indefinite kernels may have no solution: a stationary point or an error.
func TestHardMarginIndefinite(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 4))
	ended := map[string]int{}
	for trial := range 250 {
		m := 4 + r.IntN(9)
		x, y := mat.NewDense(m, 2, nil), make([]float64, m)
		for i := range m {
			x.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64()})
			y[i] = float64(1 - 2*(i%2))
		}
		gram := kernel.NewGram(kernel.Sigmoid(0.5, float64(trial%3-1)), x)
		for _, matrix := range []Matrix{gram, full(gram)} {
			ctx := mltest.NewLooks(t.Context(), 10_000)
			res, err := Train(ctx, matrix, y, Settings{C: math.Inf(1), MaxIter: 100_000})
			switch {
			case ctx.Over() > 0:
				t.Fatalf("trial %d: still at work", trial)
			case errors.Is(err, ErrUnbounded):
				ended["unbounded"]++
			case err != nil:
				t.Fatalf("trial %d: %v", trial, err)
			default:
				ended[string(res.Status)]++
				if res.Status == trace.Converged {
					verify(t, res, full(gram), y, math.Inf(1), 1e-3)
				}
			}
		}
	}
	require.Check(t, ended["unbounded"] != 0 && ended["converged"] != 0 && ended["cancelled"] <= 0, "%v", ended)
}

// Two points of opposite label whose alphas grow without bound, each step gaining more.
func TestUnboundedPair(t *testing.T) {
	t.Parallel()
	k := mltest.NewMatrix(2, 1, 2, 2, 1) // eigenvalues 3 and -1
	require.Is(t, require.Err(Train(t.Context(), k, []float64{1, -1}, Settings{C: math.Inf(1)})), ErrUnbounded, "without a bound")
	r := train(t, k, []float64{1, -1}, Settings{C: 3})
	require.Slices(t, r.Alpha, []float64{3, 3}, "alpha")
	require.Check(t, math.IsNaN(r.WNorm) && math.IsNaN(r.Margin) && r.Dual == 15, // 6 - 1/2 9 (1 - 4 + 1)
		"u'Ku < 0: |w| %g, margin %g, dual %g; want none, none and 15", r.WNorm, r.Margin, r.Dual)
	// All points coincide: w = 0, whose margin is infinite.
	r = train(t, kernel.NewGram(kernel.RBF(1), mat.NewDense(2, 1, nil)), []float64{1, -1}, Settings{C: 3})
	require.Check(t, r.WNorm == 0 && math.IsNaN(r.Margin) && !r.Local, "|w| %g, margin %g, local %v", r.WNorm, r.Margin, r.Local)
}

// Kernel values whose sums overflow.
func TestRounding(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(4, 1, []float64{1, -1, 2, -2})
	x.Scale(1e154, x)
	k := kernel.NewGram(kernel.Linear(), x)
	for _, c := range []float64{1, 1e9, math.Inf(1)} {
		r, err := Train(t.Context(), k, []float64{1, 1, -1, -1}, Settings{C: c})
		require.Check(t, err != nil || !math.IsNaN(r.Dual) && !math.IsInf(r.Dual, 0) && !math.IsNaN(r.B),
			"C = %g: %+v; want finite numbers or an error", c, r)
	}
	// If rounding errors times C exceed tol, training ends long before its limit.
	for seed, scale := range []float64{20, 40} {
		for _, c := range []float64{1e6, 3e7} {
			r := rand.New(rand.NewPCG(31, uint64(seed)))
			x, y := mat.NewDense(250, 1, nil), make([]float64, 250)
			for i := range y {
				v := r.NormFloat64()
				x.Set(i, 0, scale*v)
				y[i] = math.Copysign(1, v+0.3*r.NormFloat64())
			}
			res := require.Value(Train(t.Context(), kernel.NewGram(kernel.Polynomial(1, 1, 3), x), y, Settings{C: c, MaxIter: 500_000}))(t)
			require.Equal(t, res.Status, trace.Numerical, "scale %g, C = %g, after %d steps", scale, c, res.Iterations)
		}
	}
}
