package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
)

// easel is the surface for the marks of a plane. It tracks where there is ink, to place
// labels where there is none.
type easel struct {
	*draw.Canvas
	mapping
	theme *Theme
	thick vg.Length // line width
	dots  int       // number of dots
	words bool      // whether there is room for labels
	ink   []blot
	wait  []note
	last  []note // placed last, since they have many possible places
}

func (s *sheet) easel(c *draw.Canvas, m mapping) *easel {
	e := &easel{Canvas: c, mapping: m, theme: s.theme, thick: s.stroke(), words: !s.bare()}
	if s.waits != "" && e.words {
		n := note{text: s.waits, clr: Muted}
		half := width(s.waits, labelSize)/2 + 4
		for _, x := range []vg.Length{(m.frame.Min.X + m.frame.Max.X) / 2, m.frame.Min.X + half, m.frame.Max.X - half} {
			for _, up := range []vg.Length{0.5, 0.62, 0.38, 0.75, 0.25, 0.88, 0.12, 0.96, 0.04} {
				n.spots = append(n.spots, vg.Point{X: x, Y: m.frame.Min.Y + up*m.frame.Size().Y})
			}
		}
		e.last = append(e.last, n)
	}
	return e
}

// Notes on a picture that omits a part until a question is answered, and on one of an algorithm
// that has not started.
const (
	waiting = "Answer to see more"
	begun   = "Press Step to draw it"
)

// blot is a place with ink; the heavier, the less suitable for a label.
type blot struct {
	at     vg.Point
	weight float64
}

// note is a label to be placed at the spot with the least ink, the first among equals.
type note struct {
	text  string
	clr   Color
	spots []vg.Point // centres of possible places
	over  bool       // the label lies on a line
}

// radius returns the radius of a dot, smaller in a crowd.
func (e *easel) radius() vg.Length {
	crowd := math.Sqrt(80 / float64(max(e.dots, 80)))
	return max(3.8, 2.2*e.thick) * vg.Length(max(crowd, 0.4))
}

// line draws a polyline and records its ink.
func (e *easel) line(style draw.LineStyle, weight float64, ps ...vg.Point) {
	path := clipped(e.frame, ps)
	if len(path) == 0 {
		return
	}
	stroke(e.Canvas, style, path)
	e.remember(path, weight)
}

// remember records the ink of a path of straight lines.
func (e *easel) remember(path vg.Path, weight float64) {
	const step = 5
	var since float64 // length since the last blot
	for i := 1; i < len(path); i++ {
		if path[i].Type != vg.LineComp {
			continue
		}
		a, b := path[i-1].Pos, path[i].Pos
		long := math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y))
		for s := step - since; s <= long; s += step {
			t := vg.Length(s / long)
			e.ink = append(e.ink, blot{vg.Point{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)}, weight})
		}
		since = math.Mod(since+long, step)
	}
}

// places maps data to the canvas.
func (e *easel) places(ps ...[2]float64) []vg.Point {
	return lists.Map(ps, func(p [2]float64) vg.Point { return e.at(p[0], p[1]) })
}

// note requests a label at one of the spots.
func (e *easel) note(text string, clr Color, spots ...vg.Point) {
	if text != "" && e.words {
		e.wait = append(e.wait, note{text: text, clr: clr, spots: spots})
	}
}

const labelSize = 13

// held is the space in pixels that the handle of a draggable point takes on each side: half its
// size and its light rim.
const held = 17

// labelBox returns half the size of a label.
func labelBox(s string) vg.Point { return vg.Point{X: width(s, labelSize) / 2, Y: 6.5} }

// around returns spots at a distance of r around a point.
func (e *easel) around(at vg.Point, r vg.Length, text string) (spots []vg.Point) {
	half := labelBox(text)
	for _, d := range [][2]vg.Length{{1, 1}, {1, 0}, {0, 1}, {-1, 1}, {1, -1}, {-1, 0}, {0, -1}, {-1, -1}} {
		gap := lists.Either(d[0] != 0 && d[1] != 0, 0.6*r+2, r+4)
		spots = append(spots, vg.Point{X: at.X + d[0]*(gap+half.X), Y: at.Y + d[1]*(gap+half.Y)})
	}
	return spots
}

