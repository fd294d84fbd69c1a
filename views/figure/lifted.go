package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
)

// Lifted draws points in three dimensions over a floor, with a separating plane or the surface on
// which they lie, such as XOR in a feature space. The projection is orthographic, and the sides of
// the box are equally long whatever the units. The picture's Frame is in units of the projection.
type Lifted struct {
	Format
	X, Y, Z string // axis labels; Z is vertical
	// Yaw rotates the box about the vertical axis, and Pitch is the elevation of the view,
	// from 0 (side) to 90 (top), both in degrees. At yaw 0, X points right and Y away. If
	// both are 0, 30 and 22 are used.
	Yaw, Pitch float64
	Points     []Dot3
	// Loose omits the drop lines from the points to the floor.
	Loose bool
	Cut   *Cut
	// Surface is z over x and y, drawn as a wire grid; nil: none. Values that are not finite or
	// outside the box are holes.
	Surface     func(x, y float64) float64
	SurfaceName string // in the legend
	ClassNames  []string
	// Min and Max are opposite corners of the box. On an axis where they are equal, the limits fit
	// the points and, vertically, the surface.
	Min, Max [3]float64
}

// Dot3 is a point in three dimensions with the colour and shape of its class.
type Dot3 struct {
	At    [3]float64
	Class int // negative: a dot in ink
	Ring  bool
	Label string
}

// Cut is the plane W·x = C.
type Cut struct {
	W    [3]float64 // not 0
	C    float64
	Name string // in the legend
}

// Picture draws the box and its contents.
func (l Lifted) Picture() (*Picture, error) {
	sh, err := l.sheet()
	if err != nil {
		return nil, err
	}
	if l.Cut != nil && (l.Cut.W == [3]float64{} || !finite(append(l.Cut.W[:], l.Cut.C)...)) {
		return nil, fmt.Errorf("lifted: the plane (%g, %g, %g)·x = %g has no direction; give it a finite normal vector", l.Cut.W[0], l.Cut.W[1], l.Cut.W[2], l.Cut.C)
	}
	if !finite(l.Yaw, l.Pitch) {
		return nil, fmt.Errorf("lifted: the view is from yaw %g and pitch %g; give finite angles", l.Yaw, l.Pitch)
	}
	if l.Yaw == 0 && l.Pitch == 0 {
		l.Yaw, l.Pitch = 30, 22
	}
	v, err := l.view()
	if err != nil {
		return nil, err
	}
	t := sh.theme
	sh.caption, sh.bald = l.describe(), [2]bool{true, true}
	sh.aspect = widened
	b := newBounds()
	for i := range 8 {
		p := v.project([3]float64{float64(2*(i&1) - 1), float64(i&2 - 1), float64(i&4)/2 - 1})
		b.add(p[0], p[1])
	}
	// Room for the labels around the box, as a fraction of its size.
	aside, below := 0.05, 0.05
	if !sh.bare() {
		aside, below = math.Min(34/float64(l.room(0)), 0.2), math.Min(36/float64(l.room(1)), 0.2)
	}
	w, h := b.x[1]-b.x[0], b.y[1]-b.y[0]
	sh.limits = Limits{b.x[0] - aside*w, b.x[1] + aside*w, b.y[0] - below*h - 0.06, b.y[1] + 0.05*h + 0.06}

	for k, name := range l.ClassNames {
		m := marker{class: k, color: t.class(k), paper: t.Paper}
		sh.legend = append(sh.legend, entry{name, func(c *draw.Canvas, at vg.Point) { m.draw(c, at, 5) }})
	}
	for _, e := range []struct {
		name  string
		shown bool
		color color.NRGBA
	}{{l.nameOfCut(), l.Cut != nil, cutColor(t)}, {l.SurfaceName, l.Surface != nil, t.Muted}} {
		if e.shown && e.name != "" {
			sh.legend = append(sh.legend, entry{e.name, sheetSample(e.color)})
		}
	}
	sh.add(func(c *draw.Canvas, m mapping) {
		e := &stage{easel: sh.easel(c, m), view: v, of: &l}
		e.dots = len(l.Points)
		e.walls()
		e.things()
		e.axes()
		e.write()
	})
	return sh.picture(), nil
}

func (l *Lifted) nameOfCut() string {
	if l.Cut == nil {
		return ""
	}
	return l.Cut.Name
}

// room returns the approximate width (0) or height (1) of the frame.
func (l *Lifted) room(axis int) int {
	w, h := defaultSize(l.Width, l.Height)
	return max([2]int{w, h}[axis]-80, 100)
}

