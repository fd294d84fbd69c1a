package figure_test

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// A picture that leaves out a part until a question is answered says so, where no ink is.
func TestWaiting(t *testing.T) {
	t.Parallel()
	const says = "Answer to see more"
	axis := func(name string) figure.Axis { return figure.Axis{Name: name, Min: 0, Max: 1} }
	level := figure.Curve{Name: "level", X: []float64{0, 1}, Y: []float64{0.5, 0.5}}
	draw := map[string]func(f figure.Format) (*figure.Picture, error){
		"empty chart": func(f figure.Format) (*figure.Picture, error) {
			return figure.Chart{Format: f, X: axis("a"), Y: axis("b")}.Picture()
		},
		"chart": func(f figure.Format) (*figure.Picture, error) {
			return figure.Chart{Format: f, X: axis("a"), Y: axis("b"), Curves: []figure.Curve{level}}.Picture()
		},
		"plane": func(f figure.Format) (*figure.Picture, error) {
			return figure.Plane{Format: f, Limits: figure.Limits{XMin: -1, XMax: 1, YMin: -1, YMax: 1}, Marks: []figure.Mark{figure.Dot{}}}.Picture()
		},
	}
	for name, picture := range draw {
		for _, size := range [][2]int{{640, 520}, {420, 494}, {300, 300}} {
			for _, f := range []figure.Format{{}, {Waits: true}, {Waits: true, Grey: true}, {Waits: true, Paper: true}} {
				f.Width, f.Height = size[0], size[1]
				waits := f.Waits && !f.Grey && !f.Paper // paper takes no answers
				p := require.Value(picture(f))(t)
				require.Check(t, strings.Contains(p.Caption, says) == waits,
					"%s, waiting %t: the caption is %q", name, waits, p.Caption)
				said := false
				for _, e := range parse(t, p).all("text") {
					if said = said || e.Text == says; e.Text != says {
						continue
					}
					middle := p.Frame.Top + p.Frame.Height/2
					if y := e.number(t, "y"); y < p.Frame.Top || y > p.Frame.Top+p.Frame.Height {
						t.Errorf("%s, %v: the words are outside of the frame", name, size)
					} else if name != "empty chart" && y > middle-6 && y < middle+13 {
						t.Errorf("%s, %v: the words cover what is in the middle", name, size)
					}
				}
				require.Check(t, said == waits, "%s, %v, waiting %t: said %t", name, size, waits, said)
			}
		}
	}
}
