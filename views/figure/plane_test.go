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

// The outlines of a region with a hole run in opposite directions: areas add up to the ring's.
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