func cutColor(t *Theme) color.NRGBA { return t.Line[3] }

// sheetSample returns the legend sample of the plane or surface.
func sheetSample(clr color.NRGBA) func(*draw.Canvas, vg.Point) {
	return func(c *draw.Canvas, at vg.Point) {
		p := polygon(nil, lists.Map([]vg.Point{{X: -11, Y: -5}, {X: 5, Y: -5}, {X: 11, Y: 5}, {X: -5, Y: 5}}, at.Add)...)
		c.SetColor(translucent(clr, 0.22))
		c.Fill(p)
		p = polyline(p, at.Add(vg.Point{X: -3, Y: -5}), at.Add(vg.Point{X: 3, Y: 5}))
		p = polyline(p, at.Add(vg.Point{X: -8}), at.Add(vg.Point{X: 8}))
		stroke(c, draw.LineStyle{Color: translucent(clr, 0.6), Width: 0.8}, p)
	}
}

// view3 maps data to the cube [-1, 1]³ and the cube to the picture.
type view3 struct {
	min, max         [3]float64
	sinYaw, cosYaw   float64
	sinTilt, cosTilt float64
}

// view returns the box and projection.
func (l *Lifted) view() (view3, error) {
	var v view3
	v.sinYaw, v.cosYaw = math.Sincos(l.Yaw * math.Pi / 180)
	v.sinTilt, v.cosTilt = math.Sincos(min(max(l.Pitch, 0), 90) * math.Pi / 180)
	var seen [3][2]float64
	for k := range seen {
		seen[k] = [2]float64{math.Inf(1), math.Inf(-1)}
	}
	see := func(k int, x float64) { seen[k] = [2]float64{min(seen[k][0], x), max(seen[k][1], x)} }
	for _, p := range l.Points {
		if finite(p.At[:]...) {
			for k, x := range p.At {
				see(k, x)
			}
		}
	}
	for k, name := range []string{"first", "second", "upright"} {
		if k == 2 && l.Surface != nil && l.Min[2] == l.Max[2] {
			for _, x := range steps(v.min[0], v.max[0], wires) {
				for _, y := range steps(v.min[1], v.max[1], wires) {
					if z := l.Surface(x, y); finite(z) {
						see(2, z)
					}
				}
			}
		}
		v.min[k], v.max[k] = pad(seen[k][0], seen[k][1])
		if l.Min[k] != l.Max[k] {
			v.min[k], v.max[k] = l.Min[k], l.Max[k]
		}
		if !spread(v.min[k], v.max[k]) {
			return v, fmt.Errorf("lifted: nothing fits between %g and %g on the %s axis; give ends that are farther apart, in ascending order", v.min[k], v.max[k], name)
		}
	}
	return v, nil
}

// cube maps data to the cube.
func (v *view3) cube(p [3]float64) (q [3]float64) {
	for k := range q {
		q[k] = 2*(p[k]-v.min[k])/(v.max[k]-v.min[k]) - 1
	}
	return q
}

// data maps the cube to data.
func (v *view3) data(q [3]float64) (p [3]float64) {
	for k := range p {
		p[k] = v.min[k] + (q[k]+1)/2*(v.max[k]-v.min[k])
	}
	return p
}

// upright is the relative height of the cube: a flat box shows more of its floor.
const upright = 0.8

// project returns a point of the cube as right, up and away in the picture.
func (v *view3) project(q [3]float64) [3]float64 {
	right := q[0]*v.cosYaw + q[1]*v.sinYaw
	away := -q[0]*v.sinYaw + q[1]*v.cosYaw
	z := upright * q[2]
	return [3]float64{right, z*v.cosTilt + away*v.sinTilt, away*v.cosTilt - z*v.sinTilt}
}

// stage is the easel of a Lifted.
type stage struct {
	*easel
	view view3
	of   *Lifted
}

func (b *stage) place(q [3]float64) vg.Point {
	p := b.view.project(q)
	return b.at(p[0], p[1])
}

func (b *stage) away(q [3]float64) float64 { return b.view.project(q)[2] }

// polygon returns the closed path through points of the cube.
func (b *stage) polygon(qs [][3]float64) vg.Path {
	return polygon(nil, lists.Map(qs, b.place)...)
}

// ends returns the ticks of an axis in the cube.
func (b *stage) ends(axis int) []tick {
	lo, hi := b.view.min[axis], b.view.max[axis]
	ts := ticks(lo, hi, 4)
	for i := range ts {
		ts[i].value = 2*(ts[i].value-lo)/(hi-lo) - 1
	}
	return ts
}

