package figure

import (
	"context"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Format holds the settings common to all drawings. The zero value is a good default.
type Format struct {
	Dark, Grey bool // Grey is for paper: the sides of a boundary differ without colour
	// LegendRows reserves rows for the legend even if it needs fewer, so that the frame
	// stays fixed during a replay.
	LegendRows int
	Noted      bool   // reserves a line for a note, for adjacent pictures of which some have one
	Waits      bool   // a part is omitted until a question is answered, and the picture says so
	Paper      bool   // for print: the picture does not ask for the answer or the step it waits for
	Panel      *Panel // place in a larger picture; nil: stands alone
	// Width and Height are in CSS pixels, 40 to 4000; 0 takes 640 and 520. Below
	// 240 x 180 the picture is all frame, without axes and legend.
	Width, Height int
}

// SetFormat sets the format, so that it can be set on any drawing.
func (f *Format) SetFormat(format Format) { *f = format }

func (f Format) sheet() (*sheet, error) {
	f.Width, f.Height = defaultSize(f.Width, f.Height)
	s := &sheet{width: f.Width, height: f.Height, paper: f.Paper, panel: f.Panel, theme: themeOf(f.Dark, f.Grey), legendRows: f.LegendRows, noted: f.Noted}
	if f.Waits {
		s.waits = waiting
	}
	return s, checkSize(f.Width, f.Height)
}

// Color is a colour of the theme, by purpose. ClassColor(i) is the colour of class i; Blue and the
// following names belong to the first classes.
type Color int

// Colours of lines and marks. Ink is the colour of text.
const (
	Ink Color = iota
	Muted
	Blue
	Orange
	Green
	Magenta
)

// Violet is the last class colour, for marks unrelated to classes.
const Violet = Blue + 7

// Series returns the class number for the i-th of several non-classes, such as machines or
// components, whose colour and shape differ from those of two classes.
func Series(i int) int { return i + 2 }

// ClassColor returns the colour of class i >= 0 in Boundary and Scatter.
func ClassColor(i int) Color { return Blue + Color(max(i, 0)) }

func (t *Theme) color(c Color) color.NRGBA {
	switch {
	case c <= Ink:
		return t.Ink
	case c == Muted:
		return t.Muted
	}
	return t.class(int(c - Blue))
}

// Dash is a dash pattern.
type Dash int

// Dash patterns. Give every colour a pattern, so that lines can be distinguished without colour.
const (
	Solid Dash = iota
	Dashed
	Dotted
	DashDot
	LongDash
)

// Pen is a line style; the zero value is a solid line in ink.
type Pen struct {
	Color Color
	Dash  Dash
	Thin  bool // half the width
	Pale  bool // translucent, for one of many
}

// paleOpacity is the opacity of one of many lines; where they overlap it is darker.
const paleOpacity = 0.45

// style returns the line style of the pen; thick is the width of a line that is not Thin.
func (p Pen) style(t *Theme, thick vg.Length) draw.LineStyle {
	if p.Thin {
		thick *= 0.5
	}
	clr := t.color(p.Color)
	if p.Pale {
		clr = translucent(clr, paleOpacity)
	}
	return draw.LineStyle{Color: clr, Width: thick, Dashes: dashes[max(int(p.Dash), 0)%len(dashes)]}
}

// stroke returns the width of a line, wide enough for a projector.
func (s *sheet) stroke() vg.Length {
	side := math.Sqrt(float64(s.width*s.height)) / s.zoom()
	return vg.Length(min(max(side/240, 1.4), 2.6))
}

// mapping maps data to the canvas.
type mapping struct {
	frame vg.Rectangle
	Limits
	ctx context.Context // of the picture; ends long drawings
}

func (m mapping) at(x, y float64) vg.Point {
	size := m.frame.Size()
	return vg.Point{
		X: m.frame.Min.X + size.X*vg.Length((x-m.XMin)/(m.XMax-m.XMin)),
		Y: m.frame.Min.Y + size.Y*vg.Length((y-m.YMin)/(m.YMax-m.YMin)),
	}
}

// back maps a point of the canvas to data.
func (m mapping) back(p vg.Point) (x, y float64) {
	size := m.frame.Size()
	return m.XMin + (m.XMax-m.XMin)*float64((p.X-m.frame.Min.X)/size.X), m.YMin + (m.YMax-m.YMin)*float64((p.Y-m.frame.Min.Y)/size.Y)
}

// drawing draws within the frame of a sheet; m maps data to it.
type drawing func(c *draw.Canvas, m mapping)

func (s *sheet) add(ds ...drawing) { s.drawings = append(s.drawings, ds...) }

// stroke draws the part of the polyline ps within the frame. It breaks at points that are not
// finite.
func (m mapping) stroke(c *draw.Canvas, style draw.LineStyle, ps []vg.Point) {
	if p := clipped(m.frame, ps); len(p) > 0 {
		stroke(c, style, p)
	}
}

// clipped returns the part of a polyline within r.
func clipped(r vg.Rectangle, ps []vg.Point) (path vg.Path) {
	var last vg.Point
	open := false
	for i := 1; i < len(ps); i++ {
		a, b, ok := clipSegment(r, ps[i-1], ps[i])
		if !ok {
			open = false
			continue
		}
		if !open || a != last {
			path.Move(a)
		}
		path.Line(b)
		last, open = b, true
	}
	return path
}

// clipSegment returns the part of a segment within r, by Liang and Barsky's algorithm.
func clipSegment(r vg.Rectangle, a, b vg.Point) (from, to vg.Point, ok bool) {
	dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
	if !finite(dx, dy, float64(a.X), float64(a.Y)) {
		return a, b, false
	}
	first, last := 0.0, 1.0
	for _, e := range [4][2]float64{
		{-dx, float64(a.X - r.Min.X)},
		{dx, float64(r.Max.X - a.X)},
		{-dy, float64(a.Y - r.Min.Y)},
		{dy, float64(r.Max.Y - a.Y)},
	} {
		switch p, q := e[0], e[1]; {
		case p == 0 && q < 0:
			return a, b, false
		case p < 0:
			first = max(first, q/p)
		case p > 0:
			last = min(last, q/p)
		}
	}
	if first > last {
		return a, b, false
	}
	from, to = a, b
	if first > 0 {
		from = vg.Point{X: a.X + vg.Length(first*dx), Y: a.Y + vg.Length(first*dy)}
	}
	if last < 1 {
		to = vg.Point{X: a.X + vg.Length(last*dx), Y: a.Y + vg.Length(last*dy)}
	}
	return from, to, true
}

func finite(vs ...float64) bool {
	return !slices.ContainsFunc(vs, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// translucent returns a colour with an opacity from 0 to 1.
func translucent(c color.NRGBA, opacity float64) color.NRGBA {
	c.A = uint8(math.Round(255 * opacity))
	return c
}
