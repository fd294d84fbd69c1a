package figure

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// CurveScene arranges points with values Y of a single feature: the feature on the horizontal axis
// and the value, named label, on the vertical one. The points of the scene have these two numbers
// as X, and its view shows them. m may be nil.
func CurveScene(m *ml.Model, points []ml.Point, feature, label string) Scene {
	b := newBounds()
	s := laidOut(m, points, label, [2]string{feature, label}, func(p ml.Point) [2]float64 {
		if m != nil {
			b.add(p.X[0], p.F) // the end of its residual
		}
		b.add(p.X[0], p.Y)
		return [2]float64{p.X[0], p.Y}
	})
	s.Limits = b.limits()
	return s
}

// FitScene arranges objects of any kind with values: the value, named label, on the horizontal axis
// and f(x) on the vertical one, with equal limits.
func FitScene(m *ml.Model, points []ml.Point, label string) Scene {
	b := newBounds()
	s := laidOut(m, points, label, [2]string{label, "f(x)"}, func(p ml.Point) [2]float64 {
		b.add(p.Y, p.Y)
		b.add(p.F, p.F)
		return [2]float64{p.Y, p.F}
	})
	s.Limits = b.limits()
	return s
}

func laidOut(m *ml.Model, points []ml.Point, label string, labels [2]string, at func(ml.Point) [2]float64) Scene {
	axes := [2][]float64{{1, 0}, {0, 1}}
	s := Scene{
		Model: m, Values: true, Label: label, Points: make([]ml.Point, len(points)), Classes: []string{},
		View: dataset.View{Center: []float64{0, 0}, Labels: labels, To: axes, Axes: axes, Exact: true},
	}
	for i, p := range points {
		place := at(p)
		p.X = place[:]
		s.Points[i] = p
	}
	return s
}

// ValueScene returns the scene of points with values without a model, and the function that draws
// it. v is over d's features. It returns an error for a label that is not a number.
func ValueScene(d *dataset.Data, v dataset.View) (Scene, Drawing, error) {
	values, err := d.Values()
	if err != nil {
		return Scene{}, nil, err
	}
	points := lists.Make(len(values), func(i int) ml.Point {
		return ml.Point{Row: i, X: d.X.RawRowView(i), Label: d.Classes[d.Y[i]], Y: values[i]}
	})
	if len(d.Features) == 1 {
		draw := func(_ context.Context, s Scene) (*Picture, error) { return ValueCurve(s) }
		return CurveScene(nil, points, d.Features[0], d.Label), draw, nil
	}
	return Scene{View: v, Points: points, Values: true, Label: d.Label, Classes: []string{}}, ValueSurface, nil
}

// ValueCurve draws a scene of CurveScene: f as a line, the points at their values, and a vertical
// residual from each training point to the line. Held-out points are hollow.
func ValueCurve(s Scene) (*Picture, error) {
	if s.Model != nil && len(s.Model.Features) != 1 {
		return nil, fmt.Errorf("picture: a curve is drawn of one feature, the model has %d; ValueSurface and ValueFit draw more", len(s.Model.Features))
	}
	p, err := s.valuePlane("Curve of f(x)")
	if err != nil {
		return nil, err
	}
	if s.Model != nil {
		for _, q := range s.drawn() {
			if !q.HeldOut {
				p.Marks = append(p.Marks, Segment{From: [2]float64{q.X[0], q.Y}, To: [2]float64{q.X[0], q.F}, Pen: Pen{Color: Muted, Thin: true}, Name: "residual t − f(x)"})
			}
		}
		way := s.curve(p.Limits, p.Width)
		way.Name = "f(x)"
		p.Marks = append(p.Marks, way)
	}
	p.Marks = append(p.Marks, s.valueDots()...)
	return p.Picture()
}

// ValueFit draws a scene of FitScene: predictions over values, with the diagonal on which they
// agree. Held-out points are hollow.
func ValueFit(s Scene) (*Picture, error) {
	if s.Model == nil {
		return nil, errors.New("picture: there is no model whose values could be drawn")
	}
	p, err := s.valuePlane("f(x), upwards, against the value of every point, which agree on the diagonal")
	if err != nil {
		return nil, err
	}
	p.Marks = append([]Mark{Line{A: [2]float64{1, -1}, Pen: Pen{Dash: Dashed}, Name: "f(x) = t"}}, s.valueDots()...)
	return p.Picture()
}

