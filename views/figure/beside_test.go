package figure

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// Two pictures in one: each is drawn in its part alone, and the frame is where the first has its data.
func TestBeside(t *testing.T) {
	t.Parallel()
	draw := func(name string, x float64) func(int, int, *Panel) (*Picture, error) {
		return func(w, h int, at *Panel) (*Picture, error) {
			return Plane{Format: Format{Width: w, Height: h, Panel: at}, X: name, Limits: Limits{XMin: 0, XMax: 1, YMin: 0, YMax: 1}, Stretched: true, Marks: []Mark{Dot{At: [2]float64{x, 0.5}, Class: -1, Label: name}}}.Picture()
		}
	}
	for _, below := range []bool{false, true} {
		p := require.Value(Beside(500, 446, 0.6, below, draw("one", 0.5), draw("two", 0.5)))(t)
		alone := require.Value(draw("one", 0.5)(500, 446, nil))(t)
		wide, high := 300.0, 446.0
		if below {
			wide, high = 500, 268
		}
		if f := p.Frame; p.Width != 500 || p.Height != 446 || f.Left != alone.Frame.Left || f.Top != alone.Frame.Top || f.Left+f.Width > wide || f.Top+f.Height > high {
			t.Errorf("below %t: the frame %+v is not within %g x %g", below, f, wide, high)
		}
		require.Check(t, strings.Contains(p.Caption, "Below it:") == below && strings.Contains(p.Caption, "Beside it:") != below,
			"below %t: the caption is %q", below, p.Caption)
		svg := require.Drawn(t, p.SVG)
		for _, name := range []string{">one<", ">two<"} {
			require.Check(t, strings.Contains(svg, name), "below %t: %s is not in the picture", below, name)
		}
	}
	small := require.Value(Beside(200, 150, 0.6, false, draw("one", 0.5), draw("two", 0.5)))(t)
	require.Check(t, small.Frame == require.Value(draw("one", 0.5)(200, 150, nil))(t).Frame,
		"where there is no room for words the first picture is not all")
}
