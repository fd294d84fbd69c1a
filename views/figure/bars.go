package figure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// Bars draws one bar for each value: the spectrum of a matrix, alpha of every
// point, counts. Bars below zero are hatched.
type Bars struct {
	Format
	X, Y   string // axis labels
	Values []float64
	// Names are the labels of the bars; nil: numbers from 1.
	Names []string
	// Sorted sorts by value, largest first, together with Names and Classes.
	Sorted bool
	// Log makes the height of a bar proportional to the logarithm of |value|. Values below 1e-16 of
	// the largest have no bar.
	Log bool
	// Classes are the class indices of the bars, which determine their colours; nil: none.
	Classes []int
	// ClassNames are shown in the legend, in the order of the numbers in Classes.
	ClassNames []string
	Rules      []Rule // across the bars, such as C above the alphas; Upright is ignored
}

// Picture draws the bars.
func (b Bars) Picture() (*Picture, error) {
	sh, err := b.sheet()
	if err != nil {
		return nil, err
	}
	n := len(b.Values)
	switch {
	case n == 0:
		return nil, errors.New("bars: there is no value to draw; give at least one")
	case b.Names != nil && len(b.Names) != n:
		return nil, fmt.Errorf("bars: %d names for %d values; give as many, or none", len(b.Names), n)
	case b.Classes != nil && len(b.Classes) != n:
		return nil, fmt.Errorf("bars: %d classes for %d values; give as many, or none", len(b.Classes), n)
	}
	order := dataset.Indices(n)
	if b.Sorted {
		slices.SortStableFunc(order, func(i, j int) int { // NaN last
			u, v := b.Values[i], b.Values[j]
			if d := btoi(math.IsNaN(u)) - btoi(math.IsNaN(v)); d != 0 || math.IsNaN(u) {
				return d
			}
			return btoi(u < v) - btoi(u > v)
		})
	}
	sh.labels, sh.caption = [2]string{b.X, b.Y}, b.describe()
	negative := slices.ContainsFunc(b.Values, func(v float64) bool { return v < 0 })
	sh.limits = b.limits()
	sh.log[1] = b.Log
	sh.ticks[0] = func(most int) []tick { return b.places(order, most) }

	t := sh.theme
	for k, name := range b.ClassNames {
		m := marker{class: k, color: t.class(k), paper: t.Paper}
		sh.legend = append(sh.legend, entry{name, func(c *draw.Canvas, at vg.Point) { m.draw(c, at, 5) }})
	}
	if negative {
		name := lists.Either(b.Log, "negative, by its size", "negative")
		sh.legend = append(sh.legend, entry{name, swatch(t, Muted, true)})
	}
	sh.add(func(c *draw.Canvas, m mapping) {
		e := sh.easel(c, m)
		width := c.Size().X / vg.Length(n)
		gap := max(min(width/5, 6), width-widestBar)
		if width < 3 {
			gap = 0
		}
		for k := 0; k < n; {
			i := order[k]
			end := k + 1
			for end < n && vg.Length(end-k)*width < 1 { // the largest of those within a pixel
				if math.Abs(b.Values[order[end]]) > math.Abs(b.Values[i]) {
					i = order[end]
				}
				end++
			}
			b.bar(e, i, vg.Rectangle{
				Min: vg.Point{X: c.Min.X + width*vg.Length(k) + gap/2},
				Max: vg.Point{X: c.Min.X + width*vg.Length(end) - gap/2},
			})
			k = end
		}
		if !b.Log {
			m.stroke(c, draw.LineStyle{Color: t.Ink, Width: 1}, []vg.Point{m.at(m.XMin, 0), m.at(m.XMax, 0)})
		}
		for _, r := range b.Rules {
			r.Upright = false
			e.rule(r, Axis{}, Axis{Log: b.Log})
		}
		e.write()
	})
	return sh.picture(), nil
}

const widestBar = 72

// bar draws the bar of value i in r.
func (b *Bars) bar(e *easel, i int, r vg.Rectangle) {
	v := b.Values[i]
	if math.IsNaN(v) {
		return
	}
	foot, top := e.at(0, 0).Y, e.at(0, v).Y
	if b.Log {
		foot, top = e.Min.Y, e.at(0, math.Log10(math.Abs(v))).Y
	}
	foot, top = min(max(foot, e.Min.Y), e.Max.Y), min(max(top, e.Min.Y), e.Max.Y)
	r.Min.Y, r.Max.Y = min(foot, top), max(foot, top)
	color := Violet
	if b.Classes != nil {
		color = ClassColor(b.Classes[i])
	}
	if r.Size().Y > 0 {
		filled(e.Canvas, e.theme, color, v < 0, r)
		for _, x := range []vg.Length{r.Min.X, r.Max.X} {
			e.remember(clipped(e.frame, []vg.Point{{X: x, Y: foot}, {X: x, Y: top}}), 1)
		}
	}
	if at := (vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: top}); b.Classes != nil {
		e.remember(clipped(e.frame, []vg.Point{{X: at.X, Y: foot}, at}), 1)
		if size := r.Size().X; size >= 4 { // shape repeats the class
			at.Y = min(max(at.Y, e.Min.Y+size/2), e.Max.Y-size/2)
			marker{class: max(b.Classes[i], 0), color: e.theme.color(color), paper: e.theme.Paper}.draw(e.Canvas, at, min(0.55*size, 5))
			e.ink = append(e.ink, blot{at, 3}, blot{at.Add(vg.Point{Y: 5}), 3})
		}
	}
}

