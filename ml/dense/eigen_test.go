package dense_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// checkEigen checks that a = V diag(values) V' with V'V = I and ascending values.
func checkEigen(t rapid.TB, a *mat.SymDense) {
	t.Helper()
	values, v, ok := dense.Eigen(a, true)
	require.Must(t, ok, "no eigenvalues of\n%v", mat.Formatted(a))
	n := a.SymmetricDim()
	norm := mat.Norm(a, 1)
	var vv, av mat.Dense
	vv.Mul(v.T(), v)
	av.Mul(a, v)
	for i := range n {
		require.Check(t, i == 0 || values[i] >= values[i-1], "eigenvalues %g do not rise", values)
		for j := range n {
			want := lists.Either(i == j, 1, 0.0)
			require.Near(t, vv.At(i, j), want, 1e-12*float64(n), "product of eigenvectors %d and %d", i, j)
			require.Check(t, math.Abs(av.At(i, j)-values[j]*v.At(i, j)) <= 1e-13*float64(n)*norm,
				"eigenvalue %g is none of\n%v", values[j], mat.Formatted(a))
		}
	}
	alone, none, ok := dense.Eigen(a, false)
	require.Must(t, ok && none == nil, "no eigenvalues alone")
	for i, l := range alone {
		require.Check(t, math.Abs(l-values[i]) <= 1e-13*float64(n)*norm, "eigenvalue %g, alone %g", values[i], l)
	}
}

// Matrices with few different entries, as of strings and graphs, on some of which gonum's Eigen fails.
func TestEigen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(r, "n")
		block := rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(r, "block")
		entry := rapid.SampledFrom([]float64{0, 0, 1, 1, -1, 0.3})
		scale := rapid.SampledFrom([]float64{1, 1e-300, 1e-9, 1e9, 1e300}).Draw(r, "scale")
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				if block[i] == block[j] {
					a.SetSym(i, j, scale*entry.Draw(r, "entry"))
				}
			}
		}
		checkEigen(r, a)
	})
}

// A matrix for which gonum 0.17 gives eigenvalues of 1e122 with vectors, and panics without.
func TestEigenOfAProductGraph(t *testing.T) {
	t.Parallel()
	label := []int{0, 0, 1, 1, 0}
	joined := map[[2]int]bool{}
	for _, e := range [][2]int{{0, 2}, {0, 4}, {1, 4}, {2, 3}} {
		joined[e], joined[[2]int{e[1], e[0]}] = true, true
	}
	a := mat.NewSymDense(25, nil)
	for i := range 25 {
		for j := range i {
			alike := label[i/5] == label[i%5] && label[j/5] == label[j%5]
			if alike && joined[[2]int{i / 5, j / 5}] && joined[[2]int{i % 5, j % 5}] {
				a.SetSym(i, j, 1)
			}
		}
	}
	checkEigen(t, a)
}

func TestEigenOfWhatIsNotFinite(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, _, ok := dense.Eigen(mat.NewSymDense(2, []float64{1, v, v, 1}), true)
		require.Check(t, !ok, "eigenvalues of a matrix with %g", v)
	}
}
