package figure

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Layer is one model of an overlay. Its scene gives the model with its view and
// points.
type Layer struct {
	Name  string
	Scene Scene
}

// Overlay draws the boundaries of several models in one picture, over the regions
// on which all predict the same class. Up to six have a colour and a dash pattern
// of their own; more cannot be told apart and are thin lines without names, which
// are dense where the models agree. Where they do not predict the same class, the picture is grey and hatched; Disagree of the
// picture is the share of that area. Size, theme, grid, title and the points are
// those of the first layer's scene; so are the limits, unless they are zero: then
// every layer's points fit in. The views may differ, as models may be trained on
// different features, but not the names of their axes.
func Overlay(layers []Layer) (*Picture, error) {
	if len(layers) == 0 {
		return nil, errors.New("picture: there is no model to draw; choose at least one run")
	}
	crowd := len(layers) > len(dashes)
	s := layers[0].Scene
	for _, l := range layers {
		if l.Scene.Model == nil {
			return nil, fmt.Errorf("picture: %s has no model; leave it out", l.Name)
		}
		if a, b := s.View.Labels, l.Scene.View.Labels; a != b {
			return nil, fmt.Errorf("picture: %s is drawn over %s and %s, %s over %s and %s; overlay runs with the same axes", layers[0].Name, a[0], a[1], l.Name, b[0], b[1])
		}
	}
	if (s.Limits == Limits{}) {
		for _, l := range layers {
			s.Limits = s.Limits.Union(LimitsOf(l.Scene.Points, l.Scene.View))
		}
	}
	s, err := s.ready()
	if err != nil {
		return nil, err
	}
	sh := s.sheet()
	t := sh.theme

	var tr tracer
	d := disagreement{labels: make([][2]string, len(layers))}
	var names []string
	var lines []drawing
	sh.legend = s.classes(t)
	for i, l := range layers {
		one := l.Scene
		one.Limits, one.Width, one.Height, one.Grid = s.Limits, s.Width, s.Height, s.Grid
		if one, err = one.ready(); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		surf := newSurface(one.Model, one.View, s.Limits, s.Grid)
		style := draw.LineStyle{Color: t.Ink, Width: s.stroke() / 3}
		if !crowd {
			style = draw.LineStyle{Color: t.Line[i], Width: s.stroke(), Dashes: dashes[i]}
		}
		zero := surf.level(&tr, surf.f, 0, style)
		d.surfaces = append(d.surfaces, surf)
		d.labels[i] = [2]string{one.Model.Negative, one.Model.Positive}
		names = append(names, l.Name)
		lines = append(lines, zero.draw)
		if !crowd {
			sh.legend = append(sh.legend, lineEntry(l.Name, zero))
		} else if i == 0 {
			sh.legend = append(sh.legend, lineEntry(fmt.Sprintf("%d boundaries", len(layers)), zero))
		}
	}
	whose := strings.Join(names, ", ")
	if crowd {
		whose = fmt.Sprintf("%d models", len(layers))
	}
	low, high := oriented(&s, t.Side)
	d.palette = color.Palette{low[1], high[1], t.Differ[0], t.Differ[1]}
	share := d.share()
	sh.add(field{0, d.paint}.draw)
	sh.add(lines...)
	dots := marks{Scene: &s, theme: t, radius: max(1.2, 0.7*s.radius())}
	sh.add(dots.draw)
	if len(layers) > 1 {
		sh.legend = append(sh.legend, entry{"disagree (" + percent(share) + ")", hatch(t)})
	}
	sh.legend = append(sh.legend, dots.entries()...)

	sh.caption = fmt.Sprintf("Boundaries of %s over %s and %s.", whose, s.View.Labels[0], s.View.Labels[1])
	if len(layers) > 1 {
		sh.caption += fmt.Sprintf(" They predict different classes on %s of the area shown, which is hatched.", percent(share))
	}
	p := sh.picture()
	p.Disagree = share
	return p, nil
}

func percent(share float64) string {
	switch {
	case share > 0 && share < 0.001:
		return "below 0.1 %"
	case share < 0.1:
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// disagreement compares the predictions of several models on one grid.
type disagreement struct {
	surfaces []*surface
	labels   [][2]string // of f < 0, of f >= 0
	palette  color.Palette
}

// predicts says what is predicted for a decision value of every model: the index
// of the first model's label, or 2 where one disagrees.
func (d *disagreement) predicts(f func(i int) float64) uint8 {
	first := btoi(f(0) >= 0)
	want := d.labels[0][first]
	for i := 1; i < len(d.labels); i++ {
		if d.labels[i][btoi(f(i) >= 0)] != want {
			return 2
		}
	}
	return uint8(first)
}

// share is the part of the area on which the models disagree, by the centres of
// the cells.
func (d *disagreement) share() float64 {
	n, differ := d.surfaces[0].n, 0
	for j := range n {
		for i := range n {
			k := j*(n+1) + i
			differ += btoi(d.predicts(func(m int) float64 {
				f := d.surfaces[m].f
				return f[k] + f[k+1] + f[k+n+1] + f[k+n+2]
			}) == 2)
		}
	}
	return float64(differ) / float64(n*n)
}

// paint colours the regions; stripes make the disagreement visible without colour.
func (d *disagreement) paint(w, h int) image.Image {
	signs := make([]*image.Paletted, len(d.surfaces))
	for i, s := range d.surfaces {
		signs[i] = s.paint(s.f, w, h, d.palette, func(v float64) uint8 { return uint8(btoi(v >= 0)) })
	}
	img := image.NewPaletted(image.Rect(0, 0, w, h), d.palette)
	for k := range img.Pix {
		p := d.predicts(func(i int) float64 { return float64(signs[i].Pix[k]) - 0.5 })
		if p == 2 && (k%w+k/w)%8 < 2 {
			p = 3
		}
		img.Pix[k] = p
	}
	return img
}

// hatch is the sample of the region of disagreement.
func hatch(t *Theme) func(*draw.Canvas, vg.Point) {
	return func(c *draw.Canvas, at vg.Point) {
		r := vg.Rectangle{Min: vg.Point{X: at.X - 9, Y: at.Y - 6}, Max: vg.Point{X: at.X + 9, Y: at.Y + 6}}
		c.SetColor(t.Differ[0])
		c.Fill(r.Path())
		var p vg.Path
		for x := vg.Length(-9); x <= 0; x += 6 {
			p.Move(vg.Point{X: at.X + x, Y: r.Min.Y})
			p.Line(vg.Point{X: at.X + x + 12, Y: r.Max.Y})
		}
		c.SetLineStyle(draw.LineStyle{Color: t.Differ[1], Width: 1.6})
		c.Stroke(p)
		c.SetLineStyle(draw.LineStyle{Color: t.Rule, Width: 0.8})
		c.Stroke(r.Path())
	}
}