// filled draws a bar: full, or hatched with an outline.
func filled(c *draw.Canvas, t *Theme, color Color, hatched bool, r vg.Rectangle) {
	clr := t.color(color)
	if !hatched {
		c.SetColor(clr)
		c.Fill(r.Path())
		return
	}
	c.SetColor(translucent(clr, 0.2))
	c.Fill(r.Path())
	const step = 5
	size := r.Size()
	var p vg.Path
	for d := step - size.X; d < size.Y; d += step { // rising lines y = x + d from the lower left
		a, e, ok := clipSegment(r, r.Min.Add(vg.Point{Y: d}), r.Min.Add(vg.Point{X: size.X, Y: d + size.X}))
		if ok {
			p = polyline(p, a, e)
		}
	}
	style := draw.LineStyle{Color: clr, Width: min(1.2, size.X/3)}
	if len(p) > 0 {
		stroke(c, style, p)
	}
	in := style.Width / 2
	stroke(c, style, vg.Rectangle{Min: r.Min.Add(vg.Point{X: in, Y: in}), Max: r.Max.Sub(vg.Point{X: in, Y: in})}.Path())
}

// swatch returns the legend sample of a bar or region.
func swatch(t *Theme, color Color, hatched bool) func(*draw.Canvas, vg.Point) {
	return func(c *draw.Canvas, at vg.Point) {
		filled(c, t, color, hatched, vg.Rectangle{Min: at.Sub(vg.Point{X: 8, Y: 6}), Max: at.Add(vg.Point{X: 8, Y: 6})})
	}
}

// limits returns limits that include zero, all bars and rules, and some room above.
func (b *Bars) limits() Limits {
	l := Limits{XMin: 0.5, XMax: float64(len(b.Values)) + 0.5}
	values := slices.Concat(b.Values, lists.Map(b.Rules, func(r Rule) float64 { return r.At }))
	values = slices.DeleteFunc(values, func(v float64) bool { return !finite(v) })
	if !b.Log {
		lo, hi, _ := extent(append(values, 0))
		l.YMin, l.YMax = pad(lo, hi)
		if lo == 0 && hi > 0 {
			l.YMin = 0
		}
		if hi == 0 && lo < 0 {
			l.YMax = 0
		}
		return l
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	largest := floats.Norm(values, math.Inf(1))
	for _, v := range values {
		if v := math.Abs(v); v > 0 && v >= 1e-16*largest {
			lo, hi = min(lo, math.Log10(v)), max(hi, math.Log10(v))
		}
	}
	if lo > hi {
		lo, hi = 0, 0
	}
	l.YMin, l.YMax = lo-0.05*(hi-lo)-0.2, hi+0.05*(hi-lo)+0.2
	return l
}

// places returns the ticks below the bars: their names or numbers.
func (b *Bars) places(order []int, most int) (ts []tick) {
	n := len(order)
	if b.Names == nil {
		return counted(n, most)
	}
	if n > 60 {
		return nil // too many names to read
	}
	for k, i := range order {
		ts = append(ts, tick{float64(k + 1), clip(b.Names[i], fontSize, 100)})
	}
	return ts
}

// describe returns the default caption.
func (b *Bars) describe() string {
	var s strings.Builder
	s.WriteString("Bars")
	if b.Y != "" && b.X != "" {
		fmt.Fprintf(&s, ", %s over %s", b.Y, b.X)
	}
	var pos, neg, zero int
	for _, v := range b.Values {
		pos += btoi(v > 0)
		neg += btoi(v < 0)
		zero += btoi(v == 0)
	}
	fmt.Fprintf(&s, ". %s: %d positive, %d zero, %d negative", plural(len(b.Values), "value"), pos, zero, neg)
	if lo, hi, ok := extent(b.Values); ok {
		fmt.Fprintf(&s, ", from %s to %s", short(lo), short(hi))
	}
	s.WriteString(".")
	for _, r := range b.Rules {
		s.WriteString(titled(fmt.Sprintf(" Level at %s", short(r.At)), r.Name) + ".")
	}
	return s.String()
}
