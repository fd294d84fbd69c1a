package figure

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"sync"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a vg.Canvas that writes SVG in CSS pixels. Unlike gonum's it writes sizes in pixels,
// images that fill their rectangle (preserveAspectRatio), compact flat images, and one group for
// adjacent elements of the same style, with only the differences on an element of another style.
// Arcs keep their shape only under rotation and uniform scaling.
type svgCanvas struct {
	vectorCanvas[string]

	zoom  float64 // CSS pixels per unit
	unit  float64 // CSS pixels of the document per pixel of the layout
	print bool    // sizes in millimetres, regions as paths
	buf   *bytes.Buffer

	rim     string    // attributes of text with a rim
	crisp   bool      // scale images without smoothing
	group   *svgStyle // style of the open group; nil: none is open
	last    svgStyle  // of the previous path
	far     int       // recent paths that differed much from the group's style, minus those that did not
	pending struct {
		path  vg.Path
		color color.NRGBA
		shape []byte
	}
	styles map[[2]svgStyle]string // attributes that change one style into another
	room   []byte                 // buffer for a shape
	err    error                  // first error of encoding an image
}

type svgStyle struct {
	filled, stroked bool
	fill, stroke    color.NRGBA
	width           float64
	dash            string
}

// newSVG returns a canvas of w x h CSS pixels, each 1/zoom units.
func newSVG(w, h int, zoom float64) *svgCanvas {
	c := &svgCanvas{vectorCanvas: newVectorCanvas[string](float64(w)/zoom, float64(h)/zoom), zoom: zoom, unit: 1, styles: map[[2]svgStyle]string{}}
	if c.buf, _ = svgTexts.Get().(*bytes.Buffer); c.buf == nil {
		c.buf = new(bytes.Buffer)
	}
	c.buf.Reset()
	vg.Initialize(c)
	return c
}

// svgTexts holds buffers for the text of a picture, some hundred kilobytes each.
var svgTexts sync.Pool // of *bytes.Buffer

func (c *svgCanvas) SetLineDash(ds []vg.Length, _ vg.Length) {
	var b []byte
	for i, d := range ds {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendNumber(b, float64(d))
	}
	c.state.dash = string(b)
}

func (c *svgCanvas) Fill(p vg.Path) {
	c.flush()
	c.pending.path, c.pending.color, c.pending.shape = p, c.state.color, c.shape(c.pending.shape[:0], p)
}

// Stroke merges the stroke with a preceding fill of the same path.
func (c *svgCanvas) Stroke(p vg.Path) {
	if c.state.width <= 0 {
		return
	}
	style := svgStyle{stroked: true, stroke: c.state.color, width: c.state.width, dash: c.state.dash}
	filled := c.pending.path
	c.room = append(c.room[:0], c.pending.shape...)
	if len(filled) == 0 || len(filled) != len(p) || &filled[0] != &p[0] { // not the same path
		c.room = c.shape(c.room[:0], p)
	}
	if len(filled) > 0 && bytes.Equal(c.room, c.pending.shape) {
		style.filled, style.fill = true, c.pending.color
		c.pending.path = nil
	}
	c.flush()
	c.emit(style, c.room)
}

// flush writes a fill that waited for a stroke.
func (c *svgCanvas) flush() {
	if len(c.pending.path) > 0 {
		c.pending.path = nil
		c.emit(svgStyle{filled: true, fill: c.pending.color}, c.pending.shape)
	}
}

func (c *svgCanvas) emit(style svgStyle, shape []byte) {
	again := style == c.last
	c.last = style
	if c.group == nil || *c.group != style {
		whole := c.changes(svgStyle{filled: true}, style)
		if c.group != nil && !again && c.group.opaque() && style.opaque() {
			changes := c.changes(*c.group, style)
			far := 3*len(changes) >= 2*len(whole)
			c.far = max(0, c.far+2*btoi(far)-1)
			if !far || c.far < mostFar && len(changes) <= len(whole) {
				c.buf.Write(bytes.TrimSuffix(shape, svgEnd))
				c.buf.WriteString(changes)
				c.buf.Write(svgEnd)
				return
			}
		}
		c.close()
		c.group, c.last, c.far = &style, style, 0
		c.buf.WriteString("<g")
		c.buf.WriteString(whole)
		c.buf.WriteString(">\n")
	}
	c.far = max(0, c.far-1)
	c.buf.Write(shape)
}

// mostFar is the value of far at which the group is closed, because most paths differ from its
// style.
const mostFar = 4

