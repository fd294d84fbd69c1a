// Package figure draws decision boundaries, conformal factors, overlays, plain point sets and the
// drawings of the lessons, as SVG, PNG and PDF, in a light and a dark theme. Equal input gives
// equal bytes.
//
// A Scene says what to draw of a model or of data; Boundary, Conformal, Overlay and Scatter make a
// Picture of it. Plane (geometry), Chart (curves), Bars, Matrix and Lifted (three dimensions)
// describe the drawings of the lessons and have a method Picture. Decisions, ComponentMap,
// KernelMatrix, Weights, Strings and Networks show objects without coordinates. theme.go holds every
// colour.
package figure

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
)

// Picture is a finished picture, ready to be written in any format.
type Picture struct {
	Width, Height int    // of the frame of the data
	Frame         Frame  // where the data are
	Caption       string // text alternative

	// Scale is the number of device pixels per CSS pixel of a PNG, 1 to 4; 0 means 1.
	Scale int

	// Unit is the number of CSS pixels of the written picture per unit of Width and Height: 0.75
	// turns letters of 12 pixels into 9; 0 means 1.
	Unit      float64
	Print     bool // SVG for print: sizes in millimetres, regions as paths
	Greyscale bool // without hues

	// Disagree is the share of the visible area, 0 to 1, on which the models of
	// an overlay predict different classes; 0 for other pictures.
	Disagree float64

	Toggles []Toggle // of the layers that can be hidden, if the scene allows it

	zoom  float64 // CSS pixels per unit of draw
	paper color.Color
	draw  func(context.Context, vg.Canvas) // draws on a page; draws only a part once the context is done
	parts func() []Part                    // nil: unknown
}

// Frame is the rectangle of a picture that holds the data, in CSS pixels from the top left corner,
// with the data coordinates of its edges. A point (x, y) is drawn at Left + Width
// (x-XMin)/(XMax-XMin), Top + Height (YMax-y)/(YMax-YMin).
type Frame struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Limits Limits  `json:"limits"`

	// LogX and LogY report logarithmic axes: the formula then takes the logarithms of the
	// coordinate and the limits.
	LogX bool `json:"log_x,omitempty"`
	LogY bool `json:"log_y,omitempty"`
}

// SVG writes the picture as an SVG document without scripts or external parts. Like the other
// formats, it writes nothing and returns ctx.Err() if ctx ends before the drawing is complete.
func (p *Picture) SVG(ctx context.Context, w io.Writer) error {
	c := newSVG(p.Width, p.Height, p.zoom)
	defer svgTexts.Put(c.buf)
	c.unit, c.print, c.grey = p.unit(), p.Print, p.Greyscale
	p.fillPaper(c)
	return p.write(ctx, "SVG", c, func() error { return c.writeTo(w, p.Caption) })
}

// unit returns Unit or its default.
func (p *Picture) unit() float64 {
	if p.Unit == 0 {
		return 1
	}
	return p.Unit
}

// fillPaper fills an empty canvas with the background colour.
func (p *Picture) fillPaper(c vg.CanvasSizer) {
	c.SetColor(p.paper)
	c.Fill(draw.New(c).Rectangle.Path())
}

// write draws the picture on c and calls finish to write it, unless ctx ends first.
func (p *Picture) write(ctx context.Context, format string, c vg.Canvas, finish func() error) error {
	p.draw(ctx, c)
	err := ctx.Err()
	if err == nil {
		err = finish()
	}
	if err != nil {
		return fmt.Errorf("picture as %s: %w", format, err)
	}
	return nil
}

// PNG writes the picture with Scale device pixels per CSS pixel.
func (p *Picture) PNG(ctx context.Context, w io.Writer) error {
	scale := max(p.Scale, 1)
	if scale > 4 {
		return fmt.Errorf("picture as PNG: the scale is %d; use 1 to 4", scale)
	}
	c := newPNG(scale*p.Width, scale*p.Height, float64(scale)*p.zoom, p.paper)
	defer pngCanvases.Put(c)
	return p.write(ctx, "PNG", c, func() error { return c.writeTo(w, p.Greyscale) })
}