// far returns the side (-1 or 1) of an axis that is away from the viewer.
func (b *stage) far(axis int) float64 {
	var q [3]float64
	q[axis] = 1
	if b.away(q) >= 0 {
		return 1
	}
	return -1
}

// walls draws the floor with its grid and the two back walls.
func (b *stage) walls() {
	c, t := b.Canvas, b.theme
	floor := b.polygon([][3]float64{{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}})
	c.SetColor(translucent(t.Muted, 0.08))
	c.Fill(floor)
	var grid vg.Path
	for axis := range 2 {
		for _, k := range b.ends(axis) {
			p, q := [3]float64{-1, -1, -1}, [3]float64{1, 1, -1}
			p[axis], q[axis] = k.value, k.value
			grid = polyline(grid, b.place(p), b.place(q))
		}
	}
	if len(grid) > 0 {
		stroke(c, draw.LineStyle{Color: translucent(t.Rule, 0.45), Width: 0.7}, grid)
	}
	x, y := b.far(0), b.far(1)
	walls := b.polygon([][3]float64{{x, -y, -1}, {x, -y, 1}, {x, y, 1}, {x, y, -1}})
	walls = append(walls, b.polygon([][3]float64{{-x, y, -1}, {-x, y, 1}, {x, y, 1}, {x, y, -1}})...)
	stroke(c, draw.LineStyle{Color: translucent(t.Rule, 0.7), Width: 0.8}, walls)
	stroke(c, draw.LineStyle{Color: t.Rule, Width: 1}, floor)
}

// thing is a part of the drawing that may hide others.
type thing struct {
	away float64
	draw func()
}

// wires is the number of cells of a surface per axis.
const wires = 18

// things draws the points, drop lines, plane and surface from back to front. Lines and sheets are
// cut into pieces, so that they can intersect.
func (b *stage) things() {
	var all []thing
	c, t := b.Canvas, b.theme
	patch := func(qs [][3]float64, fill, wire color.NRGBA) {
		var away float64
		for _, q := range qs {
			away += b.away(q) / float64(len(qs))
		}
		all = append(all, thing{away, func() {
			p := b.polygon(qs)
			c.SetColor(fill)
			c.Fill(p)
			stroke(c, draw.LineStyle{Color: wire, Width: 0.7}, p)
		}})
	}
	if b.of.Surface != nil {
		b.surface(patch)
	}
	if b.of.Cut != nil {
		clr := cutColor(t)
		for _, qs := range b.cut() {
			patch(qs, translucent(clr, 0.2), translucent(clr, 0.38))
		}
	}
	pieces := min(max(200/max(len(b.of.Points), 1), 4), 10)
	const nearer = 0.02 // draws a point in front of the patch on which it lies
	for _, p := range b.of.Points {
		if !finite(p.At[:]...) {
			continue
		}
		q := b.view.cube(p.At)
		if math.Max(math.Max(math.Abs(q[0]), math.Abs(q[1])), math.Abs(q[2])) > 1+1e-9 {
			continue
		}
		clr := t.Ink
		if p.Class >= 0 {
			clr = t.class(p.Class)
		}
		if !b.of.Loose {
			for k := range pieces {
				lo, hi := q, q
				lo[2] = -1 + (q[2]+1)*float64(k)/float64(pieces)
				hi[2] = -1 + (q[2]+1)*float64(k+1)/float64(pieces)
				all = append(all, thing{b.away(lo)/2 + b.away(hi)/2, func() {
					b.line(draw.LineStyle{Color: translucent(clr, 0.65), Width: 0.9}, 0.3, b.place(lo), b.place(hi))
				}})
			}
			foot := [3]float64{q[0], q[1], -1}
			all = append(all, thing{math.Inf(1), func() {
				m := marker{max(p.Class, 0), translucent(clr, 0.5), translucent(clr, 0), false}
				m.draw(c, b.place(foot), 0.5*b.radius())
			}})
		}
		all = append(all, thing{b.away(q) - nearer, func() {
			at := b.place(q)
			Dot{Class: p.Class, Ring: p.Ring}.mark(c, t, at, b.radius())
			b.ink = append(b.ink, blot{at, 5})
			b.note(p.Label, Ink, b.around(at, b.radius(), p.Label)...)
		}})
	}
	slices.SortStableFunc(all, func(p, q thing) int { return btoi(p.away < q.away) - btoi(p.away > q.away) })
	for _, k := range all {
		k.draw()
	}
}