// svgEnd ends the element of a path.
var svgEnd = []byte("/>\n")

// changes returns the attributes that change one style into another.
func (c *svgCanvas) changes(from, to svgStyle) string {
	key := [2]svgStyle{from, to}
	text, ok := c.styles[key]
	if !ok {
		text = to.over(from)
		c.styles[key] = text
	}
	return text
}

// over returns the attributes in which the style differs from an enclosing one.
func (s svgStyle) over(o svgStyle) (text string) {
	switch {
	case s.filled && (!o.filled || s.fill != o.fill):
		text = paint("fill", s.fill)
	case !s.filled && o.filled:
		text = ` fill="none"`
	}
	switch {
	case s.stroked && (!o.stroked || s.stroke != o.stroke):
		text += paint("stroke", s.stroke)
	case !s.stroked && o.stroked:
		return text + ` stroke="none"`
	}
	if s.width != o.width {
		text += ` stroke-width="` + string(appendNumber(nil, s.width)) + `"`
	}
	switch {
	case s.dash == "" && o.dash != "":
		text += ` stroke-dasharray="none"`
	case s.dash != o.dash:
		text += ` stroke-dasharray="` + s.dash + `"`
	}
	return text
}

// opaque reports whether the style is opaque.
func (s svgStyle) opaque() bool {
	return (!s.filled || s.fill.A == 255) && (!s.stroked || s.stroke.A == 255)
}

func (c *svgCanvas) close() {
	c.flush()
	if c.group != nil {
		c.group, c.last = nil, svgStyle{}
		c.buf.WriteString("</g>\n")
	}
}

// shape appends the element of a path, without its style.
func (c *svgCanvas) shape(b []byte, p vg.Path) []byte {
	if isCircle(p) {
		x, y := c.at(p[1].Pos)
		b = append(b, `<circle cx="`...)
		b = appendNumber(b, x)
		b = append(b, `" cy="`...)
		b = appendNumber(b, y)
		b = append(b, `" r="`...)
		b = appendNumber(b, c.scale()*float64(p[1].Radius))
		return append(b, "\"/>\n"...)
	}
	b = append(b, `<path d="`...)
	return append(c.outline(b, p), "\"/>\n"...)
}

// scale returns the number of document units per unit of a path.
func (c *svgCanvas) scale() float64 {
	m := &c.state.affine
	return math.Sqrt(math.Abs(m[0]*m[3] - m[1]*m[2]))
}

// outline appends the data of a path.
func (c *svgCanvas) outline(b []byte, p vg.Path) []byte {
	var lastX, lastY float64
	coord := func(p vg.Point) {
		x, y := c.at(p)
		lastX, lastY = x, y
		b = append(appendNumber(b, x), ' ')
		b = appendNumber(b, y)
	}
	scale := c.scale()
	arc := func(q vg.PathComp, from, to float64) {
		r := scale * float64(q.Radius)
		b = append(b, 'A')
		b = appendNumber(b, r)
		b = append(b, ' ')
		b = appendNumber(b, r)
		b = append(b, " 0 "...)
		b = append(b, "01"[btoi(math.Abs(to-from) > math.Pi)], ' ', "01"[btoi(to < from)], ' ')
		coord(onCircle(q, to))
	}
	for i, q := range p {
		switch q.Type {
		case vg.MoveComp:
			b = append(b, 'M')
			coord(q.Pos)
		case vg.LineComp:
			x, y := c.at(q.Pos)
			switch { // horizontal and vertical lines need one number
			case hundredths(y) == hundredths(lastY):
				b = appendNumber(append(b, 'H'), x)
			case hundredths(x) == hundredths(lastX):
				b = appendNumber(append(b, 'V'), y)
			default:
				b = append(b, 'L')
				coord(q.Pos)
			}
			lastX, lastY = x, y
		case vg.ArcComp:
			b = append(b, "ML"[btoi(i > 0)])
			coord(onCircle(q, q.Start))
			half, end := q.Start+q.Angle/2, q.Start+q.Angle
			arc(q, q.Start, half) // SVG cannot draw a full turn in one arc
			arc(q, half, end)
		case vg.CloseComp:
			b = append(b, 'Z')
		}
	}
	return b
}

func isCircle(p vg.Path) bool {
	return len(p) == 3 && p[0].Type == vg.MoveComp && p[1].Type == vg.ArcComp && p[2].Type == vg.CloseComp && math.Abs(p[1].Angle) >= 2*math.Pi
}

