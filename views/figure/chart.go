package figure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
)

// Chart draws curves over a common axis, such as the progress of a solver or accuracy against C.
// Curves differ in colour and dash pattern, by their order.
type Chart struct {
	Format
	X, Y   Axis
	Curves []Curve // at most six besides Pale ones
	Hidden int     // the last Hidden curves are omitted while the picture waits for an answer
	Rules  []Rule
	// Here is the position of a replay, drawn as a vertical line with a dot on every curve; nil:
	// none.
	Here *float64
	// SoFar draws the curves only up to Here, on axes that fit whole curves.
	SoFar bool
	// Caption is the text alternative; the default lists the curves with their ends.
	Caption string
}

// Axis is one of the two axes of a chart.
type Axis struct {
	Name string
	// Log makes the axis logarithmic. Values that are not positive are omitted; curves have a gap
	// there.
	Log bool
	// Whole labels whole numbers only.
	Whole bool
	// Min and Max are the limits; if equal, the curves' range is used.
	Min, Max float64
}

// Curve is a curve of a chart. Points that are not finite are gaps.
type Curve struct {
	Name string
	X, Y []float64 // of equal length; X ascending
	// Lo and Hi are the edges of a shaded band around the curve, such as a confidence interval;
	// nil: none.
	Lo, Hi []float64
	Stairs bool // a step function: each value holds until the next X
	Marks  bool // markers at all points
	Pale   bool // one of many: thin, translucent and behind the others; only the first is in the legend
}

// oneOfMany is the pen of Pale curves.
var oneOfMany = Pen{Color: Muted, Thin: true, Pale: true}

// Rule is a straight line across a chart: a reference value, a choice.
type Rule struct {
	Name    string // label
	At      float64
	Upright bool // vertical line x = At instead of y = At
	Hidden  bool // omitted while the picture waits for an answer
}

// Picture draws the chart.
func (ch Chart) Picture() (*Picture, error) {
	if ch.Waits {
		ch.Curves = ch.Curves[:len(ch.Curves)-ch.Hidden]
		ch.Rules = lists.Filter(ch.Rules, func(r Rule) bool { return !r.Hidden })
	}
	sh, err := ch.sheet()
	if err != nil {
		return nil, err
	}
	if err := ch.check(); err != nil {
		return nil, err
	}
	sh.labels = [2]string{ch.X.Name, ch.Y.Name}
	sh.log = [2]bool{ch.X.Log, ch.Y.Log}
	if sh.limits, err = ch.limits(); err != nil {
		return nil, err
	}
	for k, ends := range [2][2]float64{{sh.limits.XMin, sh.limits.XMax}, {sh.limits.YMin, sh.limits.YMax}} {
		if [2]Axis{ch.X, ch.Y}[k].Whole {
			sh.ticks[k] = func(n int) []tick { return ticks(ends[0], ends[1], max(1, min(n, int(ends[1]-ends[0])))) }
		}
	}
	if ch.SoFar && ch.Here != nil {
		whole := ch.Curves
		if ch.Curves = ch.soFar(); sh.waits == "" && grows(whole) && !grows(ch.Curves) {
			sh.waits = begun
		}
	}
	var pale []Curve
	ch.Curves, pale = ch.apart()
	sh.caption = ch.Caption
	if sh.caption == "" {
		sh.caption = ch.describe()
		if len(pale) > 0 {
			sh.caption += fmt.Sprintf(" %s: %d.", pale[0].Name, len(pale))
		}
	}
	if len(ch.Curves) != 1 || len(pale) > 0 || ch.Curves[0].Name != "" {
		sh.legend = ch.legend(sh.theme, pale)
	}
	sh.parts = func() []Part { return ch.parts(sh.limits) }
	sh.add(func(c *draw.Canvas, m mapping) { ch.draw(sh.easel(c, m), pale) })
	return sh.picture(), nil
}

// legend returns an entry for each curve, and one for all pale ones.
func (ch *Chart) legend(t *Theme, pale []Curve) (entries []entry) {
	for i, cu := range ch.Curves {
		entries = append(entries, entry{cu.Name, func(c *draw.Canvas, at vg.Point) {
			if cu.Lo != nil {
				c.SetColor(translucent(t.Line[i], bandOpacity))
				c.Fill(vg.Rectangle{Min: at.Sub(vg.Point{X: 11, Y: 6}), Max: at.Add(vg.Point{X: 11, Y: 6})}.Path())
			}
			line(curveStyle(t, i, sampleThick))(c, at)
			if cu.Marks {
				curveMarker(t, i).draw(c, at, 3.2)
			}
		}})
	}
	if len(pale) > 0 {
		entries = append(entries, entry{pale[0].Name, line(oneOfMany.style(t, sampleThick))})
	}
	return entries
}