// sheet is a picture under construction: its frame, what surrounds it, and the drawings in it.
type sheet struct {
	width, height int
	panel         *Panel
	theme         *Theme
	limits        Limits
	labels        [2]string
	log           [2]bool               // the limits and drawings contain log10 of the data
	ticks         [2]func(n int) []tick // returns about n labelled positions on an axis, instead of round values
	bald          [2]bool               // axes without ticks
	aspect        aspect
	title         string
	caption       string
	legend        []entry
	own           int        // the first entries, whose names come from the data and may be shortened; 0: all
	legendRows    int        // minimum number of rows
	possible      [][]string // names of the entries of legends for which rows are reserved
	beside        vg.Length  // width reserved for a colour bar
	note          string
	noted         bool   // reserve a line for the note
	paper         bool   // takes no answers
	waits         string // why the picture is incomplete, written where there is room; "" if it is complete
	bar           *bar
	drawings      []drawing
	layer         func(i int, name string) string // returns the layer of an entry, "" for none; nil: there are none
	hidden        []string                        // hidden layers
	parts         func() []Part
	edges         func(c *draw.Canvas, frame vg.Rectangle) // draws marks around the frame
}

const (
	fontSize  = 12
	lineStep  = 19   // of the lines of the legend
	bolder    = 1.08 // width of bold letters relative to normal ones
	bareBelow = 240
	narrow    = 370 // pictures below are for phones
)

// aspect determines how frame and limits are adapted to each other.
type aspect int

const (
	stretched aspect = iota // any limits fill the frame
	widened                 // limits grow until units are equal on both axes
	shrunk                  // the frame shrinks until units are equal on both axes
)

// zoom returns the factor by which large pictures, which are seen from afar, are enlarged, in
// eighths, so that whole pixels correspond to an integer dpi.
func zoom(w, h int) float64 {
	return max(1, math.Floor(8*min(float64(w)/960, float64(h)/640))/8)
}

// zoom returns the zoom of the whole picture.
func (s *sheet) zoom() float64 {
	if s.panel != nil {
		return zoom(s.panel.width, s.panel.height)
	}
	return zoom(s.width, s.height)
}

// bare reports whether the picture is too small for text: it is then all frame.
func (s *sheet) bare() bool {
	return s.panel == nil && (s.width < bareBelow || s.height < bareBelow*3/4)
}

// layout is where the parts of a sheet are, in points with y upwards.
type layout struct {
	scale      vg.Length // pixels per point
	all, frame vg.Rectangle
	whole      int // height in pixels: of the panel's picture or the sheet's
	xs, ys     []tick
	legend     [][]entry // its lines
	left       vg.Length // their left edge
}

// picture lays out the sheet and returns its picture.
func (s *sheet) picture() *Picture {
	if s.paper || s.theme == &Grey { // paper takes no answers
		s.waits = ""
	}
	p := &Picture{Caption: s.caption, zoom: s.zoom(), paper: s.theme.Paper, parts: s.parts}
	if s.waits != "" {
		p.Caption = strings.TrimSpace(p.Caption + " " + s.waits + ".")
	}
	l := s.layOut()
	p.Width, p.Height = s.width, s.height
	p.Frame = s.frame(l)
	p.Toggles = s.toggles(l.legend, l.left, l.all)
	p.draw = func(ctx context.Context, cv vg.Canvas) { s.draw(ctx, cv, l) }
	return p
}

// layOut finds the place of everything, with the frame on whole pixels. On paper it makes the sheet
// higher for a long legend.
func (s *sheet) layOut() *layout {
	l := &layout{scale: vg.Length(s.zoom()), whole: s.height}
	l.all.Max = vg.Point{X: vg.Length(s.width) / l.scale, Y: vg.Length(s.height) / l.scale}
	if s.panel != nil {
		l.all, l.whole = l.all.Add(s.panel.at), s.panel.height
	}
	l.frame = l.all
	h := int(l.all.Size().Y)
	if s.panel != nil && s.width < bareBelow { // no room for a legend
		s.legend, s.legendRows = nil, 0
	}
	if !s.bare() {
		l.ys = s.axis(1, max(3, h/90))
		s.leaveMargins(l)
		s.placeLegend(l, max(1, h/75))
		if s.note != "" || s.noted {
			l.frame.Max.Y -= lineStep
		}
	}
	onPixels(&l.frame, l.scale)
	s.fit(&l.frame, l.scale)
	if !s.bare() {
		l.xs = s.axis(0, max(4, int(l.frame.Size().X)/110))
		if s.aspect == widened {
			l.ys = s.axis(1, max(3, h/90))
		}
	}
	onPixels(&l.frame, l.scale)
	return l
}

