package figure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

func drawComponents(ctx context.Context, r Run, _ int) (*Picture, error) {
	s, err := r.Scene(ctx, r.Result.Model)
	if err != nil {
		return nil, err
	}
	c, err := r.compared(ctx)
	if err != nil {
		return nil, err
	}
	return ComponentMap(ctx, c, s)
}

// ComponentMap shows objects that are not vectors in the plane of their first two kernel principal
// components, fitted to the training set. Classes, support vectors and errors are marked as in
// Boundary, numeric targets as in ValueSurface. s is a scene of the run with a point for each row
// of the data; c holds the objects to show.
func ComponentMap(ctx context.Context, c *ml.Compared, s Scene) (*Picture, error) {
	var fit []int
	points := make([]ml.Point, len(c.Rows))
	for a, i := range c.Rows {
		if points[a] = s.Points[i]; !points[a].HeldOut {
			fit = append(fit, a)
		}
	}
	pc, err := kernel.PrincipalComponents(c.Values, fit)
	if err != nil {
		return nil, err
	}
	for a := range points {
		points[a].X = pc.At[a][:]
	}
	plane := [2][]float64{{1, 0}, {0, 1}}
	s.View = dataset.View{Center: []float64{0, 0}, Exact: true, To: plane, Axes: plane}
	for k, share := range pc.Share {
		s.View.Labels[k] = fmt.Sprintf("component %d: %.0f %% of the variance", k+1, 100*share)
	}
	s.Points, s.Limits = points, Limits{}
	caption := fmt.Sprintf("The objects in the plane of the two largest principal components in the kernel's feature space, which hold %.0f\u00a0%% and %.0f\u00a0%% of the variance of those trained on.",
		100*pc.Share[0], 100*pc.Share[1])
	note := ""
	if n := len(c.Rows); n < c.Of {
		note = fmt.Sprintf("%d of %d objects.", n, c.Of)
	}
	if s.Values {
		s.Model = nil // f has no values over this plane
		p, err := ValueSurface(ctx, s)
		if err != nil {
			return nil, err
		}
		_, told, _ := strings.Cut(p.Caption, ". ")
		p.Caption = joined(caption, told, note)
		return p, nil
	}
	if s, err = s.ready(); err != nil {
		return nil, err
	}
	sh := s.sheet()
	sh.aspect = widened
	axes := draw.LineStyle{Color: sh.theme.Rule, Width: 1}
	sh.add(func(d *draw.Canvas, m mapping) {
		m.stroke(d, axes, []vg.Point{m.at(m.XMin, 0), m.at(m.XMax, 0)})
		m.stroke(d, axes, []vg.Point{m.at(0, m.YMin), m.at(0, m.YMax)})
	})
	dots := marks{Scene: &s, theme: sh.theme, rings: true, cores: s.Cores, radius: s.radius()}
	sh.add(dots.draw)
	sh.legend = append(s.classes(sh.theme), dots.entries()...)
	_, told, _ := strings.Cut(sh.caption, ". ")
	sh.note, sh.caption = note, joined(caption, told, note)
	return sh.picture(), nil
}

// joined joins sentences, skipping empty ones.
func joined(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}
