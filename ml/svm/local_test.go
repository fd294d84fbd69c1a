package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// TestLocal trains with kernels that are not positive semidefinite in general: the result is
// marked local, is a stationary point, and is at least as good as that of either start.
func TestLocal(t *testing.T) {
	t.Parallel()
	better := 0
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		m := 30
		x, y := mat.NewDense(m, 3, nil), make([]float64, m)
		for i := range m {
			y[i] = 1
			if i%3 == 0 {
				y[i] = -1
			}
			for j := range 3 {
				x.Set(i, j, r.NormFloat64()+0.4*y[i])
			}
		}
		gram := kernel.NewGram(kernel.Sigmoid(0.5, float64(seed%3-1)), x)
		s := Settings{C: []float64{0.1, 1, 10}[seed%3], Tol: 1e-6}
		res := train(t, gram, y, s)
		verify(t, res, full(gram), y, s.C, s.Tol)
		require.Must(t, res.Local, "seed %d: the result does not say that it is local", seed)
		first := train(t, psd{full(gram)}, y, s) // claims to be definite and so starts only once
		require.Check(t, !first.Local && res.Dual >= first.Dual*(1-1e-9),
			"seed %d: %g, from alpha = 0 it is %g", seed, res.Dual, first.Dual)
		if res.Dual > first.Dual*(1+1e-6) {
			better++
		}
		held, err := HeldOut(t.Context(), gram, y, nil, []float64{s.C}, s)
		require.Check(t, err == nil && held[0].Local && held[0].Dual == res.Dual,
			"seed %d: none held out: %+v, %v; want the objective %g", seed, held, err, res.Dual)
	}
	require.Check(t, better >= 5, "the second start was better %d times of 60", better)
}

// TestLocalHardMargin is TestLocal without a bound on alpha, where the dual may be unbounded.
func TestLocalHardMargin(t *testing.T) {
	t.Parallel()
	solved, better := 0, 0
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		m := 8
		x, y := mat.NewDense(m, 2, nil), make([]float64, m)
		for i := range m {
			y[i] = float64(1 - i%2*2)
			for j := range 2 {
				x.Set(i, j, r.NormFloat64()+y[i])
			}
		}
		gram := kernel.NewGram(kernel.Sigmoid(0.5, float64(seed%2-1)), x)
		s := Settings{C: math.Inf(1), Tol: 1e-6}
		res, err := Train(t.Context(), gram, y, s)
		first, firstErr := Train(t.Context(), psd{full(gram)}, y, s)
		require.Must(t, (err == nil) == (firstErr == nil), "seed %d: %v, from alpha = 0 %v", seed, err, firstErr)
		if err != nil {
			continue
		}
		solved++
		require.Check(t, res.Local && res.KKTViolation <= s.Tol && res.Dual >= first.Dual*(1-1e-9),
			"seed %d: local %v, violation %g, %g; from alpha = 0 it is %g", seed, res.Local, res.KKTViolation, res.Dual, first.Dual)
		if res.Dual > first.Dual*(1+1e-6) {
			better++
		}
	}
	require.Check(t, solved >= 20 && better >= 2,
		"of %d hard margins the second start found a better one %d times", solved, better)
}

// Translated points have the same hard margin until rounding of the kernel values hides it.
func TestFarFromOrigin(t *testing.T) {
	t.Parallel()
	y := []float64{-1, 1}
	for _, at := range []float64{0, 1e3, 1e6, -1e6} {
		k := kernel.NewGram(kernel.Linear(), mat.NewDense(2, 1, []float64{at, at + 1}))
		r := train(t, k, y, Settings{C: math.Inf(1)})
		require.Check(t, math.Abs(r.Margin-0.5) <= 1e-3 && math.Abs(r.F[0]+1) <= 1e-2 && math.Abs(r.F[1]-1) <= 1e-2,
			"at %g: margin %g, f %v", at, r.Margin, r.F)
	}
	for _, at := range []float64{1e8, 1e12} {
		k := kernel.NewGram(kernel.Linear(), mat.NewDense(2, 1, []float64{at, at + 1}))
		r, err := Train(t.Context(), k, y, Settings{C: math.Inf(1)})
		require.Check(t, errors.Is(err, ErrRounding), "at %g: %+v, %v; want ErrRounding", at, r, err)
	}
	// Both narrow and wide kernels separate nearby points.
	for _, gamma := range []float64{1e-7, 1e-5, 1e-2} {
		k := kernel.NewGram(kernel.RBF(gamma), mat.NewDense(2, 1, []float64{0, 1}))
		r := train(t, k, y, Settings{C: math.Inf(1)})
		want := math.Sqrt(-2*math.Expm1(-gamma)) / 2
		require.Check(t, math.Abs(r.Margin/want-1) <= 1e-6, "gamma %g: margin %g, want %g", gamma, r.Margin, want)
	}
}

// TestSmallKernelValues has K u far below 1: f, |w| and b stay accurate.
func TestSmallKernelValues(t *testing.T) {
	t.Parallel()
	x, y := moons(100, 0.1)
	tiny := mat.NewDense(100, 2, nil)
	tiny.Scale(1e-9, x)
	for name, tc := range map[string]struct {
		gram *kernel.Gram
		c    float64
	}{
		"linear, features of 1e-9": {kernel.NewGram(kernel.Linear(), tiny), 1},
		"rbf, gamma and C of 1e-6": {kernel.NewGram(kernel.RBF(1e-6), x), 1e-6},
	} {
		r, k := train(t, tc.gram, y, Settings{C: tc.c}), full(tc.gram)
		square, right, wrong := 0.0, 0, 0
		for i := range y {
			ku := 0.0
			for j, a := range r.Alpha {
				ku += k.At(i, j) * a * y[j]
			}
			square += r.Alpha[i] * y[i] * ku
			f := ku + r.B
			require.Check(t, math.Abs(f-r.F[i]) <= 1e-6*math.Abs(f), "%s: f(x_%d) = %g, want %g", name, i, r.F[i], f)
			if (r.F[i] >= 0) == (y[i] > 0) {
				right++
			} else {
				wrong++
			}
		}
		relative(t, name+": |w|", r.WNorm, math.Sqrt(square), 1e-6)
		require.Check(t, right >= 75, "%s: %d right, %d wrong", name, right, wrong)
	}
}

// If rounding exceeds the tolerance, the status is numerical and the violation is honest.
func TestRoundingDominates(t *testing.T) {
	t.Parallel()
	x, y := moons(60, 0.3)
	for i := range 60 {
		for j := range 2 {
			x.Set(i, j, 1e8+x.At(i, j))
		}
	}
	k := kernel.NewGram(kernel.Linear(), x)
	r, err := Train(t.Context(), k, y, Settings{C: 1, Tol: 1e-6})
	require.Check(t, err == nil && r.Status == trace.Numerical && r.KKTViolation >= 0.1,
		"%+v, %v; want numerical, with a violation as large as rounding allows", r, err)
	r, err = Train(t.Context(), k, y, Settings{C: 1e-9, Tol: 1e-6})
	require.Check(t, err == nil && r.Status == trace.Converged, "C = 1e-9: %+v, %v", r, err)
}
