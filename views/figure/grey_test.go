package figure_test

import (
	"image/color"
	"math"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// TestGrey: on paper the two sides of a boundary differ without their colours, and the legend
// names every line, for which the picture is made higher.
func TestGrey(t *testing.T) {
	t.Parallel()
	lightness := func(c color.Color) float64 { return float64(color.GrayModel.Convert(c).(color.Gray).Y) }
	for i := range 2 {
		d := math.Abs(lightness(figure.Grey.Side[0][i]) - lightness(figure.Grey.Side[1][i]))
		require.Check(t, d >= 20, "side %d: lightness differs by %g of 255", i, d)
	}
	names := []string{"one-vs-rest", "one-vs-one", "Weston and Watkins", "Crammer and Singer"}
	c := figure.Chart{Format: figure.Format{Grey: true, Width: 320, Height: 213}, X: figure.Axis{Name: "x"}, Y: figure.Axis{Name: "y"}}
	for i, n := range names {
		c.Curves = append(c.Curves, figure.Curve{Name: n, X: []float64{0, 1}, Y: []float64{float64(i), 1}})
	}
	p := require.Value(c.Picture())(t)
	svg := require.Drawn(t, p.SVG)
	for _, n := range names {
		require.Check(t, strings.Contains(svg, ">"+n+"<"), "the legend has no %q", n)
	}
	require.Check(t, p.Height > 213 && p.Frame.Height >= 100,
		"the picture is %d high, its frame %g", p.Height, p.Frame.Height)
}
