package figure

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Boundary draws a model. For several machines it shows the region of each class, the lines between
// them and the points, but neither margins nor slack, since every machine has its own.
//
// For a model with two sides it shows pale regions (darker outside the margin) or the heat map of
// f, the boundary f = 0 as a solid line, the margins or targets f = ±1 as dashed lines, and the
// points. Colour and shape give a point's class; support vectors have rings by kind that grow with
// their weight; held-out points are hollow and misclassified ones crossed out.
func Boundary(ctx context.Context, s Scene) (*Picture, error) {
	if s.Model == nil {
		return nil, errors.New("picture: there is no model to draw; Scatter draws points alone")
	}
	s, err := s.onPlane()
	if err != nil {
		return nil, err
	}
	sh := s.sheet()
	t := sh.theme
	surf, err := newSurface(ctx, s.Model, s.View, s.Limits, s.Grid)
	if err == nil {
		surf, err = surf.refined(ctx, s.Model, s.View, s.Points, s.refinement())
	}
	if err != nil {
		return nil, err
	}
	if !s.sides() {
		return s.regions(sh, surf), nil
	}

	if s.Heat {
		low, high := oriented(&s, t.Heat)
		p := ramp(low, t.Zero, high)
		sh.bar = heatBar(p)
		if !s.hides("regions") {
			sh.add(smooth(surf, surf.f, p, -heatScale, heatScale).draw)
		}
	} else if !s.hides("regions") {
		low, high := oriented(&s, t.Side)
		p := color.Palette{low[1], low[0], high[0], high[1]} // four colours take two bits per pixel
		if slices.ContainsFunc(surf.f, math.IsNaN) {
			p = append(p, t.Paper)
		}
		sh.add(field{paint: func(w, h int) *image.Paletted {
			return surf.paint(surf.f, w, h, p, func(v float64) uint8 {
				switch {
				case v >= 1:
					return 3
				case v >= 0:
					return 2
				case v > -1:
					return 1
				case v <= -1:
					return 0
				}
				return 4 // NaN
			})
		}, bands: func(c *draw.Canvas) { surf.bands(c, surf.f, p, -1, 0, 1) }}.draw)
	}

	var tr tracer
	thick := s.stroke()
	zero := surf.level(&tr, surf.f, 0, draw.LineStyle{Color: t.Ink, Width: thick})
	edge := draw.LineStyle{Color: t.Ink, Width: thick * 0.5, Dashes: []vg.Length{2.4 * thick, 1.6 * thick}}
	below, above := surf.level(&tr, surf.f, -1, edge), surf.level(&tr, surf.f, 1, edge)

	dots := marks{Scene: &s, theme: t, rings: true, cores: s.Cores, radius: s.radius()}
	if s.Slack {
		dots.surface = surf
	}
	if dots.radius < 2.5 { // markers of a crowd would hide the boundary
		sh.add(append(append(s.visible("margin", below, above), dots.draw), s.visible("boundary", zero)...)...)
	} else {
		sh.add(append(append(s.visible("margin", below, above), s.visible("boundary", zero)...), dots.draw)...)
	}

	if s.Waits {
		s.say(sh, zero, below, above)
	}
	sh.legend = append(s.classes(t), lineEntry("f = 0", zero))
	if len(below.lines)+len(above.lines) > 0 {
		sh.legend = append(sh.legend, entry{"f = ±1", line(edge)})
	}
	if s.Layers {
		low, high := oriented(&s, t.Side)
		sh.legend = append(sh.legend, regionsEntry(t, low[1], high[1]))
	}
	sh.legend = append(sh.legend, dots.entries()...)
	sh.parts = func() []Part {
		return slices.Concat(zero.parts("f = 0", s.Limits), below.parts("f = ±1", s.Limits), above.parts("f = ±1", s.Limits), s.supports())
	}
	return sh.picture(), nil
}

// regionsEntry returns the legend entry of the regions of two classes.
func regionsEntry(t *Theme, low, high color.Color) entry {
	return entry{regionsName, func(c *draw.Canvas, at vg.Point) {
		for k, clr := range []color.Color{low, high} {
			x := at.X - 9 + 9*vg.Length(k)
			c.SetColor(clr)
			c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: at.Y - 6}, Max: vg.Point{X: x + 9, Y: at.Y + 6}}.Path())
		}
		stroke(c, draw.LineStyle{Color: t.Rule, Width: 0.8}, vg.Rectangle{Min: vg.Point{X: at.X - 9, Y: at.Y - 6}, Max: vg.Point{X: at.X + 9, Y: at.Y + 6}}.Path())
	}}
}

// heatBar returns the colour bar of f.
func heatBar(p color.Palette) *bar {
	return &bar{palette: p, lo: -heatScale, hi: heatScale, name: "f(x)", open: true}
}

// lineEntry returns the legend entry of a level line, even if the line is out of view.
func lineEntry(name string, l level) entry {
	if len(l.lines) == 0 {
		name += " (not in view)"
	}
	return entry{name, line(l.style)}
}

// stroke returns the width of the boundary line, wide enough for a projector.
func (s *Scene) stroke() vg.Length {
	side := float64(min(s.Width, s.Height)) / zoom(s.Width, s.Height)
	return vg.Length(min(max(side/200, 1.3), 4))
}

// refinement returns the number of kernel evaluations for lines narrower than the grid.
func (s *Scene) refinement() int {
	if s.Grid <= coarseGrid {
		return 4 << 20
	}
	return 64 << 20
}