// draw draws the curves, pale ones and bands behind, and the rules.
func (ch *Chart) draw(e *easel, pale []Curve) {
	for _, cu := range pale {
		e.line(oneOfMany.style(e.theme, e.thick), 0, thin(ch.places(e.mapping, cu.X, cu.Y))...)
	}
	for i, cu := range ch.Curves {
		if cu.Lo != nil {
			e.SetColor(translucent(e.theme.Line[i], bandOpacity))
			for _, p := range ch.band(e.mapping, cu) {
				e.Fill(p)
			}
		}
	}
	for _, r := range ch.Rules {
		e.rule(r, ch.X, ch.Y)
	}
	for i, cu := range ch.Curves {
		ch.curve(e, i, cu)
	}
	if ch.Here != nil {
		ch.here(e)
	}
	e.write()
}

const bandOpacity = 0.18

func (ch *Chart) check() error {
	if empty := len(ch.Curves) == 0 && len(ch.Rules) == 0; empty && !(ch.X.Min < ch.X.Max && ch.Y.Min < ch.Y.Max) {
		return errors.New("chart: there is no curve to draw; give at least one, or both axes a range")
	}
	if told, _ := ch.apart(); len(told) > len(dashes) {
		return fmt.Errorf("chart: %d curves cannot be distinguished; give at most %d", len(told), len(dashes))
	}
	for _, cu := range ch.Curves {
		if len(cu.X) != len(cu.Y) {
			return fmt.Errorf("chart: curve %q has %d values of x and %d of y; give as many of both", cu.Name, len(cu.X), len(cu.Y))
		}
		if (cu.Lo != nil || cu.Hi != nil) && (len(cu.Lo) != len(cu.X) || len(cu.Hi) != len(cu.X)) {
			return fmt.Errorf("chart: the band of curve %q has %d lower and %d upper edges for %d values of x; give as many of each", cu.Name, len(cu.Lo), len(cu.Hi), len(cu.X))
		}
	}
	return nil
}

// apart splits the curves into those that can be distinguished and those that cannot.
func (ch *Chart) apart() (told, pale []Curve) {
	for _, cu := range ch.Curves {
		if cu.Pale {
			pale = append(pale, cu)
		} else {
			told = append(told, cu)
		}
	}
	return told, pale
}

// scaled returns a value in sheet coordinates: its logarithm on a logarithmic axis, NaN if it
// has none.
func (a Axis) scaled(v float64) float64 {
	if a.Log {
		if !(v > 0) {
			return math.NaN()
		}
		return math.Log10(v)
	}
	return v
}

func (ch *Chart) places(m mapping, xs, ys []float64) []vg.Point {
	return lists.Make(len(xs), func(i int) vg.Point { return m.at(ch.X.scaled(xs[i]), ch.Y.scaled(ys[i])) })
}

// soFar returns the curves up to Here.
func (ch *Chart) soFar() []Curve {
	curves := slices.Clone(ch.Curves)
	for i := range curves {
		cu := &curves[i]
		n := sort.Search(len(cu.X), func(k int) bool { return cu.X[k] > *ch.Here })
		cu.X, cu.Y = cu.X[:n], cu.Y[:n]
		if cu.Lo != nil {
			cu.Lo, cu.Hi = cu.Lo[:n], cu.Hi[:n]
		}
	}
	return curves
}

// grows reports whether some curve has a line to show.
func grows(curves []Curve) bool {
	return slices.ContainsFunc(curves, func(cu Curve) bool { return len(cu.X) > 1 })
}

