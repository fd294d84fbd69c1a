package figure_test

import (
	"math"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// Bars reach from zero to their values; those below zero are hatched.
func TestBarHeights(t *testing.T) {
	t.Parallel()
	p := require.Value(figure.Bars{Values: []float64{2, -1, 3}, Sorted: true}.Picture())(t)
	violet := figure.Hex(figure.Light.Class[7])
	full := polygons(t, p, func(g element) bool { return g.attr("fill") == violet && g.attr("fill-opacity") == "" })
	pale := polygons(t, p, func(g element) bool { return g.attr("fill") == violet && g.attr("fill-opacity") != "" })
	require.Must(t, len(full) == 2 && len(pale) == 1, "%d full bars and %d pale ones", len(full), len(pale))
	for i, c := range []struct {
		ring   [][2]float64
		at, to float64
	}{{full[0], 1, 3}, {full[1], 2, 2}, {pale[0], 3, -1}} {
		lo, hi := inf, -inf
		for _, q := range c.ring {
			lo, hi = math.Min(lo, q[1]), math.Max(hi, q[1])
			require.Near(t, q[0], c.at, 0.5, "bar %d at", i)
		}
		require.Check(t, math.Abs(lo-math.Min(0, c.to)) <= 0.01 && math.Abs(hi-math.Max(0, c.to)) <= 0.01,
			"bar %d from %g to %g, want %g", i, lo, hi, c.to)
	}
}