// beside returns spots on both sides of the segment from a to b, at the given fractions of its
// length.
func (e *easel) beside(a, b vg.Point, text string, shares ...float64) (spots []vg.Point) {
	from, to, ok := clipSegment(e.frame, a, b)
	if !ok {
		return nil
	}
	half := labelBox(text)
	dx, dy := float64(to.X-from.X), float64(to.Y-from.Y)
	long := math.Hypot(dx, dy)
	if long == 0 {
		return e.around(from, 2, text)
	}
	nx, ny := -dy/long, dx/long
	// Half the label's extent along the normal.
	reach := float64(half.X)*math.Abs(nx) + float64(half.Y)*math.Abs(ny) + 4
	for _, s := range shares {
		for _, side := range []float64{1, -1} {
			spots = append(spots, vg.Point{
				X: from.X + vg.Length(s*dx+side*nx*reach),
				Y: from.Y + vg.Length(s*dy+side*ny*reach),
			})
		}
	}
	return spots
}

// write places and draws the labels.
func (e *easel) write() {
	type box struct{ min, max vg.Point }
	var taken []box
	for _, n := range append(e.wait, e.last...) {
		s := clip(n.text, labelSize, e.frame.Size().X-8)
		half := labelBox(s)
		var best box
		least := math.Inf(1)
		for i, at := range n.spots {
			if !finite(float64(at.X), float64(at.Y)) {
				continue
			}
			in := vg.Point{ // within the frame
				X: min(max(at.X, e.frame.Min.X+half.X+4), e.frame.Max.X-half.X-4),
				Y: min(max(at.Y, e.frame.Min.Y+half.Y+3), e.frame.Max.Y-half.Y-3),
			}
			b := box{in.Sub(half), in.Add(half)}
			cost := 0.06*float64(i) + 0.5*math.Hypot(float64(in.X-at.X), float64(in.Y-at.Y))
			for _, o := range e.ink {
				if o.at.X > b.min.X-2 && o.at.X < b.max.X+2 && o.at.Y > b.min.Y-2 && o.at.Y < b.max.Y+2 {
					cost += o.weight
				}
			}
			for _, o := range taken {
				if w, h := min(b.max.X, o.max.X)-max(b.min.X, o.min.X)+4, min(b.max.Y, o.max.Y)-max(b.min.Y, o.min.Y)+2; w > 0 && h > 0 {
					cost += 20 + float64(w*h)
				}
			}
			if cost < least {
				least, best = cost, b
			}
		}
		if math.IsInf(least, 1) {
			continue // the mark is out of view
		}
		taken = append(taken, best)
		rim := vg.Length(1.6)
		if n.over {
			rim = 3
		}
		rimmed(e.Canvas, e.theme, e.theme.color(n.clr), labelSize, vg.Point{X: best.min.X, Y: best.min.Y + 2}, s, rim)
	}
}

func (k Line) draw(e *easel) {
	norm := math.Hypot(k.A[0], k.A[1])
	a, c := [2]float64{k.A[0] / norm, k.A[1] / norm}, k.C/norm
	x, y := (e.XMin+e.XMax)/2, (e.YMin+e.YMax)/2
	off := c - a[0]*x - a[1]*y // signed distance from the picture's centre to the line
	x, y = x+off*a[0], y+off*a[1]
	long := math.Hypot(e.XMax-e.XMin, e.YMax-e.YMin)
	ps := e.places([2]float64{x - long*a[1], y + long*a[0]}, [2]float64{x + long*a[1], y - long*a[0]})
	e.line(k.Pen.style(e.theme, e.thick), 1, ps...)
	e.note(k.Label, Ink, e.beside(ps[0], ps[1], k.Label, 0.9, 0.1, 0.8, 0.2, 0.65, 0.35, 0.5)...)
}

