package figure_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// Angles and circles are true: a unit has as many pixels on both axes.
func TestPlaneProportions(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{0, 0}, {360, 320}, {900, 300}, {300, 900}} {
		p := lagrange()
		p.Width, p.Height = size[0], size[1]
		pic := require.Value(p.Picture())(t)
		f, l := pic.Frame, pic.Frame.Limits
		x, y := f.Width/(l.XMax-l.XMin), f.Height/(l.YMax-l.YMin)
		require.Check(t, math.Abs(x-y) <= 1e-3*x, "%v: a unit is %g pixels wide and %g high", size, x, y)
		if want := p.Limits; l.XMin > want.XMin+1e-9 || l.XMax < want.XMax-1e-9 || l.YMin > want.YMin+1e-9 || l.YMax < want.YMax-1e-9 {
			t.Errorf("%v: %+v is not all of %+v", size, l, want)
		}
	}
}

// polygons are the data coordinates of the closed parts of paths with a style.
func polygons(t *testing.T, p *figure.Picture, style func(g element) bool) (all [][][2]float64) {
	t.Helper()
	f := p.Frame
	for _, g := range parse(t, p).all("g") {
		if !style(g) {
			continue
		}
		for _, e := range g.Children {
			for _, part := range strings.Split(e.attr("d"), "M")[1:] {
				var ring [][2]float64
				for _, w := range strings.Split(strings.TrimRight(part, "Z"), "L") {
					var x, y float64
					require.Value(fmt.Sscan(w, &x, &y))(t, "%q", part)
					ring = append(ring, [2]float64{
						f.Limits.XMin + (x-f.Left)/f.Width*(f.Limits.XMax-f.Limits.XMin),
						f.Limits.YMax - (y-f.Top)/f.Height*(f.Limits.YMax-f.Limits.YMin),
					})
				}
				all = append(all, ring)
			}
		}
	}
	return all
}

// A region with a hole: its outlines run in opposite directions, so that their
// areas add up to that of the ring.
func TestRegionOutline(t *testing.T) {
	t.Parallel()
	p := require.Value(figure.Plane{
		Limits: figure.Limits{XMin: -2, XMax: 2, YMin: -2, YMax: 2},
		Marks: []figure.Mark{figure.Region{F: func(x, y float64) float64 {
			r := math.Hypot(x, y)
			return math.Min(1.8-r, r-0.9)
		}}},
	}.Picture())(t)
	rings := polygons(t, p, func(g element) bool { return g.attr("fill-opacity") == "0.129" })
	require.Must(t, len(rings) == 2, "%d outlines, want the outer and the inner one", len(rings))
	var sum float64
	for _, r := range rings {
		for i, a := range r {
			b := r[(i+1)%len(r)]
			sum += (a[0]*b[1] - b[0]*a[1]) / 2
		}
	}
	want := math.Pi * (1.8*1.8 - 0.9*0.9)
	require.Check(t, math.Abs(math.Abs(sum)-want) <= 0.01*want, "area %g, want %g", sum, want)
}

// A half-plane ends where its line runs, and that satisfies its equation.
func TestLinesAndHalfPlanes(t *testing.T) {
	t.Parallel()
	a, c := [2]float64{3, -1}, 0.5
	p := require.Value(figure.Plane{
		Limits: figure.Limits{XMin: -1, XMax: 1, YMin: -1, YMax: 1},
		Marks:  []figure.Mark{figure.Region{F: figure.Linear(a, c)}, figure.Line{A: a, C: c, Pen: figure.Pen{Dash: figure.Dashed}}},
	}.Picture())(t)
	lines := polygons(t, p, func(g element) bool { return g.attr("stroke-dasharray") == "8 4" })
	half := polygons(t, p, func(g element) bool { return g.attr("fill-opacity") == "0.129" })
	require.Must(t, len(lines) == 1 && len(half) == 1 && len(half[0]) == 4,
		"%v and %v, want a line and a quadrangle", lines, half)
	for _, q := range lines[0] {
		off := a[0]*q[0] + a[1]*q[1] - c
		require.Check(t, math.Abs(off) <= 1e-3, "the line is %g off at %v", off, q)
	}
	on := 0
	for _, q := range half[0] {
		off := a[0]*q[0] + a[1]*q[1] - c
		require.Check(t, off >= -1e-2, "a corner at %v is outside by %g", q, off)
		on += lists.CountTrue(math.Abs(off) < 1e-2)
	}
	require.Equal(t, on, 2, "corners on the line")
}

// TestParts: what has a name can be pointed out where it is; points of a class, one of many,
// and what has none cannot.
func TestParts(t *testing.T) {
	t.Parallel()
	p := require.Value(figure.Plane{Format: figure.Format{Width: 400, Height: 300}, Limits: figure.Limits{XMin: -2, XMax: 2, YMin: -1, YMax: 1}, Marks: []figure.Mark{
		figure.Region{F: figure.Linear([2]float64{1, 0}, 0), Name: "f ≥ 0"},
		figure.Line{A: [2]float64{2, 0}, C: 1, Name: "f = 0"},
		figure.Arrow{To: [2]float64{1, 0.5}, Name: "step", Label: "w"},
		figure.Segment{To: [2]float64{1, 1}},
		figure.Dot{At: [2]float64{1, 0}, Class: 1, Name: "y = +1"},
		figure.Dot{At: [2]float64{-1, 0}, Class: 0, Ring: true, Name: "support vector"},
	}}.Picture())(t)
	parts := p.Parts()
	require.Must(t, len(parts) == 3, "%d parts: %+v", len(parts), parts)
	line := parts[0].Line
	require.Check(t, len(line) == 2 && line[0][0] == 0.5 && line[1][0] == 0.5 && (line[0][1] < -1) != (line[1][1] < -1) && (line[0][1] > 1) != (line[1][1] > 1),
		"the line x = 0.5 goes through %v", line)
	a := parts[1]
	require.Check(t, len(a.Names) == 2 && a.Names[1] == "w" && a.Line[1] == [2]float64{1, 0.5}, "the arrow is %+v", a)
	d := parts[2]
	require.Check(t, len(d.Line) == 1 && d.Line[0] == [2]float64{-1, 0}, "the ringed point is %+v", d)
	x := lists.Make(1000, func(i int) float64 { return float64(i + 1) })
	ch, err := figure.Chart{Format: figure.Format{Width: 400, Height: 300}, X: figure.Axis{Log: true}, Curves: []figure.Curve{{Name: "gap", X: x, Y: x}}}.Picture()
	require.NoError(t, err)
	if c := ch.Parts(); len(c) != 1 || len(c[0].Line) > 100 || c[0].Line[0] != [2]float64{1, 1} || c[0].Line[len(c[0].Line)-1] != [2]float64{1000, 1000} {
		t.Errorf("the curve is %+v", c)
	}
}
