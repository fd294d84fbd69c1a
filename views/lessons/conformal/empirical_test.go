package conformal

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// J of the kernel matrix is J of the points in the empirical feature space, by distances.
func TestEmpiricalSeparability(t *testing.T) {
	t.Parallel()
	for _, o := range harmSet.Options {
		points := harmed(o.Name)
		js := separability(t.Context(), points)
		for k, h := range harming {
			c := require.Value(theory.KernelPCA(theory.Gram(kernel.NewGram(h.kernel, points.Matrix())), len(points.Y)))(t)
			_, n := c.Scores.Dims()
			means, size := [2][]float64{make([]float64, n), make([]float64, n)}, [2]float64{}
			for i, y := range points.Y {
				size[lessons.Class(y)]++
				floats.Add(means[lessons.Class(y)], c.Scores.RawRowView(i))
			}
			for k := range means {
				floats.Scale(1/size[k], means[k])
			}
			between, within := 0.0, 0.0 // the overall mean is the origin
			for k := range means {
				between += size[k] * floats.Dot(means[k], means[k])
			}
			for i, y := range points.Y {
				d := floats.Distance(c.Scores.RawRowView(i), means[lessons.Class(y)], 2)
				within += d * d
			}
			lessonstest.Near(t, o.Name+", "+h.label, js[k], between/within, 1e-6)
		}
	}
}

// Squaring folds opposite clouds together but does not affect clouds next to each other.
func TestKernelThatHarms(t *testing.T) {
	t.Parallel()
	for set, harmful := range map[string]bool{"opposite": true, "ring": false} {
		js := separability(t.Context(), harmed(set))
		require.Equal(t, js[1] < js[0]/10, harmful, "%s: J is %g in the plane and %g for the square", set, js[0], js[1])
	}
}