func (k Segment) draw(e *easel) {
	ps := e.places(k.From, k.To)
	e.line(k.Pen.style(e.theme, e.thick), 1, ps...)
	e.note(k.Label, Ink, e.beside(ps[0], ps[1], k.Label, 0.5, 0.35, 0.65)...)
}

func (k Arrow) draw(e *easel) {
	ps := e.places(k.From, k.To)
	if !e.Contains(ps[0]) || !e.Contains(ps[1]) {
		e.line(k.Pen.style(e.theme, e.thick), 1, ps...)
	} else {
		e.remember(clipped(e.frame, ps), 1)
		arrow(e.Canvas, k.Pen.style(e.theme, e.thick), ps[0], ps[1])
	}
	reach := vg.Length(4)
	if k.Held {
		reach = held
	}
	e.note(k.Label, Ink, append(e.around(ps[1], reach, k.Label), e.beside(ps[0], ps[1], k.Label, 0.6, 0.4)...)...)
}

// arrow draws a shaft and a head.
func arrow(c *draw.Canvas, style draw.LineStyle, from, to vg.Point) {
	dx, dy := float64(to.X-from.X), float64(to.Y-from.Y)
	long := math.Hypot(dx, dy)
	if !(long > 0) {
		return
	}
	size := math.Min(4.5*math.Max(float64(style.Width), 1.2), 0.6*long)
	ux, uy := vg.Length(dx/long), vg.Length(dy/long)
	neck := vg.Point{X: to.X - vg.Length(size)*ux, Y: to.Y - vg.Length(size)*uy}
	stroke(c, style, polyline(nil, from, neck))
	wing := vg.Length(0.42 * size)
	c.Fill(polygon(nil, to, vg.Point{X: neck.X - wing*uy, Y: neck.Y + wing*ux}, vg.Point{X: neck.X + wing*uy, Y: neck.Y - wing*ux}))
}

func (k Path) draw(e *easel) {
	ps := e.places(k.Points...)
	e.line(k.Pen.style(e.theme, e.thick), 1, ps...)
	if !k.Plain {
		for i, p := range ps {
			if !e.Contains(p) {
				continue
			}
			r := e.radius() * 0.62
			if i == len(ps)-1 {
				r = e.radius()
			}
			marker{0, e.theme.color(k.Pen.Color), e.theme.Paper, i == 0 && len(ps) > 1}.draw(e.Canvas, p, r)
		}
	}
}

func (k Circle) draw(e *easel) {
	const n = 120
	ps := make([]vg.Point, n+1)
	for i := range ps {
		sin, cos := math.Sincos(2 * math.Pi * float64(i%n) / n)
		ps[i] = e.at(k.Center[0]+k.Radius*cos, k.Center[1]+k.Radius*sin)
	}
	e.line(k.Pen.style(e.theme, e.thick), 1, ps...)
}

func (k Dot) draw(e *easel) {
	at := e.at(k.At[0], k.At[1])
	if !e.Contains(at) || !finite(float64(at.X), float64(at.Y)) {
		return
	}
	r := e.radius()
	if k.Large {
		r *= 2
	}
	k.mark(e.Canvas, e.theme, at, r)
	reach := lists.Either(k.Ring, 1.9*r+1, r)
	if k.Held {
		reach = max(reach, held)
	}
	e.ink = append(e.ink, blot{at, 5}) // the rim
	for i := range 8 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 8)
		e.ink = append(e.ink, blot{vg.Point{X: at.X + reach*vg.Length(cos), Y: at.Y + reach*vg.Length(sin)}, 3})
	}
	e.note(k.Label, Ink, e.around(at, reach, k.Label)...)
}

func (k Dot) mark(c *draw.Canvas, t *Theme, at vg.Point, r vg.Length) {
	m := marker{0, t.Ink, t.Paper, k.Hollow}
	if k.Class >= 0 {
		m.class, m.color = k.Class, t.class(k.Class)
	} else {
		r *= 0.85
	}
	m.draw(c, at, r)
	if k.Ring {
		stroke(c, draw.LineStyle{Color: t.Ink, Width: max(1, r*0.3)}, circle(at, 1.8*r+0.6))
	}
}

