package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// near fails unless got and want agree within tol, relative to max(1, |want|).
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	require.Near(t, got, want, tol*max(1, math.Abs(want)), "%s", what)
}

func random(seed uint64, n, d int) *mat.Dense {
	return mltest.Normal(rand.New(rand.NewPCG(seed, 1)), n, d)
}

func gram(k kernel.Kernel, x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			g.SetSym(i, j, k.Eval(x.RawRowView(i), x.RawRowView(j)))
		}
	}
	return g
}

var (
	linear    = kernel.Kernel{Name: "linear"}
	quadratic = kernel.Polynomial(1, 1, 2)
)

func rbf(gamma float64) kernel.Kernel { return kernel.RBF(gamma) }

// toy is the separable set of six points whose machine at C = 1 has the weights
// -1/4 and 1/4 on points 2 and 4 and no bias: f(x) = (x_1 + x_2)/2.
func toy() (x *mat.Dense, y, u []float64) {
	x = mat.NewDense(6, 2, []float64{-2, -1, -1, -1, -1, -2, 1, 1, 1, 2, 2, 1})
	return x, []float64{-1, -1, -1, 1, 1, 1}, []float64{0, -0.25, 0, 0.25, 0, 0}
}

// xor returns the XOR data of the SVM notes, 12.2.
func xor() (x *mat.Dense, y []float64) {
	return mat.NewDense(4, 2, []float64{1, 1, -1, -1, -1, 1, 1, -1}), []float64{1, 1, -1, -1}
}

func TestGramHoldsTheRows(t *testing.T) {
	t.Parallel()
	x := random(3, 7, 3)
	got, want := theory.Gram(kernel.NewGram(rbf(0.4), x)), gram(rbf(0.4), x)
	require.Check(t, mat.EqualApprox(got, want, 1e-14), "Gram = %v, want %v", mat.Formatted(got), mat.Formatted(want))
}
