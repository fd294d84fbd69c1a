package figure

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Layer is a model of an overlay, given by its scene.
type Layer struct {
	Name  string
	Scene Scene
}

// Overlay draws the boundaries of several models in one picture, over the regions in which all of
// them predict the same class. Up to six have colours and dash patterns; more cannot be
// distinguished and are thin lines without names, dense where the models agree. Where predictions
// differ, the picture is grey and hatched; its Disagree is the share of that area. Points that all
// models held out but predict differently have a ring. Size, theme, grid, title and points come
// from the first layer's scene, and so do the limits; zero limits fit the points of all layers. The
// views may differ, since models may be trained on different features, but not the names of their
// axes.
func Overlay(ctx context.Context, layers []Layer) (*Picture, error) {
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
	var d disagreement
	var names []string
	var lines []drawing
	sh.legend = s.classes(t)
	for i, l := range layers {
		one := l.Scene
		one.Limits, one.Width, one.Height, one.Grid = s.Limits, s.Width, s.Height, s.Grid
		if one, err = one.onPlane(); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		surf, err := newSurface(ctx, one.Model, one.View, s.Limits, s.Grid)
		if err != nil {
			return nil, err
		}
		style := draw.LineStyle{Color: t.Ink, Width: s.stroke() / 3}
		if !crowd {
			style = draw.LineStyle{Color: t.Line[i], Width: s.stroke(), Dashes: dashes[i]}
		}
		a := answers{surface: surf, labels: one.Model.Classes}
		var boundary level
		if one.sides() {
			boundary = surf.level(&tr, surf.f, 0, style)
		} else {
			a.regions = newRegions(surf, one.Model)
			boundary = a.regions.borders(&tr, style)
		}
		d.layers = append(d.layers, a)
		names = append(names, l.Name)
		lines = append(lines, boundary.draw)
		if !crowd {
			sh.legend = append(sh.legend, lineEntry(l.Name, boundary))
		} else if i == 0 {
			sh.legend = append(sh.legend, lineEntry(fmt.Sprintf("%d boundaries", len(layers)), boundary))
		}
	}
	whose := strings.Join(names, ", ")
	if crowd {
		whose = fmt.Sprintf("%d models", len(layers))
	}
	if s.sides() {
		low, high := oriented(&s, t.Side)
		d.palette = color.Palette{low[1], high[1]}
	} else {
		d.palette = s.regionColors(t)
	}
	d.palette = append(d.palette, t.Differ[0], t.Differ[1])
	share := d.share()
	sh.add(field{paint: d.paint}.draw)
	sh.add(lines...)
	dots := marks{Scene: &s, theme: t, radius: max(1.2, 0.7*s.radius())}
	sh.add(dots.draw)
	if len(layers) > 1 {
		sh.legend = append(sh.legend, entry{"disagree (" + percent(share) + ")", hatch(t, t.Differ[0], true)})
	}
	sh.legend = append(sh.legend, dots.entries()...)
	differ, held := heldApart(layers)
	around := func(c *draw.Canvas, at vg.Point, r vg.Length) { ring(c, t, ml.Free, at, r, 0.6) }
	if len(differ) > 0 {
		sh.add(func(c *draw.Canvas, m mapping) {
			for _, i := range differ {
				if at := m.at(s.View.Point(s.Points[i].X)); c.Contains(at) {
					around(c, at, dots.radius)
				}
			}
		})
		sh.legend = append(sh.legend, entry{fmt.Sprintf("held out, disagreed on (%d)", len(differ)), func(c *draw.Canvas, at vg.Point) { around(c, at, 3.6) }})
	}

	sh.caption = fmt.Sprintf("Boundaries of %s over %s and %s.", whose, s.View.Labels[0], s.View.Labels[1])
	if len(layers) > 1 {
		sh.caption += fmt.Sprintf(" They predict different classes on %s of the area shown, which is hatched.", percent(share))
	}
	if held > 0 && len(layers) > 1 {
		sh.caption += fmt.Sprintf(" Of %d points that all held out, they predict different classes for %d.", held, len(differ))
	}
	p := sh.picture()
	p.Disagree = share
	return p, nil
}

