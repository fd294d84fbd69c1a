package figure

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"

	"marginlab/ml/lists"
)

// vectorCanvas holds the drawing state shared by the SVG and PDF canvases. D is the type of their
// dash patterns.
type vectorCanvas[D any] struct {
	w, h  float64 // in units of its own
	grey  bool    // without hues
	state canvasState[D]
	stack []canvasState[D]
}

type canvasState[D any] struct {
	color  color.NRGBA
	width  float64
	dash   D
	affine [6]float64 // x' = a x + c y + e, y' = b x + d y + f, y upwards
}

func newVectorCanvas[D any](w, h float64) vectorCanvas[D] {
	return vectorCanvas[D]{w: w, h: h, state: canvasState[D]{affine: [6]float64{1, 0, 0, 1, 0, 0}}}
}

func (c *vectorCanvas[D]) Size() (w, h vg.Length)   { return vg.Length(c.w), vg.Length(c.h) }
func (c *vectorCanvas[D]) SetLineWidth(w vg.Length) { c.state.width = float64(w) }
func (c *vectorCanvas[D]) Push()                    { c.stack = append(c.stack, c.state) }
func (c *vectorCanvas[D]) Pop()                     { c.state, c.stack = c.stack[len(c.stack)-1], c.stack[:len(c.stack)-1] }

func (c *vectorCanvas[D]) SetColor(clr color.Color) {
	c.state.color = nrgba(clr)
	if c.grey {
		c.state.color = grey(c.state.color)
	}
}

// paletted returns an image to draw, in grey on a canvas without hues. All images of this package have
// a palette.
func (c *vectorCanvas[D]) paletted(img image.Image) *image.Paletted {
	p := img.(*image.Paletted)
	if c.grey {
		g := *p
		g.Palette = lists.Map(p.Palette, func(c color.Color) color.Color { return grey(nrgba(c)) })
		return &g
	}
	return p
}

func (c *vectorCanvas[D]) Rotate(rad float64)   { s, k := math.Sincos(rad); c.apply(k, s, -s, k, 0, 0) }
func (c *vectorCanvas[D]) Translate(p vg.Point) { c.apply(1, 0, 0, 1, float64(p.X), float64(p.Y)) }
func (c *vectorCanvas[D]) Scale(x, y float64)   { c.apply(x, 0, 0, y, 0, 0) }

func (c *vectorCanvas[D]) apply(a, b, cc, d, e, f float64) {
	m := c.state.affine
	c.state.affine = [6]float64{
		m[0]*a + m[2]*b, m[1]*a + m[3]*b,
		m[0]*cc + m[2]*d, m[1]*cc + m[3]*d,
		m[0]*e + m[2]*f + m[4], m[1]*e + m[3]*f + m[5],
	}
}

// at converts a point to units from the upper left corner, y downwards.
func (c *vectorCanvas[D]) at(p vg.Point) (x, y float64) {
	m, px, py := &c.state.affine, float64(p.X), float64(p.Y)
	return m[0]*px + m[2]*py + m[4], c.h - (m[1]*px + m[3]*py + m[5])
}