// valuePlane returns the common part of pictures of arranged values.
func (s *Scene) valuePlane(subject string) (Plane, error) {
	ready, err := s.ready()
	if err != nil {
		return Plane{}, err
	}
	*s = ready
	return Plane{
		Format: Format{Dark: s.Dark, Grey: s.Grey, LegendRows: s.LegendRows, Noted: s.Noted, Width: s.Width, Height: s.Height},
		X:      s.View.Labels[0], Y: s.View.Labels[1], Limits: s.Limits, Stretched: true, Caption: s.valueCaption(subject),
	}, nil
}

// drawn returns the points of Drawn.
func (s *Scene) drawn() []ml.Point {
	return lists.At(s.Points, s.Drawn())
}

// valueDots returns the points of an arranged scene as dots.
func (s *Scene) valueDots() (dots []Mark) {
	for _, q := range s.drawn() {
		d := Dot{At: [2]float64{q.X[0], q.X[1]}, Class: -1, Hollow: q.HeldOut, Name: "trained on"}
		switch {
		case s.Model == nil:
			d.Name = "" // there are no others
		case q.HeldOut:
			d.Name = "held out"
		}
		dots = append(dots, d)
	}
	return dots
}

// valueScale returns the range of the colours of a surface: that of the values and of f at the
// points.
func (s *Scene) valueScale(surf *surface) (lo, hi float64) {
	b := newBounds()
	for _, p := range s.Points {
		b.add(p.Y, p.Y)
		if s.Model != nil {
			b.add(p.F, p.F)
		}
	}
	if surf != nil && len(s.Points) == 0 {
		if lo, hi, ok := extent(surf.f); ok {
			b.add(lo, hi)
		}
	}
	if lo, hi = b.x[0], b.x[1]; !spread(lo, hi) {
		lo, hi = pad(lo, hi)
	}
	return lo, hi
}

// ValueSurface draws a regression over a plane: f as a heat map with labelled level lines, and the
// points in the colours of their values. Held-out points are squares. Without a model it shows only
// the points, larger for larger values.
func ValueSurface(ctx context.Context, s Scene) (*Picture, error) {
	if s.Model != nil && len(s.Model.Features) != len(s.View.Center) {
		return nil, fmt.Errorf("picture: the view has %d features and the model %d; make the view from the model's features", len(s.View.Center), len(s.Model.Features))
	}
	s, err := s.onPlane()
	if err != nil {
		return nil, err
	}
	sh := s.sheet()
	sh.caption = s.valueCaption("Surface of f(x), its level lines, and the points in the colours of their values")
	t := sh.theme
	var surf *surface
	if s.Model != nil {
		if surf, err = newSurface(ctx, s.Model, s.View, s.Limits, s.Grid); err != nil {
			return nil, err
		}
	}
	lo, hi := s.valueScale(surf)
	p := ramp(t.Value[0], t.Value[1], t.Value[2])
	sh.bar = &bar{palette: p, lo: lo, hi: hi, name: s.Label, open: surf != nil}
	if surf != nil {
		sh.add(smooth(surf, surf.f, p, lo, hi).draw)
	}
	sh.add(func(c *draw.Canvas, m mapping) {
		e := sh.easel(c, m)
		if surf != nil {
			values := lists.Map(ticks(lo, hi, 8), func(l tick) float64 { return l.value })
			e.contours(surf, values, Pen{Thin: true}.style(t, e.thick), false)
		}
		index, r := scale(p, lo, hi), s.radius()
		for _, q := range s.drawn() {
			at := m.at(s.View.Point(q.X))
			if !c.Contains(at) {
				continue
			}
			k := index(q.Y)
			size := r
			if surf == nil { // otherwise only colour would show the value
				size *= vg.Length(0.6 + 0.9*float64(k)/float64(len(p)-1))
			}
			valueMark(c, t, at, size, p[k], q.HeldOut)
			e.ink = append(e.ink, blot{at, 3})
		}
		e.write()
	})
	sh.legend = s.valueLegend(t, p[len(p)/2], surf != nil)
	return sh.picture(), nil
}

func valueMark(c *draw.Canvas, t *Theme, at vg.Point, r vg.Length, fill color.Color, held bool) {
	class := lists.Either(held, 2, 0)
	type key struct {
		class int
		r     vg.Length
		fill  color.Color
		ink   color.NRGBA
	}
	stamp(c, at, square(1.3*r+1.5), key{class, r, fill, t.Ink}, func(c *draw.Canvas, at vg.Point) {
		p := shape(class, at, r)
		c.SetColor(fill)
		c.Fill(p)
		stroke(c, draw.LineStyle{Color: t.Ink, Width: max(0.6, 0.22*r)}, p)
	})
}

