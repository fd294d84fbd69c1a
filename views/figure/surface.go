package figure

import (
	"context"
	"image"
	"image/color"
	"math"
	"sync"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// surface holds values on the (n+1) x (n+1) nodes of a grid over the limits of a picture, edges
// included. Colours and lines are interpolated from the same values, so that they match.
type surface struct {
	n   int // cells per axis
	lim Limits
	f   []float64 // row-major, y ascending; those of the first of several machines
	c   []float64 // conformal factor; nil without a map

	scores, maps [][]float64 // f and c of each machine
}

// newSurface returns the surface of a model with n cells per axis, or ctx.Err().
func newSurface(ctx context.Context, m *ml.Model, v dataset.View, lim Limits, n int) (*surface, error) {
	s := &surface{n: n, lim: lim}
	var err error
	if s.scores, s.maps, err = m.Surface(ctx, v, steps(lim.XMin, lim.XMax, n), steps(lim.YMin, lim.YMax, n)); err != nil {
		return nil, err
	}
	for k := range s.scores {
		bound(s.scores[k])
		bound(s.maps[k])
	}
	s.f, s.c = s.scores[0], s.maps[0]
	return s, nil
}

// steps returns n+1 equidistant values from lo to hi.
func steps(lo, hi float64, n int) []float64 {
	v := make([]float64, n+1)
	for i := range v {
		t := float64(i) / float64(n)
		v[i] = lo*(1-t) + hi*t
	}
	return v
}

// bound clamps values too large to subtract.
func bound(f []float64) {
	const huge = 1e150
	for i, v := range f {
		if v > huge {
			f[i] = huge
		} else if v < -huge {
			f[i] = -huge
		}
	}
}

// extent returns the smallest and largest number in f; ok is false if there is none.
func extent(f []float64) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range f {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi, lo <= hi
}

// paint returns an image of w x h pixels that covers the limits, with a palette index for each
// pixel's interpolated value. index must be monotonic in the value; it gets NaN if a corner of the
// cell is NaN.
func (s *surface) paint(f []float64, w, h int, p color.Palette, index func(v float64) uint8) *image.Paletted {
	img := &image.Paletted{Pix: pixels(w * h), Stride: w, Rect: image.Rect(0, 0, w, h), Palette: p}
	n := s.n
	first, share := make([]int, n+1), make([]float64, w) // first pixel of each cell, and each pixel's position within its cell
	for i := range share {
		x := (float64(i) + 0.5) / float64(w) * float64(n)
		k := min(int(x), n-1)
		share[i] = x - float64(k)
		first[k+1] = i + 1
	}
	for k := range n { // including cells without a pixel
		first[k+1] = max(first[k], first[k+1])
	}
	corners := make([]uint8, 2*(n+1)) // indices of the nodes below and above a row of cells
	below, above := corners[:n+1], corners[n+1:]
	indices := func(out []uint8, row int) {
		for i, v := range f[row*(n+1) : (row+1)*(n+1)] {
			out[i] = index(v)
		}
	}
	mixed := make([]int, 0, n) // cells whose corners differ
	plain := make([]uint8, w)  // pixels of the other cells
	last := -1                 // row of cells in plain
	for j := range h {
		y := (1 - (float64(j)+0.5)/float64(h)) * float64(n)
		row := min(int(y), n-1)
		t := y - float64(row)
		if row != last {
			if row+1 == last {
				below, above = above, below
			} else {
				indices(above, row+1)
			}
			indices(below, row)
			mixed, last = mixed[:0], row
			for k := range n {
				if a := below[k]; a != below[k+1] || a != above[k] || a != above[k+1] {
					mixed = append(mixed, k)
					continue
				}
				for i := first[k]; i < first[k+1]; i++ {
					plain[i] = below[k]
				}
			}
		}
		low, high := f[row*(n+1):(row+1)*(n+1)], f[(row+1)*(n+1):(row+2)*(n+1)]
		out := img.Pix[j*img.Stride : j*img.Stride+w]
		copy(out, plain)
		for _, k := range mixed {
			from, to := low[k]+t*(high[k]-low[k]), low[k+1]+t*(high[k+1]-low[k+1])
			cell := out[first[k]:first[k+1]]
			if end := index(from); end == index(to) {
				for i := range cell {
					cell[i] = end
				}
				continue
			}
			for i := range cell {
				cell[i] = index(from + share[first[k]+i]*(to-from))
			}
		}
	}
	return img
}

// pixels returns n uninitialised pixels, reusing those of an earlier image if possible.
func pixels(n int) []uint8 {
	if room, _ := pixelRoom.Get().(*[]uint8); room != nil && cap(*room) >= n {
		return (*room)[:n]
	}
	return make([]uint8, n)
}

// pixelRoom holds pixels for reuse.
var pixelRoom sync.Pool // of *[]uint8

// field is an image that covers the frame. paint is called with a resolution that suits the canvas.
type field struct {
	cells int // of a smooth image; 0: the image has edges and needs every pixel
	paint func(w, h int) *image.Paletted
	bands func(c *draw.Canvas) // draws the image as paths, for print; nil: draw the image
}

func (f field) draw(c *draw.Canvas, _ mapping) {
	size := c.Size()
	w, h := int(size.X), int(size.Y)
	if f.bands != nil && forPrint(c) {
		f.bands(c)
		return
	}
	switch b := c.Canvas.(type) {
	case *pngCanvas:
		w, h = b.dots(c.Max.X)-b.dots(c.Min.X), b.dots(c.Max.Y)-b.dots(c.Min.Y)
	case *svgCanvas: // the viewer scales it
		most := lists.Either(f.cells > 0, f.cells, 900)
		w, h = min(w, most), min(h, most)
	case *pdfCanvas: // 400 pixels per inch
		w, h = 4*w, 4*h
	case *listCanvas: // scaled, and moving
		w, h = w/2, h/2
	}
	img := f.paint(w, h)
	c.DrawImage(c.Rectangle, img)
	pixelRoom.Put(&img.Pix)
}

// forPrint reports whether the canvas belongs to a printable document.
func forPrint(c *draw.Canvas) bool {
	if svg, ok := c.Canvas.(*svgCanvas); ok {
		return svg.print
	}
	_, ok := c.Canvas.(*pdfCanvas)
	return ok
}

// bands fills the area where f is a number with the first colour, and the area where it is at least
// a level with the colour of that level; levels ascend.
func (s *surface) bands(c *draw.Canvas, f []float64, colors color.Palette, levels ...float64) {
	for k, level := range append([]float64{math.Inf(-1)}, levels...) {
		c.SetColor(colors[k])
		if p := s.above(c.Rectangle, f, level); len(p) > 0 {
			c.Fill(p)
		}
	}
}

// above outlines the area where f is at least level, interpolated like level lines: rectangles of
// adjacent cells, and polygons in cells crossed by a line.
func (s *surface) above(r vg.Rectangle, f []float64, level float64) (path vg.Path) {
	n := s.n
	at := func(x, y float64) vg.Point {
		return vg.Point{X: r.Min.X + r.Size().X*vg.Length(x/float64(n)), Y: r.Min.Y + r.Size().Y*vg.Length(y/float64(n))}
	}
	for j := range n {
		y := float64(j)
		from := -1 // start of a run of whole cells
		end := func(i int) {
			if from >= 0 {
				path = polygon(path, at(float64(from), y), at(float64(i), y), at(float64(i), y+1), at(float64(from), y+1))
				from = -1
			}
		}
		for i := range n {
			k := j*(n+1) + i
			v := [4]float64{f[k], f[k+1], f[k+n+2], f[k+n+1]} // counter-clockwise
			inside := 0
			for _, a := range v {
				inside += btoi(a >= level)
			}
			if inside == 4 {
				if from < 0 {
					from = i
				}
				continue
			}
			end(i)
			if inside == 0 || !finite(v[:]...) {
				continue
			}
			x := float64(i)
			places := [4][2]float64{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}
			apart := inside == 2 && (v[0] >= level) == (v[2] >= level) && v[0]/4+v[1]/4+v[2]/4+v[3]/4 < level
			var corners []vg.Point
			for e := range 4 {
				a, b := v[e], v[(e+1)%4]
				p, q := places[e], places[(e+1)%4]
				if a >= level {
					corners = append(corners, at(p[0], p[1]))
				}
				if (a >= level) != (b >= level) {
					t := (level - a) / (b - a)
					corners = append(corners, at(p[0]+t*(q[0]-p[0]), p[1]+t*(q[1]-p[1])))
				}
			}
			if apart { // a saddle with separate corners
				if v[0] >= level { // corners: 0, its right, 2's right, 2, 2's left, 0's upper
					path = polygon(path, corners[0], corners[1], corners[5])
					path = polygon(path, corners[2], corners[3], corners[4])
				} else {
					path = polygon(path, corners[0], corners[1], corners[2])
					path = polygon(path, corners[3], corners[4], corners[5])
				}
				continue
			}
			path = polygon(path, corners...)
		}
		end(n)
	}
	return path
}

// level is a level line to be drawn.
type level struct {
	lines [][][2]float64 // grid coordinates
	n     int
	style draw.LineStyle
}

func (s *surface) level(t *tracer, f []float64, at float64, style draw.LineStyle) level {
	return level{t.lines(f, s.n+1, s.n+1, at), s.n, style}
}

func (l level) draw(c *draw.Canvas, _ mapping) {
	if len(l.lines) > 0 {
		stroke(c, l.style, l.path(c))
	}
}

func (l level) path(c *draw.Canvas) vg.Path {
	size, n := c.Size(), vg.Length(l.n)
	places := 0
	for _, line := range l.lines {
		places += len(line)
	}
	p := make(vg.Path, 0, places)
	for _, line := range l.lines {
		for i, q := range line {
			pt := vg.Point{X: c.Min.X + vg.Length(q[0])/n*size.X, Y: c.Min.Y + vg.Length(q[1])/n*size.Y}
			switch {
			case i == 0:
				p.Move(pt)
			case i == len(line)-1 && q == line[0]:
				p.Close()
			default:
				p.Line(pt)
			}
		}
	}
	return p
}

// at interpolates f at grid coordinates; ok is false outside.
func (s *surface) at(f []float64, x, y float64) (float64, bool) {
	n := float64(s.n)
	if !(x >= 0 && y >= 0 && x <= n && y <= n) {
		return 0, false
	}
	i, j := min(int(x), s.n-1), min(int(y), s.n-1)
	u, v := x-float64(i), y-float64(j)
	k := j*(s.n+1) + i
	low := f[k] + u*(f[k+1]-f[k])
	k += s.n + 1
	high := f[k] + u*(f[k+1]-f[k])
	return low + v*(high-low), true
}

// grid maps data to grid coordinates.
func (s *surface) grid(x, y float64) (gx, gy float64) {
	return (x - s.lim.XMin) / (s.lim.XMax - s.lim.XMin) * float64(s.n), (y - s.lim.YMin) / (s.lim.YMax - s.lim.YMin) * float64(s.n)
}

// climb follows the gradient from (x, y), in grid coordinates, until y f = 1: the slack of a point,
// drawn as the path to its margin. aspect is the height of the picture over its width, because the
// gradient is taken in the picture. The path ends early at the edge of the picture or at an
// extremum of f.
func (s *surface) climb(x, y, sign, aspect float64) (way [][2]float64) {
	const h, step = 0.5, 0.7
	f, ok := s.at(s.f, x, y)
	if !ok || sign*f >= 1 { // the interpolated f may already be there
		return nil
	}
	way = append(way, [2]float64{x, y})
	var px, py float64
	for range 3 * s.n {
		l, ok1 := s.at(s.f, x-h, y)
		r, ok2 := s.at(s.f, x+h, y)
		d, ok3 := s.at(s.f, x, y-h)
		u, ok4 := s.at(s.f, x, y+h)
		if !ok1 || !ok2 || !ok3 || !ok4 {
			return way
		}
		gx, gy := sign*(r-l), sign*(u-d)/aspect // per pixel along each axis
		norm := math.Hypot(gx, gy)
		if !(norm > 0) || gx*px+gy*py < 0 {
			return way
		}
		px, py = gx, gy
		nx, ny := x+step*gx/norm, y+step*gy/norm/aspect
		next, ok := s.at(s.f, nx, ny)
		if !ok || !(sign*next > sign*f) {
			return way
		}
		if sign*next >= 1 {
			t := (1 - sign*f) / (sign*next - sign*f)
			return append(way, [2]float64{x + t*(nx-x), y + t*(ny-y)})
		}
		x, y, f = nx, ny, next
		way = append(way, [2]float64{x, y})
	}
	return way
}

// heatScale is the |f| at which the colours saturate.
const heatScale = 2

// scale maps [lo, hi] to the indices of a palette. Values outside get the colours of the ends, NaN
// that of the middle.
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
