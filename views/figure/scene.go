package figure

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// Scene says what a picture shows. The zero value of every field but Model and
// View is a good choice.
type Scene struct {
	Model  *ml.Model
	Points []ml.Point   // of Model.Points; may be empty
	View   dataset.View // over the model's features
	// Classes lists the labels in the data set's order, which decides their colours
	// and shapes. nil: the labels of Points, sorted.
	Classes []string
	// Limits are the edges of the picture; the zero value takes LimitsOf.
	Limits Limits

	Heat  bool // f as a heat map with a colour bar, rather than pale regions
	Slack bool // the way from points inside the margin or beyond to their own margin
	Cores bool // the cores of the conformal map

	Title string
	Dark  bool
	// Width and Height are in CSS pixels, 80 to 4000; 0 takes 640 and 520. Below
	// 240 x 180 the picture is all frame, without axes and legend.
	Width, Height int
	// Grid is the number of cells per axis on which f is evaluated, 8 to 1000; 0
	// takes 160. 80 is enough while something is being dragged.
	Grid int
}

// ready checks the scene and fills in what was left open.
func (s Scene) ready() (Scene, error) {
	if len(s.View.Center) == 0 {
		return s, errors.New("picture: the view is missing; make one with dataset.ColumnView or dataset.PCAView")
	}
	if s.Model != nil && len(s.Model.Features) != len(s.View.Center) {
		return s, fmt.Errorf("picture: the view has %d features and the model %d; make the view from the model's features", len(s.View.Center), len(s.Model.Features))
	}
	for _, p := range s.Points {
		if len(p.X) != len(s.View.Center) {
			return s, fmt.Errorf("picture: row %d has %d features and the view %d; take both from the same model", p.Row, len(p.X), len(s.View.Center))
		}
	}
	if s.Width == 0 {
		s.Width = 640
	}
	if s.Height == 0 {
		s.Height = 520
	}
	if s.Grid == 0 {
		s.Grid = 160
	}
	if s.Width < 80 || s.Width > 4000 || s.Height < 80 || s.Height > 4000 {
		return s, fmt.Errorf("picture: the size is %d x %d pixels; use 80 to 4000 each way", s.Width, s.Height)
	}
	if s.Grid < 8 || s.Grid > 1000 {
		return s, fmt.Errorf("picture: the grid has %d cells per axis; use 8 to 1000", s.Grid)
	}
	if (s.Limits == Limits{}) {
		s.Limits = LimitsOf(s.Points, s.View)
	}
	if !s.Limits.valid() {
		return s, fmt.Errorf("picture: nothing fits between x %g and %g, y %g and %g; give limits that are farther apart", s.Limits.XMin, s.Limits.XMax, s.Limits.YMin, s.Limits.YMax)
	}
	if s.Classes == nil {
		seen := map[string]bool{}
		for _, p := range s.Points {
			if !seen[p.Label] {
				seen[p.Label] = true
				s.Classes = append(s.Classes, p.Label)
			}
		}
		if s.Model != nil && len(s.Classes) < 2 {
			s.Classes = []string{s.Model.Negative, s.Model.Positive}
		}
		sort.Strings(s.Classes)
	}
	return s, nil
}

func (s *Scene) sheet() *sheet {
	return &sheet{
		width: s.Width, height: s.Height, theme: themeOf(s.Dark), limits: s.Limits,
		labels: s.View.Labels, title: s.Title, note: s.note(), caption: Caption(*s),
	}
}

// note warns where the picture is less than the whole space.
func (s *Scene) note() string {
	if s.View.Exact {
		return ""
	}
	d := len(s.View.Center)
	if s.Model == nil {
		return fmt.Sprintf("Projection of %d features.", d)
	}
	return fmt.Sprintf("Slice of %d features: points are projected onto it, colours and lines hold on the slice.", d)
}

// positive is the colour index of the side f >= 0. With two classes both keep
// the colour that they have in a picture of the data alone; with more, orange is
// the positive class and blue all the others.
func (s *Scene) positive() int {
	if len(s.Classes) == 2 && s.Classes[0] == s.Model.Positive {
		return 0
	}
	return 1
}