// surface calls patch for the cells of the surface. Cells that face upwards are lighter.
func (b *stage) surface(patch func(qs [][3]float64, fill, wire color.NRGBA)) {
	var nodes [wires + 1][wires + 1][3]float64
	for i, x := range steps(-1, 1, wires) {
		for j, y := range steps(-1, 1, wires) {
			p := b.view.data([3]float64{x, y, 0})
			p[2] = b.of.Surface(p[0], p[1])
			nodes[i][j] = [3]float64{x, y, b.view.cube(p)[2]}
		}
	}
	for i := range wires {
		for j := range wires {
			qs := [][3]float64{nodes[i][j], nodes[i+1][j], nodes[i+1][j+1], nodes[i][j+1]}
			if slices.ContainsFunc(qs, func(q [3]float64) bool { return !(math.Abs(q[2]) <= 1+1e-9) }) {
				continue
			}
			dx, dy := (qs[1][2]-qs[0][2]+qs[2][2]-qs[3][2])/2, (qs[3][2]-qs[0][2]+qs[2][2]-qs[1][2])/2
			cell := 2.0 / wires
			steep := 1 - cell/math.Sqrt(cell*cell+dx*dx+dy*dy)
			clr := b.theme.Muted
			shade := math.Round(5*steep) / 5 // few shades need few groups in an SVG
			patch(qs, translucent(clr, 0.08+0.25*shade), translucent(clr, 0.3))
		}
	}
}

// cut returns the part of the plane within the cube, as cells.
func (b *stage) cut() (cells [][][3]float64) {
	// In the cube the plane is n·q = d.
	var n [3]float64
	d := b.of.Cut.C
	for k, w := range b.of.Cut.W {
		half := (b.view.max[k] - b.view.min[k]) / 2
		n[k] = w * half
		d -= w * (b.view.min[k] + half)
	}
	// The cells come from a grid over the two axes to which the plane is least inclined; it is a
	// graph of the third axis over them.
	up := 0
	for k := range n {
		if math.Abs(n[k]) > math.Abs(n[up]) {
			up = k
		}
	}
	if n[up] == 0 || !finite(n[0], n[1], n[2], d) {
		return nil
	}
	const m = 12
	one, two := (up+1)%3, (up+2)%3
	vs := steps(-1, 1, m)
	for i := range m {
		for j := range m {
			qs := make([][3]float64, 4)
			for k, at := range [4][2]float64{{vs[i], vs[j]}, {vs[i+1], vs[j]}, {vs[i+1], vs[j+1]}, {vs[i], vs[j+1]}} {
				qs[k][one], qs[k][two] = at[0], at[1]
				qs[k][up] = (d - n[one]*at[0] - n[two]*at[1]) / n[up]
			}
			for _, side := range []float64{-1, 1} {
				qs = trim(qs, up, side)
			}
			if len(qs) > 2 {
				cells = append(cells, qs)
			}
		}
	}
	return cells
}

// trim returns the part of a polygon with side q[axis] <= 1, by Sutherland and Hodgman's algorithm.
func trim(qs [][3]float64, axis int, side float64) (out [][3]float64) {
	for i, q := range qs {
		p := qs[(i+len(qs)-1)%len(qs)]
		a, b := 1-side*p[axis], 1-side*q[axis] // inside if not negative
		if (a >= 0) != (b >= 0) {
			t := a / (a - b)
			var r [3]float64
			for k := range r {
				r[k] = p[k] + t*(q[k]-p[k])
			}
			out = append(out, r)
		}
		if b >= 0 {
			out = append(out, q)
		}
	}
	return out
}