// limits returns the limits of the axes, by default those of the chart's contents.
func (ch *Chart) limits() (Limits, error) {
	b := newBounds()
	see := func(x, y float64) {
		x, y = ch.X.scaled(x), ch.Y.scaled(y)
		if finite(x, y) {
			b.add(x, y)
		}
	}
	for _, cu := range ch.Curves {
		for i, x := range cu.X {
			see(x, cu.Y[i])
			if cu.Lo != nil {
				see(x, cu.Lo[i])
				see(x, cu.Hi[i])
			}
		}
	}
	for _, r := range ch.Rules {
		k, v := &b.y, ch.Y.scaled(r.At)
		if r.Upright {
			k, v = &b.x, ch.X.scaled(r.At)
		}
		if finite(v) {
			k[0], k[1] = math.Min(k[0], v), math.Max(k[1], v)
		}
	}
	l := b.limits()
	if b.x[0] < b.x[1] { // curves may touch the left and right sides
		if lo, hi := b.x[0], b.x[1]; spread(lo, hi) {
			l.XMin, l.XMax = lo, hi
			if slices.ContainsFunc(ch.Curves, func(cu Curve) bool { return cu.Marks }) {
				l.XMin, l.XMax = lo-0.03*(hi-lo), hi+0.03*(hi-lo)
			}
		}
	}
	if l.YMin < 0 && b.y[0] >= 0 && !ch.Y.Log { // leave little room below 0 if no values can be there
		l.YMin = max(l.YMin, -0.03*l.YMax)
	}
	for _, e := range []struct {
		axis     Axis
		lo, hi   *float64
		vertical string
	}{{ch.X, &l.XMin, &l.XMax, "horizontal"}, {ch.Y, &l.YMin, &l.YMax, "vertical"}} {
		if e.axis.Min != e.axis.Max {
			*e.lo, *e.hi = e.axis.scaled(e.axis.Min), e.axis.scaled(e.axis.Max)
			if !spread(*e.lo, *e.hi) {
				return l, fmt.Errorf("chart: nothing fits on the %s axis between %g and %g; give ends in ascending order, above 0 where the axis is logarithmic", e.vertical, e.axis.Min, e.axis.Max)
			}
		}
		if e.axis.Log {
			*e.lo, *e.hi = math.Max(*e.lo, -300), math.Min(*e.hi, 300)
		}
	}
	return l, nil
}

// band returns the outlines of the shaded parts, clamped to the frame.
func (ch *Chart) band(m mapping, cu Curve) (parts []vg.Path) {
	lo, hi := ch.places(m, cu.X, cu.Lo), ch.places(m, cu.X, cu.Hi)
	bottom := func(p vg.Point) vg.Point { // the logarithm of a number that is not positive is below the frame
		if math.IsNaN(float64(p.Y)) && ch.Y.Log {
			p.Y = m.frame.Min.Y
		}
		return p
	}
	hold := func(p vg.Point) vg.Point {
		return vg.Point{X: min(max(p.X, m.frame.Min.X), m.frame.Max.X), Y: min(max(p.Y, m.frame.Min.Y), m.frame.Max.Y)}
	}
	for i := 0; i < len(lo); i++ {
		var up, down []vg.Point
		for ; i < len(lo); i++ {
			l, h := bottom(lo[i]), hi[i]
			if !finite(float64(l.X), float64(l.Y), float64(h.Y)) {
				break
			}
			if cu.Stairs && len(up) > 0 {
				up = append(up, vg.Point{X: hold(h).X, Y: up[len(up)-1].Y})
				down = append(down, vg.Point{X: hold(l).X, Y: down[len(down)-1].Y})
			}
			up, down = append(up, hold(h)), append(down, hold(l))
		}
		up = thin(up)
		down = thin(down)
		slices.Reverse(down)
		if outline := append(up, down...); len(outline) > 2 {
			parts = append(parts, polygon(nil, outline...))
		}
	}
	return parts
}

// rule draws a reference line and requests its label.
func (e *easel) rule(r Rule, x, y Axis) {
	a, b := e.frame.Min, e.frame.Max
	half := labelBox(r.Name)
	var spots []vg.Point
	if r.Upright {
		a.X = e.at(x.scaled(r.At), 0).X
		b.X = a.X
		room := e.frame.Size().Y - 2*half.Y - 8
		for _, share := range []vg.Length{1, 0, 0.8, 0.2} {
			y := e.frame.Min.Y + 4 + half.Y + share*room
			spots = append(spots, vg.Point{X: a.X + half.X + 5, Y: y}, vg.Point{X: a.X - half.X - 5, Y: y})
		}
	} else {
		a.Y = e.at(0, y.scaled(r.At)).Y
		b.Y = a.Y
		room := e.frame.Size().X - 2*half.X - 12
		for _, share := range []vg.Length{1, 0, 0.75, 0.25, 0.5} {
			x := e.frame.Min.X + 6 + half.X + share*room
			spots = append(spots, vg.Point{X: x, Y: a.Y + half.Y + 2}, vg.Point{X: x, Y: a.Y - half.Y - 3})
		}
	}
	if e.Contains(a) { // otherwise the line is out of view
		e.stroke(e.Canvas, draw.LineStyle{Color: e.theme.Muted, Width: 1.2, Dashes: []vg.Length{5, 3}}, []vg.Point{a, b})
		e.note(r.Name, Ink, spots...)
	}
}

func curveStyle(t *Theme, i int, thick vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: t.Line[i], Width: thick, Dashes: dashes[i]}
}

func curveMarker(t *Theme, i int) marker { return marker{class: i, color: t.Line[i], paper: t.Paper} }