// side is the colour index of a label ±1.
func (s *Scene) side(y float64) int {
	if y > 0 {
		return s.positive()
	}
	return 1 - s.positive()
}

// colorOf is the colour index of class i.
func (s *Scene) colorOf(i int) int {
	if s.Model == nil {
		return i
	}
	if s.Classes[i] == s.Model.Positive {
		return s.positive()
	}
	return 1 - s.positive()
}

// classes are the legend's entries of the classes.
func (s *Scene) classes(t *Theme) (es []entry) {
	for i, name := range s.Classes {
		if s.Model != nil && len(s.Classes) > 2 && name == s.Model.Positive {
			name += " (against the others)"
		}
		m := marker{class: i, color: t.class(s.colorOf(i)), paper: t.Paper}
		es = append(es, entry{name, func(c *draw.Canvas, at vg.Point) { m.draw(c, at, 5) }})
	}
	return es
}

// radius is that of a marker: large for few points in a large frame.
func (s *Scene) radius() vg.Length {
	area, side := float64(s.Width*s.Height), float64(min(s.Width, s.Height))
	most := 5 * math.Max(1, math.Sqrt(side/520))
	least := math.Min(1.9, side/80)
	r := 0.12 * math.Sqrt(area/float64(max(1, len(s.Points))))
	return vg.Length(math.Min(most*math.Min(1, 0.4+side/500), math.Max(least, r)))
}

// points is the plotter of the points with everything that is told about them.
type points struct {
	*Scene
	theme   *Theme
	surface *surface // for slack; nil: none is drawn
	rings   bool
	cores   bool
	radius  vg.Length
}

// Plot implements plot.Plotter.
func (ps points) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	index := make(map[string]int, len(ps.Classes))
	for i, name := range ps.Classes {
		index[name] = i
	}
	var heaviest float64
	for _, q := range ps.Points {
		heaviest = math.Max(heaviest, math.Abs(q.Weight))
	}
	at := make([]vg.Point, len(ps.Points))
	shown := make([]bool, len(ps.Points))
	for i, q := range ps.Points {
		x, y := ps.View.Point(q.X)
		at[i] = vg.Point{X: trX(x), Y: trY(y)}
		shown[i] = c.Contains(at[i])
	}
	if ps.surface != nil {
		ps.slack(&c, at, shown)
	}
	for i, q := range ps.Points {
		if !shown[i] {
			continue
		}
		k, ok := index[q.Label]
		if !ok {
			k = len(ps.Classes) // a label that Classes does not list
		}
		clr := k
		if ps.Model != nil {
			clr = ps.side(q.Y)
		}
		if ps.rings && q.Wrong {
			cross(&c, at[i], ps.radius, ps.theme.Ink)
		}
		marker{k, ps.theme.class(clr), ps.theme.Paper, q.HeldOut}.draw(&c, at[i], ps.radius)
	}
	for i, q := range ps.Points { // above all markers, so that none is hidden
		if !shown[i] {
			continue
		}
		if ps.rings && q.Role != ml.None {
			ring(&c, ps.theme, q.Role, at[i], ps.radius, math.Abs(q.Weight)/heaviest)
		}
		if ps.cores && q.Core {
			core(&c, at[i], ps.radius, ps.theme.Ink, ps.theme.Paper)
		}
	}
}

// ring marks a support vector; share is its weight over the largest.
func ring(c *draw.Canvas, t *Theme, role ml.Role, at vg.Point, r vg.Length, share float64) {
	style := draw.LineStyle{Color: t.Ink, Width: max(0.8, r*0.3)}
	r = r*(1.5+0.7*vg.Length(share)) + 0.6
	path := circle(at, r)
	switch role {
	case ml.Inside:
		style.Width *= 0.75
		style.Dashes = []vg.Length{2.5, 2}
	case ml.Misclassified:
		style.Width *= 0.8
		path = box(at, r*0.92)
	}
	c.SetLineStyle(style)
	c.Stroke(path)
}