func (s *Scene) valueLegend(t *Theme, middle color.Color, model bool) (es []entry) {
	trained, held := 0, 0
	for _, q := range s.Points {
		trained += btoi(!q.HeldOut)
		held += btoi(q.HeldOut)
	}
	what := lists.Either(t == &Dark, "larger and brighter: higher", "larger and darker: higher")
	if model {
		es = append(es, entry{"f(x) = the number on it", line(Pen{Thin: true}.style(t, sampleThick))})
		what = "point in the colour of its value"
	}
	for _, of := range []struct {
		n    int
		name string
		held bool
	}{{trained, what, false}, {held, "held out", true}} {
		if of.n > 0 {
			es = append(es, entry{of.name, func(c *draw.Canvas, at vg.Point) { valueMark(c, t, at, 4.5, middle, of.held) }})
		}
	}
	return es
}

// valueCaption describes a picture of values in a few sentences.
func (s *Scene) valueCaption(subject string) string {
	var b strings.Builder
	if s.Model == nil {
		subject = "Points with values"
	}
	b.WriteString(subject)
	if s.Model != nil {
		fmt.Fprintf(&b, ", %s kernel", kernelLabel(s.Model))
	}
	if l := s.View.Labels; l[0] != "" && l[1] != "" {
		fmt.Fprintf(&b, ", over %s and %s", l[0], l[1])
	}
	b.WriteString(".")
	var train, held struct {
		n    int
		sum  float64
		most float64
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		lo, hi = min(lo, p.Y), max(hi, p.Y)
		of := lists.Either(p.HeldOut, &held, &train)
		of.n++
		of.sum += (p.Y - p.F) * (p.Y - p.F)
		of.most = max(of.most, math.Abs(p.Y-p.F))
	}
	if n := len(s.Points); n > 0 {
		fmt.Fprintf(&b, " %s, %s from %s to %s.", plural(n, "point"), s.Label, param.Digits(lo, 4), param.Digits(hi, 4))
	}
	if s.Model != nil && train.n > 0 {
		fmt.Fprintf(&b, " Mean squared error %s over %s, the largest residual %s.", short(train.sum/float64(train.n)), plural(train.n, "training point"), short(train.most))
	}
	if s.Model != nil && held.n > 0 {
		fmt.Fprintf(&b, " Held out: %s over %s, the largest %s.", short(held.sum/float64(held.n)), plural(held.n, "point"), short(held.most))
	}
	if note := s.note(); note != "" {
		b.WriteString(" " + note)
	}
	return b.String()
}

// ValueOverlay draws the curves of several regressions of one variable, with the points of the
// first scene. The scenes must have the same feature and arrangement. More than six curves cannot
// be distinguished and are thin lines without names.
func ValueOverlay(layers []Layer) (*Picture, error) {
	if len(layers) == 0 {
		return nil, errors.New("picture: there is no curve to draw; choose at least one run")
	}
	crowd := len(layers) > len(dashes)
	first := layers[0].Scene
	p, err := first.valuePlane("Curves of f(x)")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, q := range first.drawn() {
		p.Marks = append(p.Marks, Dot{At: [2]float64{q.X[0], q.X[1]}, Class: -1, Hollow: q.HeldOut})
	}
	colors := []Color{Ink, Orange, Green, Magenta, Muted, Blue}
	for i, l := range layers {
		if m := l.Scene.Model; m == nil || m.Rule != ml.Value || len(m.Features) != 1 || l.Scene.View.Labels != first.View.Labels {
			return nil, fmt.Errorf("picture: %s is not a curve over %s", l.Name, p.X)
		}
		way := l.Scene.curve(p.Limits, p.Width)
		way.Name, way.Pen = fmt.Sprintf("%d curves", len(layers)), Pen{Thin: true}
		if !crowd {
			way.Name, way.Pen = l.Name, Pen{Color: colors[i], Dash: Dash(i)}
		}
		p.Marks, names = append(p.Marks, way), append(names, l.Name)
	}
	if p.Caption = fmt.Sprintf("Curves of f(x) over %s: %s.", p.X, strings.Join(names, ", ")); crowd {
		p.Caption = fmt.Sprintf("Curves of f(x) over %s of %d models.", p.X, len(layers))
	}
	return p.Picture()
}

// curve returns f across the picture, in n steps.
func (s *Scene) curve(l Limits, n int) Path {
	xs := steps(l.XMin, l.XMax, n)
	f := s.Model.Decisions(mat.NewDense(len(xs), 1, slices.Clone(xs)))
	bound(f)
	way := Path{Plain: true}
	for i, x := range xs {
		way.Points = append(way.Points, [2]float64{x, f[i]})
	}
	return way
}
