package mercer

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
)

// Combinations always valid pass on every data set; the others are refuted, the negative on all.
func TestCombinations(t *testing.T) {
	t.Parallel()
	refuted, sets := map[string]int{}, 0
	for _, slug := range []string{"moons", "circles", "xor", "iris"} {
		x, _ := rows(mltest.Builtin(t, slug), 30)
		for _, gamma := range []float64{0.05, 1, 5} {
			sets++
			k1, k2 := parts(x, gamma)
			for _, c := range combinations {
				s := require.Value(theory.Mercer(c.of(k1, k2, x)))(t)
				if !s.PSD {
					refuted[c.name]++
					require.Check(t, c.rule != "always valid",
						"%s, gamma %g: %s has the eigenvalue %g", slug, gamma, c.label, s.Values[len(s.Values)-1])
				}
			}
		}
	}
	require.Check(t, refuted["difference"] != 0 && refuted["negative"] == sets,
		"of %d cases the difference is refuted on %d and the negative multiple on %d", sets, refuted["difference"], refuted["negative"])
}

// TestWitness: two points pass, the third refutes, as users can find on the screen.
func TestWitness(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{2: true, 3: false} {
		s, err := theory.Mercer(gramOf(kernel.Sigmoid(0.5, 1), toy(n)))
		require.Check(t, err == nil && s.PSD == want, "%d points: PSD %v, %v; want %v", n, s.PSD, err, want)
	}
}

// If the squared distance is negative, the solver ends at C; otherwise at the top of the parabola.
func TestIndefinite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p, q            [2]float64
		gamma, coef0, c string
		alpha           float64
	}{
		{[2]float64{0.2, 0.3}, [2]float64{1.4, 1.2}, "3", "0", "10", 10},
		{[2]float64{0.4, 0.4}, [2]float64{1.2, 0.9}, "1", "1", "10", 10},
		{[2]float64{1, 0}, [2]float64{-1, 0}, "1", "0", "100", 2 / (4 * math.Tanh(1))},
	} {
		d := lessons.Toy{XY: [][2]float64{c.p, c.q}, Y: []float64{1, -1}}.Data()
		res := lessons.Fit(t.Context(), d, "kernel", "sigmoid", "gamma", c.gamma, "coef0", c.coef0, "C", c.c, "tol", "1e-9")
		require.Near(t, floats.Norm(res.Model.Machines[0].Coef, math.Inf(1)), c.alpha, 1e-6, "%v, %v: alpha", c.p, c.q)
	}
}

// TestComponents: under a wide RBF kernel the third component of two circles separates nine of
// ten points, unlike the first two; the linear kernel has no third component.
func TestComponents(t *testing.T) {
	t.Parallel()
	x, classes := rows(mltest.Builtin(t, "circles"), 120)
	c, err := theory.KernelPCA(theory.Gram(kernel.NewGram(kernel.RBF(0.1), x)), 3)
	require.NoError(t, err)
	for j := range 3 {
		fewest := len(classes) // errors of the best threshold, in either direction
		for i := range classes {
			wrong := len(lists.Where(len(classes), func(k int) bool {
				return (c.Scores.At(k, j) >= c.Scores.At(i, j)) != (classes[k] == 1)
			}))
			fewest = min(fewest, wrong, len(classes)-wrong)
		}
		require.Equal(t, fewest <= len(classes)/10, j == 2, "component %d: %d errors of %d", j+1, fewest, len(classes))
	}
	c, err = theory.KernelPCA(theory.Gram(kernel.NewGram(kernel.Kernel{Name: "linear"}, x)), 3)
	require.Check(t, err == nil && len(c.Values) == 2, "linear kernel: %d components, %v", len(c.Values), err)
}
