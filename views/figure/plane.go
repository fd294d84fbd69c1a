package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
)

// Plane is a drawing in data coordinates, such as a line with margins, level sets of an objective
// or the iterates of a descent. Units are equal on both axes, so that right angles look right.
type Plane struct {
	Format
	Title string
	X, Y  string // axis labels; without Y there is no vertical axis
	// Limits is the area that must be visible; the proportions of the picture may show more. The
	// zero value fits the dots.
	Limits    Limits
	Stretched bool   // the limits fill the frame, even if angles and circles are distorted
	Bald      bool   // no tick labels
	Marks     []Mark // from bottom to top; labels are above all of them
	Hidden    int    // the last Hidden marks are omitted while the picture waits for an answer
	// Caption is the text alternative; the default lists the marks with a name or a label.
	Caption string
}

// Mark is a part of a Plane: a Region, Contours, Line, Segment, Arrow, Path, Circle, Dot or Text.
// Parts that are not finite are omitted. A Name is shown in the legend, once even if several marks
// have it; a Label is shown beside the mark if there is room.
type Mark interface {
	draw(e *easel)       // draws the mark and requests its label
	entry(*Theme) entry  // legend entry; empty without a name
	describe() string    // for the caption; may be empty
	parts(Limits) []Part // parts that pages can point out; none without a name
}

// Picture draws the plane.
func (p Plane) Picture() (*Picture, error) {
	sh, err := p.sheet()
	if err != nil {
		return nil, err
	}
	if p.Waits {
		p.Marks = p.Marks[:len(p.Marks)-p.Hidden]
	}
	b := newBounds()
	for i, m := range p.Marks {
		if problem := check(m); problem != "" {
			return nil, fmt.Errorf("plane: mark %d: %s", i+1, problem)
		}
		if k, ok := m.(Dot); ok && finite(k.At[:]...) {
			b.add(k.At[0], k.At[1])
		}
		if e := m.entry(sh.theme); e.name != "" && !slices.ContainsFunc(sh.legend, func(o entry) bool { return o.name == e.name }) {
			sh.legend = append(sh.legend, e)
		}
	}
	sh.title, sh.labels, sh.limits, sh.caption = p.Title, [2]string{p.X, p.Y}, p.Limits, cmp.Or(p.Caption, p.describe())
	if (sh.limits == Limits{}) {
		sh.limits = b.limits()
	}
	if !sh.limits.valid() {
		l := sh.limits
		return nil, fmt.Errorf("plane: nothing fits between x %g and %g, y %g and %g; give limits that are farther apart", l.XMin, l.XMax, l.YMin, l.YMax)
	}
	sh.bald = [2]bool{p.Bald, p.Bald || p.Y == ""}
	if !p.Stretched {
		sh.aspect = widened
	}
	sh.parts = func() []Part {
		return slices.Concat(lists.Map(p.Marks, func(m Mark) []Part { return m.parts(sh.limits) })...)
	}
	sh.add(func(c *draw.Canvas, m mapping) {
		e := sh.easel(c, m)
		for _, k := range p.Marks {
			if _, ok := k.(Dot); ok {
				e.dots++
			}
		}
		for _, k := range p.Marks {
			k.draw(e)
		}
		e.write()
	})
	return sh.picture(), nil
}

func (p *Plane) describe() string {
	var s strings.Builder
	s.WriteString(titled("Drawing", p.Title))
	if p.X != "" && p.Y != "" {
		fmt.Fprintf(&s, ", over %s and %s", p.X, p.Y)
	}
	s.WriteString(".")
	for _, m := range p.Marks {
		if d := m.describe(); d != "" {
			s.WriteString(" " + d + ".")
		}
	}
	return s.String()
}

// Linear returns the function a·x - c, for regions and contours.
func Linear(a [2]float64, c float64) func(x, y float64) float64 {
	return func(x, y float64) float64 { return a[0]*x + a[1]*y - c }
}

// Region shades where F(x, y) >= 0; for a constraint g <= 0, pass -g.
type Region struct {
	F     func(x, y float64) float64
	Color Color
	Hatch bool // also hatched, to be recognised without colour
	Name  string
}

// Contours draws level lines of F.
type Contours struct {
	F func(x, y float64) float64
	// Levels are the values; nil: about eight round ones.
	Levels []float64
	Pen    Pen  // the zero value is a thin, muted line
	Plain  bool // omit the values on the lines
	Name   string
}

// Line is the straight line A·x = C.
type Line struct {
	A           [2]float64 // not 0
	C           float64
	Pen         Pen
	Name, Label string
}

// Segment joins two points, such as a point and its foot on a line.
type Segment struct {
	From, To    [2]float64
	Pen         Pen
	Name, Label string
}

// Arrow points from one point to another, such as a gradient or a weight vector.
type Arrow struct {
	From, To    [2]float64
	Pen         Pen
	Held        bool // its tip can be dragged, as in a Dot
	Name, Label string
}

// Path joins points with small dots on them, such as the iterates of a descent. The first dot is
// hollow and the last one larger.
type Path struct {
	Points [][2]float64
	Pen    Pen
	Plain  bool // without dots
	Name   string
}

