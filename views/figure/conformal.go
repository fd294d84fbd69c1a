package figure

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
)

// Conformal draws the factor c(x) of a machine's conformal kernel as a heat map, with its cores,
// small points and the boundary f = 0. If c takes both signs, the colours diverge at c = 0, marked
// by a dotted line.
func Conformal(ctx context.Context, s Scene) (*Picture, error) {
	if s.Model == nil || s.Machine < 0 || s.Machine >= len(s.Model.Machines) || s.Model.Machines[s.Machine].Map == nil {
		return nil, errors.New("picture: the model has no conformal map; train it with one")
	}
	s, err := s.onPlane()
	if err != nil {
		return nil, err
	}
	sh := s.sheet()
	t := sh.theme
	surf, err := newSurface(ctx, s.Model, s.View, s.Limits, s.Grid)
	if err != nil {
		return nil, err
	}
	surf.f, surf.c = surf.scores[s.Machine], surf.maps[s.Machine]
	lo, hi, within := surf.factors(&s)
	where := lists.Either(within, "at the points", "in the area shown")
	whose := ""
	if len(s.Model.Machines) > 1 {
		whose = " of " + s.Model.ScoreNames()[s.Machine]
		s.Points = slices.Clone(s.Points)
		for i := range s.Points { // the cores of this machine only
			p := &s.Points[i]
			p.Core = p.Core && slices.Contains(s.Model.Machines[s.Machine].CoreRows, p.Row)
		}
	}
	sh.caption = fmt.Sprintf("Conformal factor c(x)%s, from %s to %s %s. %s", whose, short(lo), short(hi), where, sh.caption)
	p := ramp(t.Factor[0], t.Zero, t.Factor[1])
	signs := lo < 0 && hi > 0
	switch {
	case signs:
		hi = math.Max(-lo, hi)
		lo = -hi
	case hi <= 0 && lo < 0:
		p = p[:41]
	default:
		p = p[40:]
	}
	if hi-lo <= 1e-9*math.Max(math.Abs(lo), math.Abs(hi)) { // constant: give the colour bar a range
		room := lists.Either(lo == 0, 1, math.Max(0.5*math.Abs(lo), 1e-300))
		lo, hi = lo-room, hi+room
	}

	var tr tracer
	thick := s.stroke()
	zero := surf.level(&tr, surf.f, 0, draw.LineStyle{Color: t.Ink, Width: thick})
	dots := marks{Scene: &s, theme: t, cores: true, radius: max(1.2, 0.62*s.radius())}
	sh.bar = &bar{palette: p, lo: lo, hi: hi, name: "c(x)", open: within}
	sh.add(smooth(surf, surf.c, p, lo, hi).draw)
	sh.legend = append(s.classes(t), lineEntry("f = 0", zero))
	if signs {
		turn := surf.level(&tr, surf.c, 0, draw.LineStyle{Color: t.Ink, Width: thick * 0.5, Dashes: []vg.Length{1.5, 3}})
		sh.add(turn.draw)
		sh.legend = append(sh.legend, entry{"c = 0", line(turn.style)})
	}
	sh.add(zero.draw, dots.draw)
	sh.legend = append(sh.legend, dots.entries()...)
	return sh.picture(), nil
}

// smooth returns a heat map of f.
func smooth(s *surface, f []float64, p color.Palette, lo, hi float64) field {
	return field{cells: s.n, paint: func(w, h int) *image.Paletted { return s.paint(f, w, h, p, scale(p, lo, hi)) }}
}

// factors returns the range of c at the points, where the data are; c may be far larger in an empty
// corner. within is false if there are no points: the range is then that of the whole picture.
func (s *surface) factors(sc *Scene) (lo, hi float64, within bool) {
	var c []float64
	for _, p := range sc.Points {
		x, y := s.grid(sc.View.Point(p.X))
		if v, ok := s.at(s.c, x, y); ok {
			c = append(c, v)
		}
	}
	if lo, hi, ok := extent(c); ok {
		return lo, hi, true
	}
	if lo, hi, ok := extent(s.c); ok {
		return lo, hi, false
	}
	return 0, 0, false
}
