package dataset

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

func TestScalerStandardises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(rt, "n")
		offset := rapid.SampledFrom([]float64{0, 1, -1e6, 1e12}).Draw(rt, "offset")
		unit := rapid.SampledFrom([]float64{1e-3, 1, 1e5, 1e300}).Draw(rt, "unit")
		v := rapid.SliceOfN(rapid.IntRange(-1000, 1000), n, n).Draw(rt, "v")
		x := mat.NewDense(n, 1, nil)
		varies := false
		for i := range v {
			x.Set(i, 0, offset+unit*float64(v[i]))
			varies = varies || x.At(i, 0) != x.At(0, 0)
		}
		s := FitScaler(x)
		z := mat.Col(nil, 0, s.Apply(x))
		if !varies {
			require.Check(rt, s.Scale[0] == 1 && z[0] == 0, "constant column: %+v, z %v", s, z)
			return
		}
		// The entries round to one part in 2^53 of the offset.
		tol := 1e-12 + 1e-15*math.Abs(offset)/s.Scale[0]
		require.Near(rt, stat.Mean(z, nil), 0, tol, "mean")
		require.Near(rt, stat.PopStdDev(z, nil), 1, tol, "standard deviation")
	})
}

func TestScalerExtremes(t *testing.T) {
	t.Parallel()
	for name, col := range map[string][]float64{
		"one row":            {7},
		"constant":           {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
		"whole range":        {-math.MaxFloat64, math.MaxFloat64},
		"smallest numbers":   {0, math.SmallestNonzeroFloat64},
		"two neighbours":     {1, math.Nextafter(1, 2)},
		"one far from many":  {0, 0, 0, 0, 0, 1e200},
		"large and constant": {math.MaxFloat64, math.MaxFloat64},
	} {
		x := mat.NewDense(len(col), 1, col)
		s := FitScaler(x)
		require.Check(t, s.Scale[0] > 0 && !math.IsInf(s.Scale[0], 0) && !math.IsNaN(s.Mean[0]) && !math.IsInf(s.Mean[0], 0),
			"%s: %+v", name, s)
		for i, z := range mat.Col(nil, 0, s.Apply(x)) {
			require.Check(t, !math.IsNaN(z) && math.Abs(z) <= 10, "%s: row %d becomes %g", name, i, z)
		}
	}
}

func TestScalerReference(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(4, 2, []float64{1, 5, 2, 5, 3, 5, 6, 5})
	s := FitScaler(x)
	require.Equal(t, cmp.Diff(&Scaler{Mean: []float64{3, 5}, Scale: []float64{math.Sqrt(3.5), 1}}, s, approx(1e-15)), "", "diff")
	require.Check(t, x.At(0, 0) == 1 && s.Apply(x) != x, "Apply changes its argument")
	require.Equal(t, cmp.Diff(s, require.Reread(t, s)), "", "JSON (-want +got)")
}

func approx(tol float64) cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= tol })
}