// Circle is a circle; on a Stretched plane it is an ellipse.
type Circle struct {
	Center [2]float64
	Radius float64
	Pen    Pen
	Name   string
}

// Dot is a point with the colour and shape of its class.
type Dot struct {
	At          [2]float64
	Class       int  // negative: a dot in ink, without a class
	Hollow      bool // as held-out points
	Ring        bool // as support vectors
	Held        bool // it can be dragged: its label keeps clear of the handle
	Large       bool // of twice the size, for few marks
	Name, Label string
}

// Text is text around a point.
type Text struct {
	At    [2]float64
	Text  string
	Color Color
}

// check returns what is invalid about a mark, "" if nothing is.
func check(m Mark) string {
	switch k := m.(type) {
	case nil:
		return "it is missing; leave it out"
	case Region:
		return needed(k.F)
	case Contours:
		return needed(k.F)
	case Line:
		if k.A == [2]float64{} {
			return fmt.Sprintf("line %q has no direction, as A is 0; give it a normal vector", k.Name+k.Label)
		}
	}
	return ""
}

func needed(f func(x, y float64) float64) string {
	return lists.Either(f == nil, "the function F is missing; give one of x and y", "")
}

func (k Region) entry(t *Theme) entry {
	return entry{k.Name, func(c *draw.Canvas, at vg.Point) {
		r := vg.Rectangle{Min: at.Sub(vg.Point{X: 9, Y: 6}), Max: at.Add(vg.Point{X: 9, Y: 6})}
		k.tint(c, t, r.Path())
		if k.Hatch {
			k.lines(c, t, r, func(vg.Point) bool { return true })
		}
		stroke(c, draw.LineStyle{Color: t.Rule, Width: 0.8}, r.Path())
	}}
}

func (k Contours) pen() Pen {
	if k.Pen == (Pen{}) {
		return Pen{Color: Muted, Thin: true}
	}
	return k.Pen
}

const sampleThick = 2 // of lines in the legend

func (k Contours) entry(t *Theme) entry { return entry{k.Name, line(k.pen().style(t, sampleThick))} }
func (k Line) entry(t *Theme) entry     { return entry{k.Name, line(k.Pen.style(t, sampleThick))} }
func (k Segment) entry(t *Theme) entry  { return entry{k.Name, line(k.Pen.style(t, sampleThick))} }
func (k Path) entry(t *Theme) entry {
	return entry{k.Name, func(c *draw.Canvas, at vg.Point) {
		line(k.Pen.style(t, sampleThick))(c, at)
		if !k.Plain {
			c.SetColor(t.color(k.Pen.Color))
			for _, dx := range []vg.Length{-8, 0, 8} {
				c.Fill(circle(at.Add(vg.Point{X: dx}), 2.6))
			}
		}
	}}
}

func (k Circle) entry(t *Theme) entry {
	return entry{k.Name, func(c *draw.Canvas, at vg.Point) {
		stroke(c, k.Pen.style(t, sampleThick), circle(at, 7))
	}}
}

func (k Arrow) entry(t *Theme) entry {
	return entry{k.Name, func(c *draw.Canvas, at vg.Point) {
		arrow(c, k.Pen.style(t, sampleThick), at.Sub(vg.Point{X: 11}), at.Add(vg.Point{X: 11}))
	}}
}

func (k Dot) entry(t *Theme) entry {
	return entry{k.Name, func(c *draw.Canvas, at vg.Point) { k.mark(c, t, at, 4.2) }}
}
func (Text) entry(*Theme) entry { return entry{} }

// named describes a mark in the caption.
func named(what, name, label, where string) string {
	words := strings.TrimSpace(name + " " + label)
	if words == "" {
		return ""
	}
	return what + " " + words + where
}

func place(p [2]float64) string { return fmt.Sprintf("(%s, %s)", short(p[0]), short(p[1])) }

func (k Region) describe() string   { return named("Shaded:", k.Name, "", "") }
func (k Contours) describe() string { return named("Level lines of", k.Name, "", "") }
func (k Line) describe() string {
	if k.C == 0 {
		k.C = 0 // avoid -0
	}
	return named("Line", k.Name, k.Label, fmt.Sprintf(": (%s, %s)·x = %s", short(k.A[0]), short(k.A[1]), short(k.C)))
}

func (k Segment) describe() string {
	return named("Segment", k.Name, k.Label, " from "+place(k.From)+" to "+place(k.To))
}

func (k Arrow) describe() string {
	return named("Arrow", k.Name, k.Label, " from "+place(k.From)+" to "+place(k.To))
}

func (k Path) describe() string {
	if len(k.Points) == 0 || k.Pen.Pale && k.Name == "" {
		return ""
	}
	return named("Path", k.Name, "", fmt.Sprintf(" of %s from %s to %s", plural(len(k.Points), "place"), place(k.Points[0]), place(k.Points[len(k.Points)-1])))
}

func (k Circle) describe() string {
	return named("Circle", k.Name, "", fmt.Sprintf(" about %s with radius %s", place(k.Center), short(k.Radius)))
}
func (k Dot) describe() string  { return named("Point", k.Name, k.Label, " at "+place(k.At)) }
func (k Text) describe() string { return k.Text }