// heldApart returns the indices of the points that all models held out and predict differently,
// and the number that all held out; nothing if the scenes differ in their points, held-out points
// or classes.
func heldApart(layers []Layer) (differ []int, held int) {
	first := layers[0].Scene
	classes := func(m *ml.Model) []string { return slices.Sorted(slices.Values(m.Classes)) }
	for _, l := range layers {
		if len(l.Scene.Points) != len(first.Points) || !slices.Equal(classes(l.Scene.Model), classes(first.Model)) {
			return nil, 0
		}
	}
	for i, p := range first.Points {
		same := true
		for _, l := range layers {
			q := l.Scene.Points[i]
			if q.HeldOut != p.HeldOut || q.Label != p.Label || !slices.Equal(q.X, p.X) {
				return nil, 0
			}
			same = same && q.Predicted == p.Predicted
		}
		held += btoi(p.HeldOut)
		if p.HeldOut && !same {
			differ = append(differ, i)
		}
	}
	return differ, held
}

// percent formats a share as the pages do, except that it distinguishes a small one from 0.0 %.
func percent(share float64) string {
	if 0 < share && share < 0.001 {
		return "below 0.1\u00a0%"
	}
	return param.Percent(share)
}

// answers holds the predictions of one model on the grid, as indices into its labels.
type answers struct {
	*surface
	regions *regions // nil for a model with two sides
	labels  []string
}

// paint returns an image of w x h pixels of the indices.
func (a answers) paint(w, h int, p color.Palette) *image.Paletted {
	if a.regions != nil {
		return a.regions.paint(w, h, p, 0)
	}
	return a.surface.paint(a.f, w, h, p, func(v float64) uint8 { return uint8(btoi(v >= 0)) })
}

// cell returns the index at the centre of the cell above and to the right of node k.
func (a answers) cell(k int, scores []float64) int {
	sum := func(f []float64) float64 { return f[k] + f[k+1] + f[k+a.n+1] + f[k+a.n+2] }
	if a.regions == nil {
		return btoi(sum(a.f) >= 0)
	}
	return max(a.regions.mixed(scores[:len(a.scores)], func(f []float64) float64 { return sum(f) / 4 }), 0)
}

// disagreement compares the predictions of several models on one grid.
type disagreement struct {
	layers  []answers
	palette color.Palette // of the first model's labels, of disagreement, of stripes
}

// predicts returns the index that all models answer, or the number of the first model's labels if
// they disagree.
func (d *disagreement) predicts(answer func(i int) int) uint8 {
	first := answer(0)
	labels := d.layers[0].labels
	for i, l := range d.layers[1:] {
		if l.labels[answer(i+1)] != labels[first] {
			return uint8(len(labels))
		}
	}
	return uint8(first)
}

// share returns the share of the area on which the models disagree, sampled at the centres of the
// cells.
func (d *disagreement) share() float64 {
	n, differ := d.layers[0].n, 0
	scores := make([]float64, slices.Max(lists.Map(d.layers, func(l answers) int { return len(l.scores) })))
	for j := range n {
		for i := range n {
			k := j*(n+1) + i
			differ += btoi(int(d.predicts(func(m int) int { return d.layers[m].cell(k, scores) })) == len(d.layers[0].labels))
		}
	}
	return float64(differ) / float64(n*n)
}

// paint colours the regions; stripes make the disagreement visible without colour.
func (d *disagreement) paint(w, h int) *image.Paletted {
	images := lists.Map(d.layers, func(l answers) *image.Paletted { return l.paint(w, h, d.palette) })
	img := image.NewPaletted(image.Rect(0, 0, w, h), d.palette)
	for k := range img.Pix {
		p := d.predicts(func(i int) int { return int(images[i].Pix[k]) })
		if int(p) == len(d.layers[0].labels) && (k%w+k/w)%8 < 2 {
			p++
		}
		img.Pix[k] = p
	}
	return img
}

// hatch returns the sample of a hatched region with rising or falling stripes.
func hatch(t *Theme, ground color.Color, rises bool) func(*draw.Canvas, vg.Point) {
	return func(c *draw.Canvas, at vg.Point) {
		r := vg.Rectangle{Min: vg.Point{X: at.X - 9, Y: at.Y - 6}, Max: vg.Point{X: at.X + 9, Y: at.Y + 6}}
		c.SetColor(ground)
		c.Fill(r.Path())
		from, to := r.Min.Y, r.Max.Y
		if !rises {
			from, to = to, from
		}
		var p vg.Path
		for x := vg.Length(-9); x <= 0; x += 6 {
			p = polyline(p, vg.Point{X: at.X + x, Y: from}, vg.Point{X: at.X + x + 12, Y: to})
		}
		stroke(c, draw.LineStyle{Color: t.Differ[1], Width: 1.6}, p)
		stroke(c, draw.LineStyle{Color: t.Rule, Width: 0.8}, r.Path())
	}
}
