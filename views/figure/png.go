package figure

import (
	"image"
	"image/color"
	imagedraw "image/draw"
	"io"
	"math"
	"sync"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngCanvas is gonum's image canvas, except that images, which have the right size already, are
// copied pixel by pixel, and equal marks and texts are drawn once.
type pngCanvas struct {
	*vgimg.Canvas
	zoom   float64 // device pixels per point
	stamps map[stampKey]*image.RGBA
}

// pngCanvases holds canvases for reuse: allocating the images takes longer than much of the drawing.
var pngCanvases sync.Pool

// newPNG returns a canvas of w x h device pixels in the colour of the paper. A
// point is zoom device pixels, a multiple of 1/8.
func newPNG(w, h int, zoom float64, paper color.Color) *pngCanvas {
	c, ok := pngCanvases.Get().(*pngCanvas)
	if !ok || c.zoom != zoom || c.Image().Bounds().Size() != image.Pt(w, h) {
		c = &pngCanvas{newImage(w, h, zoom), zoom, map[stampKey]*image.RGBA{}}
	}
	if len(c.stamps) > mostStamps {
		clear(c.stamps)
	}
	vg.Initialize(c)
	imagedraw.Draw(c.Image(), c.Image().Bounds(), image.NewUniform(paper), image.Point{}, imagedraw.Src)
	return c
}

func newImage(w, h int, zoom float64) *vgimg.Canvas {
	return vgimg.NewWith(
		vgimg.UseWH(vg.Length(float64(w)/zoom), vg.Length(float64(h)/zoom)),
		vgimg.UseDPI(int(72*zoom)),
		vgimg.UseBackgroundColor(color.Transparent),
	)
}

// dots converts a length to whole device pixels.
func (c *pngCanvas) dots(l vg.Length) int { return int(math.Round(float64(l) * c.zoom)) }

// DrawImage draws an opaque image faster than image/draw, which converts pixel by pixel.
func (c *pngCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	at := image.Pt(c.dots(r.Min.X), c.Image().Bounds().Dy()-c.dots(r.Max.Y))
	dst, src := c.Image().(*image.RGBA), img.(*image.Paletted)
	if !src.Rect.Add(at).In(dst.Rect) {
		imagedraw.Draw(dst, src.Rect.Add(at), src, image.Point{}, imagedraw.Src)
		return
	}
	var table [256][4]uint8
	for i, p := range src.Palette {
		v := color.RGBAModel.Convert(p).(color.RGBA)
		table[i] = [4]uint8{v.R, v.G, v.B, v.A}
	}
	for y := range src.Rect.Dy() {
		out := dst.Pix[dst.PixOffset(at.X, at.Y+y):]
		for x, k := range src.Pix[y*src.Stride : y*src.Stride+src.Rect.Dx()] {
			copy(out[4*x:4*x+4], table[k][:])
		}
	}
}

// stampKey identifies a mark or text and the subpixel at which it is drawn.
type stampKey struct {
	mark any
	x, y int // subpixel
}

// subpixels is the number of positions per pixel and axis at which stamps are drawn, so marks move
// by at most an eighth of a pixel.
const subpixels = 4

// mostStamps is the number of stamps kept between pictures, a few kilobytes each.
const mostStamps = 500

// stamp draws a mark at a place. Each mark is drawn once per subpixel, on an image of its own, and
// then copied.
func (c *pngCanvas) stamp(at vg.Point, within vg.Rectangle, mark any, paint func(*draw.Canvas, vg.Point)) {
	x, subX := c.subpixel(at.X)
	y, subY := c.subpixel(at.Y)
	down := func(l vg.Length) int { return int(math.Floor(float64(l)*c.zoom)) - 1 }
	left, right, bottom, top := down(within.Min.X), -down(-within.Max.X), down(within.Min.Y), -down(-within.Max.Y)
	key := stampKey{mark, subX, subY}
	img, ok := c.stamps[key]
	if !ok {
		sheet := newImage(right-left, top-bottom, c.zoom)
		place := func(pixel, sub int) vg.Length { return vg.Length((float64(pixel) + float64(sub)/subpixels) / c.zoom) }
		paint(&draw.Canvas{Canvas: sheet}, vg.Point{X: place(-left, subX), Y: place(-bottom, subY)})
		img = sheet.Image().(*image.RGBA)
		c.stamps[key] = img
	}
	corner := image.Pt(x+left, c.Image().Bounds().Dy()-y-top)
	imagedraw.Draw(c.Image(), img.Rect.Add(corner), img, image.Point{}, imagedraw.Over)
}

// subpixel splits a coordinate into whole device pixels and the nearest subpixel.
func (c *pngCanvas) subpixel(l vg.Length) (pixel, sub int) {
	n := int(math.Round(float64(l) * c.zoom * subpixels))
	return int(math.Floor(float64(n) / subpixels)), n & (subpixels - 1)
}

// writeTo encodes the pixels without alpha and without PNG filters. Pictures have large even areas
// and repeated marks, which compress better without filters; trying the filters on every row, as
// image/png does, would take half of the drawing time.
func (c *pngCanvas) writeTo(w io.Writer, greyscale bool) error {
	img := c.Image().(*image.RGBA)
	width := img.Rect.Dx()
	return packer.write(w, img.Rect.Size(), 8, 2, nil, 3*width, func(row []byte, y int) { // 8 bits each of red, green, blue
		line := img.Pix[y*img.Stride : y*img.Stride+4*width]
		for i, j := 0, 0; i < len(line); i, j = i+4, j+3 {
			copy(row[j:j+3], line[i:i+3])
			if greyscale {
				g := grey(color.NRGBA{line[i], line[i+1], line[i+2], 255})
				row[j], row[j+1], row[j+2] = g.R, g.G, g.B
			}
		}
	})
}