// axes writes numbers and labels along the front edges of the floor and the left vertical edge.
func (b *stage) axes() {
	if !b.words {
		return
	}
	left := [3]float64{}
	least := math.Inf(1)
	for _, x := range []float64{-1, 1} {
		for _, y := range []float64{-1, 1} {
			if p := b.view.project([3]float64{x, y, 0}); p[0] < least {
				least, left = p[0], [3]float64{x, y, 0}
			}
		}
	}
	middle := b.place([3]float64{0, 0, -1})
	var ends []vg.Rectangle // of the values on the axes
	for axis, name := range []string{b.of.X, b.of.Y, b.of.Z} {
		from := [3]float64{-b.far(0), -b.far(1), -1}
		if axis == 2 {
			from = left
		}
		to := from
		from[axis], to[axis] = -1, 1
		p, q := b.place(from), b.place(to)
		if math.Hypot(float64(q.X-p.X), float64(q.Y-p.Y)) < 24 {
			continue // the axis points at the viewer
		}
		// Outwards: away from the centre, perpendicular to the edge.
		dx, dy := float64(q.X-p.X), float64(q.Y-p.Y)
		long := math.Hypot(dx, dy)
		out := vg.Point{X: vg.Length(-dy / long), Y: vg.Length(dx / long)}
		mid := vg.Point{X: (p.X + q.X) / 2, Y: (p.Y + q.Y) / 2}
		if float64((mid.X-middle.X)*out.X+(mid.Y-middle.Y)*out.Y) < 0 || axis == 2 && out.X > 0 {
			out = out.Scale(-1)
		}
		b.SetLineStyle(draw.LineStyle{Color: b.theme.Muted, Width: 1.1})
		edge := polyline(nil, p, q)
		reach := vg.Length(0)
		for _, k := range b.ends(axis) {
			share := vg.Length((k.value + 1) / 2)
			at := vg.Point{X: p.X + share*(q.X-p.X), Y: p.Y + share*(q.Y-p.Y)}
			edge = polyline(edge, at, at.Add(out.Scale(4)))
			w := width(k.label, fontSize)
			begin := b.middle(at, out, w, 6)
			box := vg.Rectangle{Min: begin, Max: begin.Add(vg.Point{X: w + 4, Y: 9})}
			if slices.ContainsFunc(ends, func(o vg.Rectangle) bool {
				return box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y
			}) {
				continue // the other axis has labelled this corner
			}
			ends = append(ends, box)
			text(b.Canvas, b.theme.Muted, fontSize, false, begin, k.label)
			reach = max(reach, w*vg.Length(math.Abs(float64(out.X)))+12*vg.Length(math.Abs(float64(out.Y))))
		}
		b.Canvas.Stroke(edge)
		name = clip(name, labelSize, b.Canvas.Size().X/2)
		w := width(name, labelSize)
		at := b.middle(mid, out, w, 10+reach)
		if axis == 2 { // there may be no room beside it
			at = vg.Point{X: q.X - w/2, Y: q.Y + 9}
		}
		at.X = min(max(at.X, b.Canvas.Min.X+3), b.Canvas.Max.X-w-3)
		label(b.Canvas, b.theme, b.theme.Ink, labelSize, at, name)
	}
}

// middle returns the start of a text of width w at a distance of gap outwards from at.
func (b *stage) middle(at, out vg.Point, w, gap vg.Length) vg.Point {
	const h = 9
	c := vg.Point{
		X: at.X + out.X*(gap+w/2),
		Y: at.Y + out.Y*(gap+h/2),
	}
	return vg.Point{X: c.X - w/2, Y: c.Y - h/2}
}

// describe returns the default caption.
func (l *Lifted) describe() string {
	var s strings.Builder
	s.WriteString("Points in three dimensions")
	if l.X != "" && l.Y != "" && l.Z != "" {
		fmt.Fprintf(&s, ", over %s, %s and %s", l.X, l.Y, l.Z)
	}
	s.WriteString(".")
	type tally struct{ n, above int }
	count := map[int]tally{}
	var order []int
	for _, p := range l.Points {
		k, ok := count[p.Class]
		if !ok {
			order = append(order, p.Class)
		}
		k.n++
		if l.Cut != nil {
			c := l.Cut
			k.above += btoi(c.W[0]*p.At[0]+c.W[1]*p.At[1]+c.W[2]*p.At[2] >= c.C)
		}
		count[p.Class] = k
	}
	slices.Sort(order)
	for _, class := range order {
		name := fmt.Sprintf("class %d", class)
		if class >= 0 && class < len(l.ClassNames) {
			name = l.ClassNames[class]
		}
		k := count[class]
		fmt.Fprintf(&s, " %s of %s", plural(k.n, "point"), name)
		if l.Cut != nil {
			fmt.Fprintf(&s, ", %d on the side of the plane to which its normal points", k.above)
		}
		s.WriteString(".")
	}
	if l.Cut != nil {
		fmt.Fprintf(&s, " Plane: (%s, %s, %s)·x = %s.", short(l.Cut.W[0]), short(l.Cut.W[1]), short(l.Cut.W[2]), short(l.Cut.C))
	}
	if l.Surface != nil {
		s.WriteString(titled(" A surface is drawn", l.SurfaceName) + ".")
	}
	return s.String()
}