func (k Text) draw(e *easel) {
	e.note(k.Text, k.Color, e.at(k.At[0], k.At[1]))
}

// sampled returns f on the nodes of a grid over the picture, fine enough for the sizes of pictures.
func (e *easel) sampled(f func(x, y float64) float64) *surface {
	const n = 240
	s := &surface{n: n, lim: e.Limits, f: make([]float64, 0, (n+1)*(n+1))}
	xs := steps(e.XMin, e.XMax, n)
	for _, y := range steps(e.YMin, e.YMax, n) {
		for _, x := range xs {
			s.f = append(s.f, f(x, y))
		}
	}
	bound(s.f)
	return s
}

// onGrid maps grid coordinates to the canvas.
func (e *easel) onGrid(s *surface, q [2]float64) vg.Point {
	size, n := e.frame.Size(), vg.Length(s.n)
	return vg.Point{X: e.frame.Min.X + vg.Length(q[0])/n*size.X, Y: e.frame.Min.Y + vg.Length(q[1])/n*size.Y}
}

func (k Contours) draw(e *easel) {
	s := e.sampled(k.F)
	levels := k.Levels
	if levels == nil {
		levels = roundLevels(s.f)
	}
	e.contours(s, levels, k.pen().style(e.theme, e.thick), k.Plain)
}

// contours draws level lines of s and, unless plain, requests their values as labels.
func (e *easel) contours(s *surface, levels []float64, style draw.LineStyle, plain bool) {
	step := math.Inf(1) // the smallest difference, which the labels must show
	for i, v := range levels {
		for _, u := range levels[:i] {
			if d := math.Abs(u - v); d > 0 {
				step = math.Min(step, d)
			}
		}
	}
	var tr tracer
	for _, v := range levels {
		if !finite(v) {
			continue
		}
		name := end(v, min(step, max(math.Abs(v), 1e-3)/10))
		for _, l := range tr.lines(s.f, s.n+1, s.n+1, v) {
			ps := make([]vg.Point, len(l))
			var long float64
			for i, q := range l {
				ps[i] = e.onGrid(s, q)
				if i > 0 {
					long += math.Hypot(float64(ps[i].X-ps[i-1].X), float64(ps[i].Y-ps[i-1].Y))
				}
			}
			e.line(style, 0.15, straight(ps)...)
			if plain || long < 90 {
				continue
			}
			along := []float64{0.5, 0.25, 0.75, 0.4, 0.6, 0.1, 0.9}
			spots := lists.Map(along, func(t float64) vg.Point { return ps[int(t*float64(len(ps)-1))] })
			if e.words {
				e.last = append(e.last, note{text: name, clr: Muted, spots: spots, over: true})
			}
		}
	}
}

// roundLevels returns about eight round values between most values of f.
func roundLevels(f []float64) (levels []float64) {
	f = slices.DeleteFunc(slices.Clone(f), func(v float64) bool { return !finite(v) })
	if len(f) == 0 {
		return nil
	}
	slices.Sort(f)
	lo, hi := f[0], f[len(f)*19/20]
	if !spread(lo, hi) {
		return nil
	}
	for _, t := range ticks(lo, hi, 8) {
		if t.value > lo+1e-6*(hi-lo) {
			levels = append(levels, t.value)
		}
	}
	return levels
}

// straight removes points on the straight line between their neighbours.
func straight(ps []vg.Point) []vg.Point {
	const off = 0.02 // pixels
	out := ps[:0:0]
	for i, p := range ps {
		if i == 0 || i == len(ps)-1 {
			out = append(out, p)
			continue
		}
		a, b := out[len(out)-1], ps[i+1]
		dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
		ex, ey := float64(p.X-a.X), float64(p.Y-a.Y)
		if long := math.Hypot(dx, dy); math.Abs(dx*ey-dy*ex) > off*long || dx*ex+dy*ey < 0 {
			out = append(out, p)
		}
	}
	return out
}

