package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/ridge"
	"marginlab/ml/theory"
)

// uneven returns points on a line, two of them equal, with targets.
func uneven() (*mat.Dense, []float64) {
	x := []float64{-1.9, -1.2, -1.2, -0.3, 0.1, 0.8, 1.4, 2.2}
	t := lists.Make(len(x), func(i int) float64 { return math.Sin(2*x[i]) + 0.1*float64(i%3) })
	return mat.NewDense(len(x), 1, x), t
}

func TestPowersIsTheMapOfItsKernel(t *testing.T) {
	t.Parallel()
	x, _ := uneven()
	for p := 1; p <= 6; p++ {
		m := require.Value(theory.Powers(p))(t)
		phi := require.Value(m.Rows(x))(t)
		_, d := phi.Dims()
		require.Must(t, d == p+1 && len(m.Coordinates) == p+1, "degree %d: %d features, %d names", p, d, len(m.Coordinates))
		var products mat.SymDense
		products.SymOuterK(1, phi)
		k := theory.Gram(kernel.NewGram(m.Kernel, x))
		require.Check(t, mat.EqualApprox(&products, k, 1e-9), "degree %d: the inner products are not the kernel", p)
	}
	m, _ := theory.Powers(3)
	require.Check(t, m.Coordinates[1] == "√3 x" && m.Coordinates[3] == "x³", "%q", m.Coordinates)
	for _, p := range []int{0, 17} {
		require.Fails(t, require.Err(theory.Powers(p)), "", "degree %d is taken", p)
	}
}

// Primal and dual are one function, even for a singular matrix; no nearby weights are better.
func TestRidgeWeightsAreTheDualSolution(t *testing.T) {
	t.Parallel()
	x, targets := uneven()
	m := require.Value(theory.Powers(2))(t)
	phi := require.Value(m.Rows(x))(t)
	for _, lambda := range []float64{1e-3, 1, 100} {
		w := require.Value(theory.RidgeWeights(phi, targets, lambda))(t)
		dual := require.Value(ridge.Train(t.Context(), kernel.NewGram(m.Kernel, x), targets, ridge.Settings{Lambda: lambda}))(t)
		sum := require.Value(m.Weights(x, dual.A))(t)
		d := floats.Distance(w, sum, 2)
		require.Check(t, d <= 1e-9*floats.Norm(w, 2), "lambda %g: weights %v, by the dual %v", lambda, w, sum)
		objective := func(w []float64) float64 {
			var f mat.VecDense
			f.MulVec(phi, mat.NewVecDense(len(w), w))
			miss := floats.Distance(f.RawVector().Data, targets, 2)
			return miss*miss/2 + lambda*floats.Dot(w, w)/2
		}
		for k := range w {
			for _, step := range []float64{-1e-3, 1e-3} {
				near := append([]float64(nil), w...)
				near[k] += step
				require.Check(t, objective(near) >= objective(w),
					"lambda %g: a step of %g in weight %d goes downhill", lambda, step, k)
			}
		}
	}
	require.Fails(t, require.Err(theory.RidgeWeights(phi, targets, 0)), "", "lambda 0 is taken")
	require.Fails(t, require.Err(theory.RidgeWeights(phi, targets[1:], 1)), "", "too few targets are taken")
}

// The factors sum to the degrees of freedom reported by the path.
func TestShrinkageSumsToTheFreedom(t *testing.T) {
	t.Parallel()
	x, targets := uneven()
	k := kernel.NewGram(kernel.RBF(1), x)
	path := require.Value(ridge.NewPath(t.Context(), k, targets))(t)
	s := require.Value(theory.Mercer(theory.Gram(k)))(t)
	for _, lambda := range []float64{1e-3, 1, 1e3} {
		at, ok := path.At(lambda)
		got := floats.Sum(theory.Shrinkage(s.Values, lambda))
		require.Check(t, ok && math.Abs(got-at.Freedom) <= 1e-9, "lambda %g: %g, the path has %g", lambda, got, at.Freedom)
	}
}
