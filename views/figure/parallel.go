package figure

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Parallel draws parallel coordinates: items as lines across vertical axes, one axis per quantity.
// Names at both ends identify the lines, in addition to colours and dash patterns. In the frame of
// the picture axis i is at x = i, with its ends at y = 0 and y = 1.
type Parallel struct {
	Format
	Axes  []Upright // at least two
	Lines []Thread
}

// Upright is an axis of a Parallel.
type Upright struct {
	Name     string
	Log      bool
	Min, Max float64 // the ends; above 0 if Log
	// Words are the labels of the positions 0, 1, … on an axis without numbers.
	Words []string
}

// Thread is a line of a Parallel.
type Thread struct {
	Name   string    // a few letters
	Values []float64 // on each axis; NaN: none, drawn below the axis
	Pale   bool      // not in focus
}

// endRoom is the space in CSS pixels for names beside the first and last axes.
const endRoom = 80

// missing is the position of lines without a value on an axis.
const missing = -0.1

// place returns the position of a value on the axis, 0 to 1.
func (u Upright) place(v float64) float64 {
	lo, hi := u.Min, u.Max
	if u.Log {
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	switch {
	case !finite(v):
		return missing
	case !spread(lo, hi):
		return 0.5
	}
	return (v - lo) / (hi - lo)
}

// ticks returns the labelled positions of the axis.
func (u Upright) ticks(n int) (ts []tick) {
	lo, hi := u.Min, u.Max
	switch {
	case u.Words != nil:
		for i, w := range u.Words {
			ts = append(ts, tick{u.place(float64(i)), w})
		}
		return ts
	case lo == hi:
		return []tick{{0.5, end(lo, math.Abs(lo)/1000)}}
	case u.Log:
		ts = logTicks(math.Log10(lo), math.Log10(hi), n)
		for i := range ts {
			ts[i].value = (ts[i].value - math.Log10(lo)) / (math.Log10(hi) - math.Log10(lo))
		}
		return ts
	}
	ts = ticks(lo, hi, n)
	for i := range ts {
		ts[i].value = (ts[i].value - lo) / (hi - lo)
	}
	return ts
}

func (p *Parallel) check() error {
	if len(p.Axes) < 2 {
		return errors.New("parallel: there are fewer than two axes; give two at least")
	}
	for _, u := range p.Axes {
		if !(u.Min <= u.Max) || !finite(u.Min, u.Max) || u.Log && u.Min <= 0 {
			return fmt.Errorf("parallel: nothing fits on the axis %q from %g to %g; give ends in ascending order, above 0 where it is logarithmic", u.Name, u.Min, u.Max)
		}
	}
	for _, l := range p.Lines {
		if len(l.Values) != len(p.Axes) {
			return fmt.Errorf("parallel: line %q has %d values for %d axes; give as many", l.Name, len(l.Values), len(p.Axes))
		}
	}
	return nil
}

// Picture draws the lines, pale ones below the others.
func (p Parallel) Picture() (*Picture, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	sh, err := p.sheet()
	if err != nil {
		return nil, err
	}
	sh.caption, sh.bald = p.describe(), [2]bool{true, true}
	last := float64(len(p.Axes) - 1)
	side := max(0.5, last*endRoom/max(float64(sh.width)-2*endRoom, endRoom))
	sh.limits = Limits{XMin: -side, XMax: last + side, YMin: -0.18, YMax: 1.14}
	sh.add(func(c *draw.Canvas, m mapping) {
		p.axes(sh, c, m)
		for _, pale := range []bool{true, false} {
			for i, l := range p.Lines {
				if l.Pale == pale {
					p.line(sh, c, m, i)
				}
			}
		}
		if !sh.bare() {
			p.names(sh, c, m, 0, -1)
			p.names(sh, c, m, len(p.Axes)-1, 1)
			p.words(sh, c, m)
		}
	})
	return sh.picture(), nil
}

func (p *Parallel) axes(sh *sheet, c *draw.Canvas, m mapping) {
	for i := range p.Axes {
		x := float64(i)
		stroke(c, draw.LineStyle{Color: sh.theme.Rule, Width: 1.2}, clipped(m.frame, []vg.Point{m.at(x, 0), m.at(x, 1)}))
	}
}

func (p *Parallel) line(sh *sheet, c *draw.Canvas, m mapping, i int) {
	t, l := sh.theme, p.Lines[i]
	style := draw.LineStyle{Color: t.Line[i%len(t.Line)], Width: max(1.4, 0.8*sh.stroke()), Dashes: dashes[(i+i/len(dashes))%len(dashes)]}
	if l.Pale {
		style.Color, style.Width = mix(t.Paper, t.Muted, 0.3), 1
	}
	ps := lists.Make(len(p.Axes), func(a int) vg.Point { return m.at(float64(a), p.Axes[a].place(l.Values[a])) })
	stroke(c, style, clipped(m.frame, ps))
	if !l.Pale {
		for _, at := range ps {
			marker{i, t.Line[i%len(t.Line)], t.Paper, false}.draw(c, at, 2.6)
		}
	}
}

// names writes the names of the lines beside an axis.
func (p *Parallel) names(sh *sheet, c *draw.Canvas, m mapping, a int, side vg.Length) {
	type stop struct {
		y    vg.Length
		name string
	}
	var stops []stop
	for _, l := range p.Lines {
		if !l.Pale {
			stops = append(stops, stop{m.at(0, p.Axes[a].place(l.Values[a])).Y, l.Name})
		}
	}
	slices.SortStableFunc(stops, func(x, y stop) int { return cmp.Compare(y.y, x.y) })
	room := m.at(0, 0).X - m.frame.Min.X - 14
	for i := 0; i < len(stops); {
		first := stops[i]
		var together []string
		for ; i < len(stops) && first.y-stops[i].y < fontSize; i++ {
			together = append(together, stops[i].name)
		}
		s := clip(strings.Join(together, ", "), fontSize, room)
		at := vg.Point{X: m.at(float64(a), 0).X + 10*side, Y: first.y - 4}
		if side < 0 {
			at.X -= width(s, fontSize)
		}
		text(c, sh.theme.Ink, fontSize, true, at, s)
	}
}

// words writes the names and values of the axes.
func (p *Parallel) words(sh *sheet, c *draw.Canvas, m mapping) {
	step := m.at(1, 0).X - m.at(0, 0).X
	for a, u := range p.Axes {
		at := m.at(float64(a), 1)
		name := u.Name
		if u.Log {
			name += " (log)"
		}
		name = clip(name, fontSize, (step-8)/bolder)
		text(c, sh.theme.Ink, fontSize, true, vg.Point{X: at.X - bolder*width(name, fontSize)/2, Y: at.Y + 14}, name)
		last := vg.Length(math.Inf(-1))
		for _, t := range u.ticks(max(3, sh.height/90)) {
			at := m.at(float64(a), t.value)
			if t.value < -1e-9 || t.value > 1+1e-9 || t.label == "" || at.Y-last < fontSize {
				continue
			}
			last = at.Y
			room := step - 14
			if a >= len(p.Axes)-2 { // the last two names extend towards each other
				room = step/2 - 10
			}
			s := clip(t.label, fontSize, room)
			if s != t.label && (u.Words == nil || strings.Trim(s, ".…") == "") {
				continue // a truncated number would be another number
			}
			to := vg.Point{X: at.X + 6, Y: at.Y - 4}
			if a == len(p.Axes)-1 { // its right side has the names of the lines
				to.X = at.X - 6 - width(s, fontSize)
			}
			label(c, sh.theme, sh.theme.Muted, fontSize, to, s)
		}
		if slices.ContainsFunc(p.Lines, func(l Thread) bool { return u.place(l.Values[a]) == missing }) {
			at := m.at(float64(a), missing)
			label(c, sh.theme, sh.theme.Muted, fontSize, vg.Point{X: at.X - width("none", fontSize)/2, Y: at.Y - 16}, "none")
		}
	}
}

func (p *Parallel) describe() string {
	names := lists.Map(p.Axes, func(u Upright) string { return u.Name })
	s := fmt.Sprintf("%d lines across the axes %s.", len(p.Lines), strings.Join(names, ", "))
	if n := lists.Count(p.Lines, func(l Thread) bool { return l.Pale }); n > 0 {
		s += fmt.Sprintf(" Pale: %d.", n)
	}
	return s
}

// Named draws a scatter plot of named dots.
type Named struct {
	Format
	X, Y Axis
	Dots []NamedDot
}

// NamedDot is a dot of a Named. Dots at a place that is not finite, or not positive on a
// logarithmic axis, are omitted.
type NamedDot struct {
	Name string // a few letters
	X, Y float64
	Pale bool // not in focus
}

// Picture draws the dots.
func (p Named) Picture() (*Picture, error) {
	sh, err := p.sheet()
	if err != nil {
		return nil, err
	}
	b := newBounds()
	var places [][2]float64
	for _, d := range p.Dots {
		at := [2]float64{p.X.scaled(d.X), p.Y.scaled(d.Y)}
		if places = append(places, at); finite(at[0], at[1]) {
			b.add(at[0], at[1])
		}
	}
	sh.caption, sh.limits = p.describe(), b.limits()
	sh.labels, sh.log = [2]string{p.X.Name, p.Y.Name}, [2]bool{p.X.Log, p.Y.Log}
	sh.add(func(c *draw.Canvas, m mapping) {
		e := sh.easel(c, m)
		for i, d := range p.Dots {
			at := m.at(places[i][0], places[i][1])
			if !finite(places[i][0], places[i][1]) {
				continue
			}
			var clr color.NRGBA = sh.theme.Line[i%len(sh.theme.Line)]
			ink := Ink
			if d.Pale {
				clr, ink = mix(sh.theme.Paper, sh.theme.Muted, 0.4), Muted
			}
			marker{i, clr, sh.theme.Paper, d.Pale}.draw(c, at, e.radius())
			e.ink = append(e.ink, blot{at, 5})
			e.note(d.Name, ink, e.around(at, e.radius(), d.Name)...)
		}
		e.write()
	})
	return sh.picture(), nil
}

func (p *Named) describe() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s against %s.", p.Y.Name, p.X.Name)
	for _, d := range p.Dots {
		if finite(p.X.scaled(d.X), p.Y.scaled(d.Y)) {
			fmt.Fprintf(&s, " %s: %s, %s.", d.Name, param.Digits(d.X, 4), param.Digits(d.Y, 4))
		}
	}
	return s.String()
}