func (k Region) draw(e *easel) {
	if p := e.outline(e.sampled(k.F)); len(p) > 0 {
		k.tint(e.Canvas, e.theme, p)
	}
	if k.Hatch {
		k.lines(e.Canvas, e.theme, e.frame, func(p vg.Point) bool { return k.F(e.back(p)) >= 0 })
	}
}

func (k Region) tint(c *draw.Canvas, t *Theme, p vg.Path) {
	covers := lists.Either(k.Color == ClassColor(0), t.Shade, shade)
	c.SetColor(translucent(t.color(k.Color), covers))
	c.Fill(p)
}

// lines hatches the inside of r; colours also differ in direction.
func (k Region) lines(c *draw.Canvas, t *Theme, r vg.Rectangle, inside func(vg.Point) bool) {
	const apart, step = 9, 2
	size := r.Size()
	var p vg.Path
	for d := vg.Length(apart / 2); d < size.X+size.Y; d += apart {
		open := false
		for s := vg.Length(0); s <= d; s += step {
			// On the falling diagonal x + y = d, or mirrored.
			q := vg.Point{X: s, Y: d - s}
			if q.X > size.X || q.Y > size.Y {
				open = false
				continue
			}
			if k.Color%2 == 1 {
				q.X = size.X - q.X
			}
			q = r.Min.Add(q)
			switch in := inside(q); {
			case !in:
				open = false
			case !open:
				p.Move(q)
				open = true
			case p[len(p)-1].Type == vg.LineComp:
				p[len(p)-1].Pos = q
			default:
				p.Line(q)
			}
		}
	}
	if len(p) > 0 {
		stroke(c, draw.LineStyle{Color: translucent(t.color(k.Color), 0.45), Width: 0.9}, p)
	}
}

// outline returns the outline of f >= 0, with holes in the opposite direction.
func (e *easel) outline(s *surface) (path vg.Path) {
	wide := s.n + 3 // an extra node on each side, outside the region
	f := slices.Repeat([]float64{-1}, wide*wide)
	for j := range s.n + 1 {
		for i := range s.n + 1 {
			if v := s.f[j*(s.n+1)+i]; !math.IsNaN(v) {
				f[(j+1)*wide+i+1] = v
			}
		}
	}
	var rings [][]vg.Point
	for _, l := range new(tracer).lines(f, wide, wide, 0) {
		ring := make([]vg.Point, len(l))
		for i, q := range l {
			hold := func(v float64) float64 { return min(max(v-1, 0), float64(s.n)) }
			ring[i] = e.onGrid(s, [2]float64{hold(q[0]), hold(q[1])})
		}
		ring = straight(ring)
		if n := len(ring); n > 3 && len(straight([]vg.Point{ring[n-2], ring[0], ring[1]})) == 2 {
			ring = append(ring[1:n-1:n-1], ring[1]) // the ring began in the middle of an edge
		}
		if len(ring) > 3 {
			rings = append(rings, ring)
		}
	}
	for i, ring := range rings {
		depth := 0
		for k, o := range rings {
			depth += btoi(k != i && within(o, ring[0]))
		}
		if (area(ring) > 0) == (depth%2 == 1) {
			slices.Reverse(ring)
		}
	}
	for _, ring := range rings {
		path = polygon(path, ring[:len(ring)-1]...)
	}
	return path
}

// within reports whether p is inside a closed polygon.
func within(ring []vg.Point, p vg.Point) (in bool) {
	for i := 1; i < len(ring); i++ {
		a, b := ring[i-1], ring[i]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < a.X+(p.Y-a.Y)/(b.Y-a.Y)*(b.X-a.X) {
			in = !in
		}
	}
	return in
}

// area returns the area of a closed polygon, positive when it runs counter-clockwise.
func area(ring []vg.Point) (sum float64) {
	for i := 1; i < len(ring); i++ {
		sum += float64(ring[i-1].X*ring[i].Y - ring[i].X*ring[i-1].Y)
	}
	return sum / 2
}
