package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// Groups and matrix follow their definition, for several kernels, weights and a conformal factor.
func TestMerged(t *testing.T) {
	t.Parallel()
	const m, d, size = 203, 3, 4
	r := rand.New(rand.NewPCG(5, 6))
	x, y, w, c := mat.NewDense(m, d, nil), make([]float64, m), make([]float64, m), make([]float64, m)
	for i := range m {
		y[i] = float64(2*r.IntN(2) - 1)
		w[i], c[i] = 1+float64(r.IntN(5)), 0.5+r.Float64()
		for j := range d {
			x.Set(i, j, math.Round(8*r.NormFloat64())/8) // with ties
		}
	}
	for _, k := range []Kernel{RBF(0.5), Polynomial(0.3, 1, 3), {Name: "linear"}} {
		for _, scaled := range []bool{false, true} {
			g := NewGram(k, x)
			factor := func(int) float64 { return 1 }
			if scaled {
				g = g.Scaled(c)
				factor = func(i int) float64 { return c[i] }
			}
			merged, group, apart := g.Merged(t.Context(), y, w, size, math.Inf(1))
			n := merged.Len()
			members := make([][]int, n)
			for i, a := range group {
				members[a] = append(members[a], i)
			}
			mean, scale := mat.NewDense(n, d, nil), make([]float64, n)
			for a, points := range members {
				require.Must(t, len(points) != 0 && len(points) <= size, "%d points in group %d", len(points), a)
				weight := 0.0
				for _, i := range points {
					require.Must(t, y[i] == y[points[0]], "group %d has both labels", a)
					weight += w[i]
				}
				for _, i := range points {
					for j := range d {
						mean.Set(a, j, mean.At(a, j)+w[i]/weight*x.At(i, j))
					}
					scale[a] += w[i] / weight * factor(i)
				}
			}
			row := make([]float64, n)
			for a := range n {
				merged.Row(row, a)
				for b, v := range row {
					want := scale[a] * scale[b] * k.Eval(mean.RawRowView(a), mean.RawRowView(b))
					require.Near(t, v, want, 1e-12*math.Max(1, math.Abs(want)), "%s: K[%d,%d]", k.Name, a, b)
				}
			}
			var distance, total float64
			for i, a := range group {
				cross := factor(i) * scale[a] * k.Eval(x.RawRowView(i), mean.RawRowView(a))
				distance += g.Diag(i) + merged.Diag(a) - 2*cross
				total += g.Diag(i)
			}
			require.Near(t, apart, distance/total, 1e-12, "%s: apart", k.Name)
		}
	}
}

// TestMergedNeighbours merges pairs that lie close together into each other.
func TestMergedNeighbours(t *testing.T) {
	t.Parallel()
	const pairs = 64
	x, y, w := mat.NewDense(2*pairs, 2, nil), make([]float64, 2*pairs), make([]float64, 2*pairs)
	for i := range 2 * pairs {
		p := i % pairs
		y[i], w[i] = 1, 1
		x.SetRow(i, []float64{float64(p%8) + 0.01*float64(i/pairs), float64(p / 8)})
	}
	g := NewGram(RBF(1), x)
	merged, group, apart := g.Merged(t.Context(), y, w, 2, 1e-3)
	for p := range pairs {
		require.Check(t, group[p] == group[p+pairs], "points %d and %d went apart", p, p+pairs)
	}
	require.Check(t, merged.Len() == pairs && apart <= 1e-4, "%d points, %g apart", merged.Len(), apart)
	merged, _, far := g.Merged(t.Context(), y, w, 2, 1e-6)
	require.Check(t, merged == nil && far == apart, "%v, %g apart in place of %g", merged, far, apart)
	// A cancelled merge has no matrix, and says so.
	x = mat.NewDense(2000, 1, nil)
	y, w = make([]float64, 2000), make([]float64, 2000)
	merged, _, apart = NewGram(Kernel{Name: "linear"}, x).Merged(mltest.Ended(), y, w, 4, math.Inf(1))
	require.Check(t, merged == nil && math.IsInf(apart, 1), "%v, %g apart", merged, apart)
}
