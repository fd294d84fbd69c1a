// Package figure draws the pictures: decision boundaries, conformal factors,
// overlays and plain point sets, as SVG and PNG, in a light and a dark theme.
// Equal input gives equal bytes.
//
// The parts: a Scene says what to draw; Boundary, Conformal, Overlay and Scatter
// make a Picture of it; theme.go holds every colour.
package figure

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Picture is a finished picture, ready to be written in either format.
type Picture struct {
	Width, Height int    // CSS pixels
	Frame         Frame  // where the data are
	Caption       string // what the picture shows, for readers who do not see it

	// Scale is how many device pixels the PNG has per CSS pixel, 1 to 4; 0 is 1.
	Scale int

	// Disagree is the share of the visible area, 0 to 1, on which the models of
	// an overlay predict different classes; 0 for other pictures.
	Disagree float64

	zoom float64 // CSS pixels per unit of what draw draws
	draw func(vg.Canvas)
}

// Frame is the rectangle of a picture that holds the data, in CSS pixels from
// the top left corner, with the data coordinates of its edges. A point (x, y)
// is drawn at Left + Width (x-XMin)/(XMax-XMin), Top + Height (YMax-y)/(YMax-YMin).
type Frame struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Limits Limits  `json:"limits"`
}

// SVG writes the picture as an SVG document without scripts or outside parts.
func (p *Picture) SVG(w io.Writer) error {
	c := newSVG(p.Width, p.Height, p.zoom)
	p.draw(c)
	if err := c.writeTo(w, p.Caption); err != nil {
		return fmt.Errorf("picture as SVG: %w", err)
	}
	return nil
}

// PNG writes the picture with Scale device pixels per CSS pixel.
func (p *Picture) PNG(w io.Writer) error {
	scale := max(p.Scale, 1)
	if scale > 4 {
		return fmt.Errorf("picture as PNG: the scale is %d; use 1 to 4", scale)
	}
	c := newPNG(p.Width, p.Height, float64(scale)*p.zoom, scale)
	p.draw(c)
	if err := c.writeTo(w); err != nil {
		return fmt.Errorf("picture as PNG: %w", err)
	}
	return nil
}

// sheet is a picture in the making: what stands around the frame, and the
// plotters of what is in it.
type sheet struct {
	width, height int
	theme         *Theme
	limits        Limits
	labels        [2]string
	title         string
	caption       string
	legend        []entry
	legendRows    int // kept at least
	note          string
	bar           *bar
	plotters      []plot.Plotter
}

const (
	fontSize  = 12
	lineStep  = 19 // between lines of the legend
	bareBelow = 240
)

// zoom enlarges everything in large pictures, which are seen from afar: by
// eighths, so that whole pixels stay within reach of a dpi that is a whole number.
func zoom(w, h int) float64 {
	return max(1, math.Floor(8*min(float64(w)/960, float64(h)/640))/8)
}

// bare pictures are all frame: too small for words.
func (s *sheet) bare() bool { return s.width < bareBelow || s.height < bareBelow*3/4 }