func onCircle(q vg.PathComp, angle float64) vg.Point {
	s, c := math.Sincos(angle)
	return vg.Point{X: q.Pos.X + q.Radius*vg.Length(c), Y: q.Pos.Y + q.Radius*vg.Length(s)}
}

func (c *svgCanvas) FillString(f font.Face, p vg.Point, s string) {
	c.close()
	x, y := c.at(p)
	b := append([]byte(nil), `<text x="`...)
	b = appendNumber(b, x)
	b = append(b, `" y="`...)
	b = appendNumber(b, y)
	b = append(b, `" font-size="`...)
	b = appendNumber(b, float64(f.Font.Size))
	b = append(b, '"')
	b = append(b, paint("fill", c.state.color)...)
	b = append(b, c.rim...)
	if f.Font.Weight > 0 {
		b = append(b, ` font-weight="bold"`...)
	}
	if m := &c.state.affine; m[1] != 0 {
		b = append(b, ` transform="rotate(`...)
		b = appendNumber(b, -math.Atan2(m[1], m[0])*180/math.Pi)
		b = append(b, ' ')
		b = appendNumber(b, x)
		b = append(b, ' ')
		b = appendNumber(b, y)
		b = append(b, `)"`...)
	}
	c.buf.Write(append(b, '>'))
	_ = xml.EscapeText(c.buf, []byte(s)) // a bytes.Buffer does not fail
	c.buf.WriteString("</text>\n")
}

func (c *svgCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	c.close()
	x, y := c.at(vg.Point{X: r.Min.X, Y: r.Max.Y})
	b := append([]byte(nil), `<image x="`...)
	b = appendNumber(b, x)
	b = append(b, `" y="`...)
	b = appendNumber(b, y)
	b = append(b, `" width="`...)
	b = appendNumber(b, float64(r.Size().X))
	b = append(b, `" height="`...)
	b = appendNumber(b, float64(r.Size().Y))
	if c.crisp {
		b = append(b, `" image-rendering="pixelated`...)
	}
	c.buf.Write(append(b, `" preserveAspectRatio="none" href="data:image/png;base64,`...))
	enc := base64.NewEncoder(base64.StdEncoding, c.buf)
	c.err = cmp.Or(c.err, packer.indexed(enc, c.paletted(img)))
	_ = enc.Close()
	c.buf.WriteString("\"/>\n")
}

// writeTo writes the document. Its fonts have the widths of the font used for the layout.
func (c *svgCanvas) writeTo(w io.Writer, title string) error {
	c.close()
	if c.err != nil {
		return c.err
	}
	var head bytes.Buffer
	width, height := fmt.Sprintf("%g", math.Round(c.w*c.zoom*c.unit)), fmt.Sprintf("%g", math.Round(c.h*c.zoom*c.unit))
	if c.print {
		const millimetres = 25.4 / 96
		width, height = fmt.Sprintf("%.5gmm", c.w*c.zoom*c.unit*millimetres), fmt.Sprintf("%.5gmm", c.h*c.zoom*c.unit*millimetres)
	}
	fmt.Fprintf(&head, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %.6g %.6g" font-family="`+fontFamily+`">`+"\n", width, height, c.w, c.h)
	if title != "" {
		head.WriteString("<title>")
		_ = xml.EscapeText(&head, []byte(title))
		head.WriteString("</title>\n")
	}
	c.buf.WriteString("</svg>\n")
	if _, err := head.WriteTo(w); err != nil {
		return err
	}
	_, err := c.buf.WriteTo(w)
	return err
}

// fontFamily lists fonts with the widths of the font used for the layout; pages use the same.
const fontFamily = "Arial,'Liberation Sans',Helvetica,sans-serif"

// packer writes the images and the pixels of all pictures.
var packer pngWriter

func paint(attr string, c color.NRGBA) string {
	s := " " + attr + `="` + Hex(c) + `"`
	if c.A < 255 {
		s += " " + attr + `-opacity="` + strconv.FormatFloat(float64(c.A)/255, 'g', 3, 64) + `"`
	}
	return s
}

func nrgba(c color.Color) color.NRGBA {
	if c == nil {
		return color.NRGBA{A: 255}
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

// appendNumber writes hundredths of a pixel, without trailing zeros.
func appendNumber(b []byte, v float64) []byte {
	n := hundredths(v)
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/100, 10)
	if f := n % 100; f != 0 {
		b = append(b, '.', byte('0'+f/10))
		if f%10 != 0 {
			b = append(b, byte('0'+f%10))
		}
	}
	return b
}

func hundredths(v float64) int64 { return int64(math.Round(v * 100)) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