func (ch *Chart) curve(e *easel, i int, cu Curve) {
	ps := ch.places(e.mapping, cu.X, cu.Y)
	way := ps
	if cu.Stairs {
		way = stairs(ps)
	}
	e.line(curveStyle(e.theme, i, e.thick), 1, thin(way)...)
	if !cu.Marks {
		return
	}
	last := vg.Point{X: -1e9}
	for _, p := range ps {
		if e.Contains(p) && math.Hypot(float64(p.X-last.X), float64(p.Y-last.Y)) > 9 {
			curveMarker(e.theme, i).draw(e.Canvas, p, max(3, 1.6*e.thick))
			last = p
		}
	}
}

// here draws the position of a replay.
func (ch *Chart) here(e *easel) {
	x := e.at(ch.X.scaled(*ch.Here), e.YMin).X
	e.line(draw.LineStyle{Color: e.theme.Ink, Width: 1.2}, 1, vg.Point{X: x, Y: e.Min.Y}, vg.Point{X: x, Y: e.Max.Y})
	for i, cu := range ch.Curves {
		if v, ok := cu.at(*ch.Here); ok {
			if p := e.at(ch.X.scaled(*ch.Here), ch.Y.scaled(v)); e.Contains(p) {
				curveMarker(e.theme, i).draw(e.Canvas, p, max(4, 2.2*e.thick))
			}
		}
	}
}

// at returns the value of a curve at x: interpolated linearly or, for a step function, the last
// value.
func (cu *Curve) at(x float64) (float64, bool) {
	k, _ := slices.BinarySearch(cu.X, x)
	switch {
	case k < len(cu.X) && cu.X[k] == x:
		return cu.Y[k], finite(cu.Y[k])
	case k == 0 || k == len(cu.X):
		return 0, false
	case cu.Stairs:
		return cu.Y[k-1], finite(cu.Y[k-1])
	}
	v := cu.Y[k-1] + (x-cu.X[k-1])/(cu.X[k]-cu.X[k-1])*(cu.Y[k]-cu.Y[k-1])
	return v, finite(v)
}

// stairs converts points to a step function.
func stairs(ps []vg.Point) (out []vg.Point) {
	for i, p := range ps {
		if i > 0 {
			out = append(out, vg.Point{X: p.X, Y: ps[i-1].Y})
		}
		out = append(out, p)
	}
	return out
}

// thin removes points of a polyline from left to right that cannot be seen: of the points within
// half a pixel it keeps the first, the lowest, the highest and the last.
func thin(ps []vg.Point) []vg.Point {
	const column = 0.5
	out := ps[:0:0]
	for i := 0; i < len(ps); {
		k := i + 1
		if finite(float64(ps[i].X), float64(ps[i].Y)) {
			for k < len(ps) && ps[k].X-ps[i].X < column && ps[k].X >= ps[i].X && finite(float64(ps[k].Y)) {
				k++
			}
		}
		if k-i <= 4 {
			out = append(out, ps[i:k]...)
			i = k
			continue
		}
		low, high := i, i
		for j := i; j < k; j++ {
			if ps[j].Y < ps[low].Y {
				low = j
			}
			if ps[j].Y > ps[high].Y {
				high = j
			}
		}
		keep := []int{i, min(low, high), max(low, high), k - 1}
		out = append(out, lists.At(ps, slices.Compact(keep))...)
		i = k
	}
	return out
}

// describe returns the default caption.
func (ch *Chart) describe() string {
	var b strings.Builder
	b.WriteString("Chart")
	if ch.Y.Name != "" && ch.X.Name != "" {
		fmt.Fprintf(&b, ", %s over %s", ch.Y.Name, ch.X.Name)
	}
	b.WriteString(".")
	for i, cu := range ch.Curves {
		name := cmp.Or(cu.Name, fmt.Sprintf("curve %d", i+1))
		first, last := -1, -1
		for k := range cu.X {
			if finite(cu.X[k], cu.Y[k]) {
				if first < 0 {
					first = k
				}
				last = k
			}
		}
		if first < 0 {
			fmt.Fprintf(&b, " %s: no values.", name)
			continue
		}
		fmt.Fprintf(&b, " %s: from %s at %s to %s at %s", name, short(cu.Y[first]), short(cu.X[first]), short(cu.Y[last]), short(cu.X[last]))
		if ch.Here != nil {
			if v, ok := cu.at(*ch.Here); ok {
				fmt.Fprintf(&b, ", %s here", short(v))
			}
		}
		b.WriteString(".")
	}
	for _, r := range ch.Rules {
		axis := lists.Either(r.Upright, "Upright line", "Level")
		b.WriteString(titled(fmt.Sprintf(" %s at %s", axis, short(r.At)), r.Name) + ".")
	}
	if ch.Here != nil {
		fmt.Fprintf(&b, " A line marks the place %s.", short(*ch.Here))
	}
	return b.String()
}