// picture lays the sheet out. The frame lies on whole pixels.
func (s *sheet) picture() *Picture {
	p := &Picture{Width: s.width, Height: s.height, Caption: s.caption, zoom: zoom(s.width, s.height)}
	k := vg.Length(p.zoom)
	all := vg.Rectangle{Max: vg.Point{X: vg.Length(s.width) / k, Y: vg.Length(s.height) / k}} // y upwards
	inner := all
	h := int(all.Max.Y)
	var rows [][]entry
	var xs, ys []tick
	if !s.bare() {
		if s.labels[1] != "" { // none: the data have one feature
			ys = ticks(s.limits.YMin, s.limits.YMax, max(2, h/90))
		}
		inner.Min.X = 10
		var widest vg.Length
		for _, t := range ys {
			widest = max(widest, width(t.label, fontSize))
		}
		inner.Min.X += ceil(widest) + 7
		inner.Min.Y = 25
		if s.labels[0] != "" {
			inner.Min.Y += 19
		}
		if s.labels[1] != "" {
			inner.Min.X += 19
		}
		inner.Max.X -= 14
		if s.bar != nil {
			inner.Max.X -= s.bar.room()
		}
		inner.Max.Y -= 10
		if s.title != "" {
			inner.Max.Y -= 24
		}
		rows = flow(s.legend, inner.Max.X-inner.Min.X, max(1, h/75))
		if kept := max(len(rows), s.legendRows); kept > 0 {
			inner.Max.Y -= lineStep*vg.Length(kept) + 3
		}
		if s.note != "" {
			inner.Max.Y -= lineStep
		}
		xs = ticks(s.limits.XMin, s.limits.XMax, max(2, int(inner.Size().X)/110))
	}
	for _, v := range []*vg.Length{&inner.Min.X, &inner.Min.Y, &inner.Max.X, &inner.Max.Y} {
		*v = vg.Length(math.Round(float64(*v*k))) / k
	}
	p.Frame = Frame{
		Left: float64(inner.Min.X * k), Top: float64(s.height) - math.Round(float64(inner.Max.Y*k)),
		Width: math.Round(float64(inner.Size().X * k)), Height: math.Round(float64(inner.Size().Y * k)), Limits: s.limits,
	}
	p.draw = func(cv vg.Canvas) {
		c := draw.Canvas{Canvas: cv, Rectangle: all}
		c.SetColor(s.theme.Paper)
		c.Fill(c.Rectangle.Path())

		pl := plot.New()
		pl.BackgroundColor = nil
		pl.HideAxes()
		pl.X.Padding, pl.Y.Padding = 0, 0
		pl.X.Min, pl.X.Max = s.limits.XMin, s.limits.XMax
		pl.Y.Min, pl.Y.Max = s.limits.YMin, s.limits.YMax
		pl.Add(s.plotters...)
		pl.X.Min, pl.X.Max = s.limits.XMin, s.limits.XMax
		pl.Y.Min, pl.Y.Max = s.limits.YMin, s.limits.YMax
		pl.Draw(draw.Canvas{Canvas: cv, Rectangle: inner})

		c.SetLineStyle(draw.LineStyle{Color: s.theme.Rule, Width: 1})
		half := vg.Point{X: 0.5, Y: 0.5}
		c.Stroke(vg.Rectangle{Min: inner.Min.Add(half), Max: inner.Max.Sub(half)}.Path())
		if s.bare() {
			return
		}
		s.axes(&c, inner, xs, ys)
		if s.bar != nil {
			s.bar.draw(&c, inner, s.theme)
		}
		y := c.Max.Y - 10
		if s.title != "" {
			text(&c, s.theme.Ink, 15, true, vg.Point{X: inner.Min.X, Y: y - 13}, clip(s.title, 15, c.Max.X-inner.Min.X-10))
			y -= 24
		}
		for _, row := range rows {
			x := inner.Min.X
			for _, e := range row {
				e.draw(&c, s.theme, vg.Point{X: x, Y: y - 8})
				x += e.width()
			}
			y -= lineStep
		}
		if s.note != "" {
			text(&c, s.theme.Muted, fontSize, false, vg.Point{X: inner.Min.X, Y: y - 12}, clip(s.note, fontSize, c.Max.X-inner.Min.X-10))
		}
	}
	return p
}

// axes draws tick marks, their labels and the names of the axes.
func (s *sheet) axes(c *draw.Canvas, in vg.Rectangle, xs, ys []tick) {
	l := s.limits
	var marks vg.Path
	last := vg.Length(-1e9)
	for _, t := range xs {
		x := in.Min.X + in.Size().X*vg.Length((t.value-l.XMin)/(l.XMax-l.XMin))
		marks.Move(vg.Point{X: x, Y: in.Min.Y})
		marks.Line(vg.Point{X: x, Y: in.Min.Y - 5})
		w := width(t.label, fontSize)
		left := min(x-w/2, c.Max.X-w-2)
		if left < last+6 {
			continue // no room beside its neighbour
		}
		text(c, s.theme.Muted, fontSize, false, vg.Point{X: left, Y: in.Min.Y - 18}, t.label)
		last = left + w
	}
	for _, t := range ys {
		y := in.Min.Y + in.Size().Y*vg.Length((t.value-l.YMin)/(l.YMax-l.YMin))
		marks.Move(vg.Point{X: in.Min.X, Y: y})
		marks.Line(vg.Point{X: in.Min.X - 5, Y: y})
		text(c, s.theme.Muted, fontSize, false, vg.Point{X: in.Min.X - 8 - width(t.label, fontSize), Y: y - 4}, t.label)
	}
	c.SetLineStyle(draw.LineStyle{Color: s.theme.Rule, Width: 1})
	c.Stroke(marks)

	mid := vg.Point{X: (in.Min.X + in.Max.X) / 2, Y: (in.Min.Y + in.Max.Y) / 2}
	if name := clip(s.labels[0], 13, in.Size().X); name != "" {
		text(c, s.theme.Ink, 13, false, vg.Point{X: mid.X - width(name, 13)/2, Y: 8}, name)
	}
	if name := clip(s.labels[1], 13, in.Size().Y); name != "" {
		c.Push()
		c.Translate(vg.Point{X: 18, Y: mid.Y - width(name, 13)/2})
		c.Rotate(quarter)
		text(c, s.theme.Ink, 13, false, vg.Point{}, name)
		c.Pop()
	}
}