// slack draws the way from every training point with slack to its own margin:
// along the steepest way of f where the picture is the space itself, otherwise
// as an upright bar of 12 pixels a unit.
func (ps points) slack(c *draw.Canvas, at []vg.Point, shown []bool) {
	size := c.Size()
	n := vg.Length(ps.surface.n)
	var p vg.Path
	for i, q := range ps.Points {
		if !shown[i] || q.HeldOut || !(q.Slack > 1e-6) {
			continue
		}
		p.Move(at[i])
		if !ps.View.Exact {
			p.Line(vg.Point{X: at[i].X, Y: min(at[i].Y+12*vg.Length(q.Slack), c.Max.Y)})
			continue
		}
		x, y := ps.surface.grid(ps.View.Point(q.X))
		for k, w := range ps.surface.climb(x, y, q.Y, float64(size.Y/size.X)) {
			if k > 0 {
				p.Line(vg.Point{X: c.Min.X + vg.Length(w[0])/n*size.X, Y: c.Min.Y + vg.Length(w[1])/n*size.Y})
			}
		}
	}
	if len(p) > 0 {
		c.SetLineStyle(ps.slackStyle())
		c.Stroke(p)
	}
}

func (ps points) slackStyle() draw.LineStyle {
	return draw.LineStyle{Color: ps.theme.Muted, Width: 1.2}
}

// entries are the legend's entries of what the points show beside their class.
func (ps points) entries() (es []entry) {
	t := ps.theme
	count := map[ml.Role]int{}
	var wrong, held, cores int
	for _, q := range ps.Points {
		count[q.Role]++
		wrong += btoi(q.Wrong)
		held += btoi(q.HeldOut)
		cores += btoi(q.Core)
	}
	dot := func(c *draw.Canvas, at vg.Point) {
		c.SetColor(t.Muted)
		c.Fill(circle(at, 2.5))
	}
	if ps.rings {
		for _, r := range []struct {
			role ml.Role
			name string
		}{{ml.Free, "SV on the margin"}, {ml.Inside, "SV inside it"}, {ml.Misclassified, "SV misclassified"}, {ml.Support, "support vector"}} {
			if n := count[r.role]; n > 0 {
				es = append(es, entry{fmt.Sprintf("%s (%d)", r.name, n), func(c *draw.Canvas, at vg.Point) {
					dot(c, at)
					ring(c, t, r.role, at, 3.6, 0.6)
				}})
			}
		}
		if wrong > 0 {
			es = append(es, entry{fmt.Sprintf("wrong side (%d)", wrong), func(c *draw.Canvas, at vg.Point) {
				cross(c, at, 3.6, t.Ink)
				marker{0, t.Muted, t.Paper, false}.draw(c, at, 3.6)
			}})
		}
	}
	if held > 0 {
		es = append(es, entry{fmt.Sprintf("held out (%d)", held), func(c *draw.Canvas, at vg.Point) {
			marker{0, t.Muted, t.Paper, true}.draw(c, at, 4.5)
		}})
	}
	if ps.surface != nil {
		es = append(es, entry{"slack", line(ps.slackStyle())})
	}
	if ps.cores && cores > 0 {
		es = append(es, entry{fmt.Sprintf("core (%d)", cores), func(c *draw.Canvas, at vg.Point) { core(c, at, 5, t.Ink, t.Paper) }})
	}
	return es
}

// heatScale is where the colours of f end.
const heatScale = 2

// scale maps [lo, hi] to the indices of a palette; what lies outside has the
// colours of the ends, what is not a number that of the middle.
func scale(p color.Palette, lo, hi float64) func(float64) uint8 {
	top := float64(len(p) - 1)
	f, mid := top/(hi-lo), uint8(len(p)/2)
	return func(v float64) uint8 {
		switch v = (v-lo)*f + 0.5; {
		case v >= top:
			return uint8(top)
		case v > 0:
			return uint8(v)
		case v <= 0:
			return 0
		}
		return mid
	}
}

// oriented returns the two colours as low end, high end of f.
func oriented[T any](s *Scene, byClass [2]T) (low, high T) {
	k := s.positive()
	return byClass[1-k], byClass[k]
}
