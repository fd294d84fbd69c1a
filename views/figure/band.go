package figure

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
)

// bandLevel is the fraction of samples that predict the positive class at the lower edge of the
// band; at the upper edge it is 1 - bandLevel.
const bandLevel = 0.05

// Band draws how far the data determine the boundary of a two-class model: the boundary as a thick
// line, those of models on bootstrap samples as thin ones, and, hatched, the band in which between
// 5 % and 95 % of these predict the positive class. Ring is the row, from 1, of a point with a
// ring, such as the one whose removal moves the boundary most; 0: none.
type Band struct {
	Scene
	Sampled []*ml.Model
	Ring    int
}

// Picture draws the band. Its Disagree is the share of the area covered by the band.
func (b Band) Picture(ctx context.Context) (*Picture, error) {
	if b.Model == nil || len(b.Sampled) == 0 {
		return nil, errors.New("picture: there is no model, or no sample, to draw")
	}
	s, err := b.onPlane()
	if err != nil {
		return nil, err
	}
	if !s.sides() {
		return nil, errors.New("picture: a band is drawn of one boundary")
	}
	sh := s.sheet()
	t := sh.theme
	surf, err := newSurface(ctx, s.Model, s.View, s.Limits, s.Grid)
	if err != nil {
		return nil, err
	}
	var tr tracer
	thin := draw.LineStyle{Color: translucent(t.Ink, 0.35), Width: s.stroke() / 3}
	share := make([]float64, len(surf.f)) // fraction of samples that predict the positive class
	var lines []drawing
	var last level
	for _, m := range b.Sampled {
		one, err := newSurface(ctx, m, s.View, s.Limits, s.Grid)
		if err != nil {
			return nil, err
		}
		for i, f := range one.f {
			share[i] += float64(btoi(f >= 0)) / float64(len(b.Sampled))
		}
		last = one.level(&tr, one.f, 0, thin)
		lines = append(lines, last.draw)
	}
	low, high := oriented(&s, t.Side)
	p := color.Palette{low[1], t.Differ[0], high[1], t.Differ[1]}
	index := func(v float64) uint8 {
		return uint8(btoi(v >= bandLevel) + btoi(v > 1-bandLevel))
	}
	sh.add(field{paint: func(w, h int) *image.Paletted {
		img := surf.paint(share, w, h, p, index)
		for k, v := range img.Pix {
			if v == 1 && (k%w+k/w)%8 < 2 {
				img.Pix[k] = 3
			}
		}
		return img
	}}.draw)
	inside := 0
	for _, v := range share {
		inside += btoi(index(v) == 1)
	}
	area := float64(inside) / float64(len(share))

	zero := surf.level(&tr, surf.f, 0, draw.LineStyle{Color: t.Ink, Width: s.stroke()})
	sh.add(lines...)
	dots := marks{Scene: &s, theme: t, radius: max(1.2, 0.7*s.radius())}
	sh.add(zero.draw, dots.draw)
	sh.legend = append(
		s.classes(t), lineEntry("f = 0", zero), lineEntry(plural(len(b.Sampled), "bootstrap sample"), last),
		entry{"5 to 95 % of them (" + percent(area) + ")", hatch(t, t.Differ[0], true)},
	)
	sh.legend = append(sh.legend, dots.entries()...)
	sh.caption = fmt.Sprintf("The boundary over %s and %s with the boundaries of %s. Hatched: between 5\u00a0%% and 95\u00a0%% of these predict %s (%s of the area).",
		s.View.Labels[0], s.View.Labels[1], plural(len(b.Sampled), "bootstrap sample"), s.Model.Classes[1], percent(area))
	for _, q := range s.Points {
		if q.Row+1 != b.Ring {
			continue
		}
		sh.add(func(c *draw.Canvas, m mapping) {
			if at := m.at(s.View.Point(q.X)); c.Contains(at) {
				ring(c, t, ml.Free, at, dots.radius, 1)
			}
		})
		sh.legend = append(sh.legend, entry{fmt.Sprintf("row %d: moves it most when left out", b.Ring), func(c *draw.Canvas, at vg.Point) { ring(c, t, ml.Free, at, 3.6, 1) }})
		sh.caption += fmt.Sprintf(" Row %d is ringed: without it the boundary moves most.", b.Ring)
	}
	pic := sh.picture()
	pic.Disagree = area
	return pic, nil
}

// BandOf returns the Band of a two-class run whose model has a plane.
func BandOf(r Run, s *ml.Sensitivity) (Band, error) {
	points, err := s.Model.Points(r.Data, r.Spec)
	if err != nil {
		return Band{}, err
	}
	b := Band{Scene: r.Look, Sampled: s.Sampled}
	b.Model, b.Points, b.Classes = s.Model, points, r.Data.Classes
	if len(s.Removals) > 0 && s.Removals[0].Moved > 0 && !s.Removals[0].Only {
		b.Ring = s.Removals[0].Row
	}
	var flat bool
	if b.View, flat = s.Model.View(); !flat {
		return Band{}, errors.New("picture: the model has no plane of its own")
	}
	return b, nil
}
