package figure

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"marginlab/ml/lists"
)

// pdfCanvas is a vg.Canvas that writes a PDF of one page. Unlike gonum's it writes characters
// outside Windows-1252, such as γ and −, with an embedded font, and paths with arcs in one piece.
type pdfCanvas struct {
	vectorCanvas[[]float64]

	doc    *fpdf.Fpdf
	unit   float64 // points per unit
	images int
	rim    float64 // of text, in units; 0: none
	rimmed color.NRGBA
}

// pointsPerPixel is the size of a CSS pixel.
const pointsPerPixel = 72.0 / 96

// newPDF returns a page of w x h CSS pixels with zoom pixels per unit.
func newPDF(w, h, zoom float64, title string) *pdfCanvas {
	unit := zoom * pointsPerPixel
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: w * pointsPerPixel, Ht: h * pointsPerPixel}})
	doc.SetCatalogSort(true) // makes equal pictures equal files
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetProducer("Margin Lab", false)
	doc.SetTitle(title, true)
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	doc.AddUTF8FontFromBytes("sans", "", liberationsansregular.TTF)
	doc.AddUTF8FontFromBytes("sans", "B", liberationsansbold.TTF)
	doc.AddPage()
	c := &pdfCanvas{vectorCanvas: newVectorCanvas[[]float64](w/zoom, h/zoom), doc: doc, unit: unit}
	vg.Initialize(c)
	return c
}

func (c *pdfCanvas) SetLineDash(ds []vg.Length, _ vg.Length) {
	c.state.dash = lists.Map(ds, func(d vg.Length) float64 { return float64(d) * c.unit })
}

// at converts a point to PDF points from the upper left corner.
func (c *pdfCanvas) at(p vg.Point) (x, y float64) {
	x, y = c.vectorCanvas.at(p)
	return c.unit * x, c.unit * y
}

func (c *pdfCanvas) opacity() { c.doc.SetAlpha(float64(c.state.color.A)/255, "Normal") }

func (c *pdfCanvas) Fill(p vg.Path) {
	clr := c.state.color
	c.doc.SetFillColor(int(clr.R), int(clr.G), int(clr.B))
	c.opacity()
	c.trace(p)
	c.doc.DrawPath("F")
}

func (c *pdfCanvas) Stroke(p vg.Path) {
	if c.state.width <= 0 {
		return
	}
	clr := c.state.color
	c.doc.SetDrawColor(int(clr.R), int(clr.G), int(clr.B))
	c.opacity()
	c.doc.SetLineWidth(c.state.width * c.unit)
	c.doc.SetDashPattern(c.state.dash, 0)
	c.trace(p)
	c.doc.DrawPath("D")
}

// trace adds a path to the page, with arcs as Bézier curves of at most a quarter turn.
func (c *pdfCanvas) trace(p vg.Path) {
	for i, q := range p {
		switch q.Type {
		case vg.MoveComp:
			c.doc.MoveTo(c.at(q.Pos))
		case vg.LineComp:
			c.doc.LineTo(c.at(q.Pos))
		case vg.ArcComp:
			if from := onCircle(q, q.Start); i == 0 {
				c.doc.MoveTo(c.at(from))
			} else {
				c.doc.LineTo(c.at(from))
			}
			n := max(1, int(math.Ceil(math.Abs(q.Angle)/(math.Pi/2)-1e-9)))
			step := q.Angle / float64(n)
			reach := vg.Length(4.0 / 3 * math.Tan(step/4))
			for k := range n {
				a := q.Start + float64(k)*step
				from, to := onCircle(q, a), onCircle(q, a+step)
				x1, y1 := c.at(vg.Point{X: from.X - reach*(from.Y-q.Pos.Y), Y: from.Y + reach*(from.X-q.Pos.X)})
				x2, y2 := c.at(vg.Point{X: to.X + reach*(to.Y-q.Pos.Y), Y: to.Y - reach*(to.X-q.Pos.X)})
				x, y := c.at(to)
				c.doc.CurveBezierCubicTo(x1, y1, x2, y2, x, y)
			}
		case vg.CloseComp:
			c.doc.ClosePath()
		}
	}
}

func (c *pdfCanvas) FillString(f font.Face, p vg.Point, s string) {
	style := lists.Either(f.Font.Weight > 0, "B", "")
	c.doc.SetFont("sans", style, float64(f.Font.Size)*c.unit)
	x, y := c.at(p)
	m := &c.state.affine
	if turned := m[1] != 0; turned {
		c.doc.TransformBegin()
		defer c.doc.TransformEnd()
		c.doc.TransformRotate(math.Atan2(m[1], m[0])*180/math.Pi, x, y)
	}
	c.opacity()
	if c.rim > 0 {
		c.doc.SetTextRenderingMode(1)
		c.doc.SetDrawColor(int(c.rimmed.R), int(c.rimmed.G), int(c.rimmed.B))
		c.doc.SetDashPattern(nil, 0)
		c.doc.SetLineJoinStyle("round")
		c.doc.SetLineWidth(2 * c.rim * c.unit)
		c.doc.Text(x, y, s)
		c.doc.SetTextRenderingMode(0)
		c.doc.SetLineJoinStyle("miter")
	}
	clr := c.state.color
	c.doc.SetTextColor(int(clr.R), int(clr.G), int(clr.B))
	c.doc.Text(x, y, s)
}

func (c *pdfCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	var b bytes.Buffer
	if err := png.Encode(&b, c.paletted(img)); err != nil {
		c.doc.SetError(err)
		return
	}
	c.images++
	name, options := strconv.Itoa(c.images), fpdf.ImageOptions{ImageType: "png"}
	c.doc.RegisterImageOptionsReader(name, options, &b)
	x, y := c.at(vg.Point{X: r.Min.X, Y: r.Max.Y})
	c.doc.SetAlpha(1, "Normal")
	c.doc.ImageOptions(name, x, y, float64(r.Size().X)*c.unit, float64(r.Size().Y)*c.unit, false, options, 0, "")
}

// PDF writes the picture as a PDF of one page with its fonts. All but heat maps and the regions of
// more than two classes are vector graphics.
func (p *Picture) PDF(ctx context.Context, w io.Writer) error {
	c := newPDF(float64(p.Width)*p.unit(), float64(p.Height)*p.unit(), p.zoom*p.unit(), p.Caption)
	c.grey = p.Greyscale
	p.fillPaper(c)
	return p.write(ctx, "PDF", c, func() error { return c.doc.Output(w) })
}

// grey returns a grey of the same lightness.
func grey(c color.NRGBA) color.NRGBA {
	y := color.GrayModel.Convert(color.NRGBA{c.R, c.G, c.B, 255}).(color.Gray).Y
	return color.NRGBA{y, y, y, c.A}
}