// leaveMargins makes room around the frame for axes, labels, a colour bar and the title.
func (s *sheet) leaveMargins(l *layout) {
	f := &l.frame
	var widest vg.Length
	for _, t := range l.ys {
		widest = max(widest, width(t.label, fontSize))
	}
	f.Min.X += 10 + ceil(widest) + 7
	f.Min.Y += 25
	if s.bald[0] {
		f.Min.Y -= 15
	}
	if s.labels[0] != "" {
		f.Min.Y += 19
	}
	if s.labels[1] != "" {
		f.Min.X += 19
	}
	beside := s.beside
	if s.bar != nil {
		beside = max(beside, s.bar.room())
	}
	f.Max.X -= 14
	f.Max.X -= beside
	f.Max.Y -= 10
	if s.title != "" {
		f.Max.Y -= 24
	}
}

// placeLegend makes room for the legend, of usually at most so many lines, above the frame.
func (s *sheet) placeLegend(l *layout, most int) {
	l.left = l.frame.Min.X
	if s.panel == nil && s.theme != &Grey && s.width < narrow && len(flow(s.legend, l.frame.Max.X-l.left)) > 2 {
		l.left = 10 // a long legend needs the whole width
	}
	room := l.frame.Max.X - l.left
	l.legend = s.rows(room, most)
	if s.theme == &Grey && s.panel == nil { // on paper only the legend distinguishes lines, and there is room
		l.legend = flow(s.legend, room)
		s.legendRows, s.possible = 0, nil // nothing moves on paper
		more := lineStep * vg.Length(max(0, len(l.legend)-most))
		l.all.Max.Y += more
		l.frame.Max.Y += more
		s.height += int(more * l.scale)
		l.whole = s.height
	}
	kept := max(len(l.legend), s.legendRows)
	for _, names := range s.possible {
		kept = max(kept, min(most, len(flow(unseen(names), room))))
	}
	if kept > 0 {
		l.frame.Max.Y -= lineStep*vg.Length(kept) + 3
	}
}

// frame returns the frame in pixels, y downwards, and the original values at its edges.
func (s *sheet) frame(l *layout) Frame {
	k, f := l.scale, Frame{Limits: s.limits, LogX: s.log[0], LogY: s.log[1]}
	f.Left, f.Top = float64(l.frame.Min.X*k), float64(l.whole)-math.Round(float64(l.frame.Max.Y*k))
	f.Width, f.Height = math.Round(float64(l.frame.Size().X*k)), math.Round(float64(l.frame.Size().Y*k))
	if s.log[0] {
		f.Limits.XMin, f.Limits.XMax = math.Pow(10, s.limits.XMin), math.Pow(10, s.limits.XMax)
	}
	if s.log[1] {
		f.Limits.YMin, f.Limits.YMax = math.Pow(10, s.limits.YMin), math.Pow(10, s.limits.YMax)
	}
	return f
}

// draw draws the sheet, or as much of it as it can before ctx ends.
func (s *sheet) draw(ctx context.Context, cv vg.Canvas, l *layout) {
	c, inner := draw.Canvas{Canvas: cv, Rectangle: l.all}, l.frame
	for _, d := range s.drawings {
		if ctx.Err() != nil {
			return
		}
		d(&draw.Canvas{Canvas: cv, Rectangle: inner}, mapping{inner, s.limits, ctx})
	}

	c.SetLineStyle(draw.LineStyle{Color: s.theme.Rule, Width: 1})
	half := vg.Point{X: 0.5, Y: 0.5}
	c.Stroke(vg.Rectangle{Min: inner.Min.Add(half), Max: inner.Max.Sub(half)}.Path())
	if s.bare() {
		return
	}
	s.axes(&c, inner, l.xs, l.ys)
	if s.edges != nil {
		s.edges(&c, inner)
	}
	if s.bar != nil {
		s.bar.draw(&c, inner, s.theme)
	}
	y := c.Max.Y - 10
	if s.title != "" {
		text(&c, s.theme.Ink, 15, true, vg.Point{X: inner.Min.X, Y: y - 13}, clip(s.title, 15, (c.Max.X-inner.Min.X-10)/bolder))
		y -= 24
	}
	i := 0
	for _, row := range l.legend {
		x := l.left
		for _, e := range row {
			at := vg.Point{X: x, Y: y - 8}
			e.draw(&c, s.theme, at)
			if s.hides(i) {
				s.fade(&c, e, at)
			}
			x += e.width()
			i++
		}
		y -= lineStep
	}
	if s.note != "" {
		text(&c, s.theme.Muted, fontSize, false, vg.Point{X: l.left, Y: y - 12}, clauses(s.note, fontSize, c.Max.X-l.left-10))
	}
}

