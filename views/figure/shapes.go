package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
)

// Shapes are the names of the class markers, repeating after the last.
var Shapes = []string{"circle", "triangle", "square", "diamond", "inverted triangle", "pentagon", "hexagon"}

// polygons describes Shapes: the number of corners (0: a circle), the direction of the first, and
// its distance from the centre in radii, chosen so that all shapes have about the same area.
var polygons = [...]struct {
	corners   int
	direction float64
	distance  vg.Length
}{{}, {3, math.Pi / 2, 1.5}, {4, math.Pi / 4, 1.25}, {4, 0, 1.35}, {3, -math.Pi / 2, 1.5}, {5, math.Pi / 2, 1.2}, {6, 0, 1.12}}

// shape returns the outline of class i's marker.
func shape(i int, at vg.Point, r vg.Length) vg.Path {
	s := polygons[i%len(polygons)]
	if s.corners == 0 {
		return circle(at, r)
	}
	return polygon(nil, lists.Make(s.corners, func(k int) vg.Point {
		sin, cos := math.Sincos(s.direction + 2*math.Pi*float64(k)/float64(s.corners))
		return vg.Point{X: at.X + r*s.distance*vg.Length(cos), Y: at.Y + r*s.distance*vg.Length(sin)}
	})...)
}

// polyline appends the line through points to a path.
func polyline(p vg.Path, ps ...vg.Point) vg.Path {
	p.Move(ps[0])
	for _, q := range ps[1:] {
		p.Line(q)
	}
	return p
}

// polygon appends the closed line through points to a path.
func polygon(p vg.Path, ps ...vg.Point) vg.Path {
	p = polyline(p, ps...)
	p.Close()
	return p
}

func stroke(c *draw.Canvas, style draw.LineStyle, p vg.Path) {
	c.SetLineStyle(style)
	c.Stroke(p)
}

func circle(at vg.Point, r vg.Length) vg.Path {
	p := make(vg.Path, 0, 3)
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
	return p
}

// box returns a square of side 2r.
func box(at vg.Point, r vg.Length) vg.Path {
	return vg.Rectangle{Min: vg.Point{X: at.X - r, Y: at.Y - r}, Max: vg.Point{X: at.X + r, Y: at.Y + r}}.Path()
}

// stamp draws a mark that lies within a rectangle around its place. Equal marks must look the same
// everywhere: PNG canvases copy them, since drawing thousands is slow. The canvas must not be
// rotated.
func stamp(c *draw.Canvas, at vg.Point, within vg.Rectangle, mark any, paint func(c *draw.Canvas, at vg.Point)) {
	switch b := c.Canvas.(type) {
	case *pngCanvas:
		b.stamp(at, within, mark, paint)
	case *listCanvas:
		b.stamp(at, mark, paint)
	default:
		paint(c, at)
	}
}

// square returns a rectangle that extends equally to all sides.
func square(reach vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: -reach, Y: -reach}, Max: vg.Point{X: reach, Y: reach}}
}

// marker is the style of a point.
type marker struct {
	class  int
	color  color.NRGBA
	paper  color.NRGBA
	hollow bool // held out
}

func (m marker) draw(c *draw.Canvas, at vg.Point, r vg.Length) {
	fill, line, width := m.color, m.paper, min(0.8, r*0.25)
	if m.hollow {
		fill, line, width = m.paper, m.color, max(1.2, r*0.36)
		r -= width / 3
	}
	type key struct {
		marker
		r vg.Length
	}
	reach := max(1, polygons[m.class%len(polygons)].distance) * r
	stamp(c, at, square(reach+width), key{m, r}, func(c *draw.Canvas, at vg.Point) {
		p := shape(m.class, at, r)
		c.SetColor(fill)
		c.Fill(p)
		stroke(c, draw.LineStyle{Color: line, Width: width}, p)
	})
}

// cross strikes out a misclassified point, below its marker so that the true class stays visible.
func cross(c *draw.Canvas, at vg.Point, r vg.Length, ink color.NRGBA) {
	d, width := max(2.6, r*1.75), max(1.1, r*0.42)
	type key struct {
		d, width vg.Length
		ink      color.NRGBA
	}
	stamp(c, at, square(d+width), key{d, width, ink}, func(c *draw.Canvas, at vg.Point) {
		p := polyline(nil, vg.Point{X: at.X - d, Y: at.Y - d}, vg.Point{X: at.X + d, Y: at.Y + d})
		p = polyline(p, vg.Point{X: at.X - d, Y: at.Y + d}, vg.Point{X: at.X + d, Y: at.Y - d})
		stroke(c, draw.LineStyle{Color: ink, Width: width}, p)
	})
}

// core marks a core of the conformal map by a small diamond.
func core(c *draw.Canvas, at vg.Point, r vg.Length, ink, paper color.NRGBA) {
	r = max(1.8, r*0.42)
	type key struct {
		r          vg.Length
		ink, paper color.NRGBA
	}
	stamp(c, at, square(1.35*r+1), key{r, ink, paper}, func(c *draw.Canvas, at vg.Point) {
		p := shape(3, at, r)
		c.SetColor(paper)
		c.Fill(p)
		stroke(c, draw.LineStyle{Color: ink, Width: 1}, p)
	})
}