// axis returns the ticks of the horizontal (0) or vertical (1) axis.
func (s *sheet) axis(k, n int) []tick {
	lo, hi := s.limits.XMin, s.limits.XMax
	if k == 1 {
		lo, hi = s.limits.YMin, s.limits.YMax
	}
	switch {
	case s.bald[k]:
		return nil
	case s.ticks[k] != nil:
		return s.ticks[k](n)
	case s.log[k]:
		return logTicks(lo, hi, n)
	}
	return ticks(lo, hi, n)
}

// fit adapts limits and frame to the aspect. Limits grow about their centre; a shrinking frame keeps
// its upper left corner, except in a bare picture.
func (s *sheet) fit(in *vg.Rectangle, zoom vg.Length) {
	w, h := float64(in.Size().X), float64(in.Size().Y)
	l := &s.limits
	unitX, unitY := w/math.Abs(l.XMax-l.XMin), h/math.Abs(l.YMax-l.YMin)
	switch {
	case s.aspect == stretched || !(w > 0 && h > 0):
	case s.aspect == widened:
		unit := min(unitX, unitY)
		x, y := (l.XMin+l.XMax)/2, (l.YMin+l.YMax)/2
		l.XMin, l.XMax = x-w/unit/2, x+w/unit/2
		l.YMin, l.YMax = y-h/unit/2, y+h/unit/2
	default:
		unit := min(unitX, unitY) * float64(zoom)
		if unit > 6 {
			unit = math.Floor(unit) // equal cells of a matrix
		}
		free := *in
		in.Max.X = in.Min.X + vg.Length(unit*math.Abs(l.XMax-l.XMin))/zoom
		in.Min.Y = in.Max.Y - vg.Length(unit*math.Abs(l.YMax-l.YMin))/zoom
		if s.bare() { // nothing is beside it
			*in = in.Add(vg.Point{X: (free.Max.X - in.Max.X) / 2, Y: (free.Min.Y - in.Min.Y) / 2})
		}
	}
}

// onPixels moves the edges of r to whole pixels.
func onPixels(r *vg.Rectangle, zoom vg.Length) {
	for _, v := range []*vg.Length{&r.Min.X, &r.Min.Y, &r.Max.X, &r.Max.Y} {
		*v = vg.Length(math.Round(float64(*v*zoom))) / zoom
	}
}

// axes draws tick marks, their labels and the names of the axes.
func (s *sheet) axes(c *draw.Canvas, in vg.Rectangle, xs, ys []tick) {
	l := s.limits
	var marks vg.Path
	last := vg.Length(-1e9)
	for _, t := range xs {
		x := in.Min.X + in.Size().X*vg.Length((t.value-l.XMin)/(l.XMax-l.XMin))
		marks = polyline(marks, vg.Point{X: x, Y: in.Min.Y}, vg.Point{X: x, Y: in.Min.Y - t.length()})
		if t.label == "" {
			continue
		}
		w := width(t.label, fontSize)
		left := min(x-w/2, c.Max.X-w-2)
		if left < last+6 {
			continue // would overlap its neighbour
		}
		text(c, s.theme.Muted, fontSize, false, vg.Point{X: left, Y: in.Min.Y - 18}, t.label)
		last = left + w
	}
	for _, t := range ys {
		y := in.Min.Y + in.Size().Y*vg.Length((t.value-l.YMin)/(l.YMax-l.YMin))
		marks = polyline(marks, vg.Point{X: in.Min.X, Y: y}, vg.Point{X: in.Min.X - t.length(), Y: y})
		text(c, s.theme.Muted, fontSize, false, vg.Point{X: in.Min.X - 8 - width(t.label, fontSize), Y: y - 4}, t.label)
	}
	stroke(c, draw.LineStyle{Color: s.theme.Rule, Width: 1}, marks)

	mid := vg.Point{X: (in.Min.X + in.Max.X) / 2, Y: (in.Min.Y + in.Max.Y) / 2}
	foot := lists.Either(s.aspect == shrunk, in.Min.Y-36, c.Min.Y+8)
	if name := clip(s.labels[0], 13, in.Size().X); name != "" {
		text(c, s.theme.Ink, 13, false, vg.Point{X: mid.X - width(name, 13)/2, Y: foot}, name)
	}
	if name := clip(s.labels[1], 13, in.Size().Y); name != "" {
		c.Push()
		c.Translate(vg.Point{X: c.Min.X + 18, Y: mid.Y - width(name, 13)/2})
		c.Rotate(quarter)
		c.SetColor(s.theme.Ink)
		c.FillString(face(13, false), vg.Point{}, name)
		c.Pop()
	}
}
