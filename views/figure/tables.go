package figure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/param"
)

// Tables draws small tables of numbers, two side by side, such as those an algorithm fills entry by
// entry. The larger an entry, the stronger its colour.
type Tables struct {
	Format
	Tables []Grid
	Now    *Cell // the entry filled last
	From   []Cell
}

// Grid is a table of Tables.
type Grid struct {
	Name       string
	Rows, Cols []string    // their names
	Values     [][]float64 // row by row; NaN: not filled yet
}

// Cell is the position of an entry, counted from 0.
type Cell struct{ Table, Row, Col int }

// Picture draws the tables.
func (x Tables) Picture() (*Picture, error) {
	sh, err := x.sheet()
	if err != nil {
		return nil, err
	}
	if len(x.Tables) == 0 {
		return nil, errors.New("tables: there is nothing to draw; give at least one")
	}
	for n, g := range x.Tables {
		if len(g.Values) != len(g.Rows) {
			return nil, fmt.Errorf("tables: %d rows for %d names in table %d; give as many", len(g.Values), len(g.Rows), n+1)
		}
		for i, row := range g.Values {
			if len(row) != len(g.Cols) {
				return nil, fmt.Errorf("tables: %d entries for %d columns in row %d of table %d; give as many", len(row), len(g.Cols), i+1, n+1)
			}
		}
	}
	places, limits := x.layout()
	t := sh.theme
	sh.limits, sh.caption = limits, x.describe()
	sh.bald = [2]bool{true, true}
	now, from := draw.LineStyle{Color: t.Ink, Width: 3}, draw.LineStyle{Color: t.color(Magenta), Width: 2.2, Dashes: dashes[Dashed]}
	frame := func(style draw.LineStyle) func(*draw.Canvas, vg.Point) {
		return func(c *draw.Canvas, at vg.Point) {
			stroke(c, style, vg.Rectangle{Min: at.Sub(vg.Point{X: 9, Y: 6}), Max: at.Add(vg.Point{X: 9, Y: 6})}.Path())
		}
	}
	if x.Now != nil || len(x.From) > 0 {
		sh.legend = []entry{{"filled in this step", frame(now)}, {"read in this step", frame(from)}}
	}
	most := x.most()
	sh.add(func(c *draw.Canvas, m mapping) {
		for n, g := range x.Tables {
			g.draw(c, t, m, places[n], most, sh.bare())
		}
		for _, f := range x.From {
			x.outline(c, m, places, f, from)
		}
		if x.Now != nil {
			x.outline(c, m, places, *x.Now, now)
		}
	})
	return sh.picture(), nil
}

// layout returns the position of each table's first entry, in widths and heights of entries. Its
// name and those of its columns are above, those of its rows to the left.
func (x Tables) layout() (places [][2]float64, l Limits) {
	const across, apart = 2, 0.6
	top := 0.2
	for first := 0; first < len(x.Tables); first += across {
		left, tallest := 0.2, 0
		for _, g := range x.Tables[first:min(first+across, len(x.Tables))] {
			places = append(places, [2]float64{left + 1, top + 2})
			left += 1 + float64(len(g.Cols)) + apart
			tallest = max(tallest, len(g.Rows))
		}
		l.XMax = max(l.XMax, left-apart+0.2)
		top += 2 + float64(tallest) + apart/2
	}
	l.YMin = top // first row at the top
	return places, l
}

// most returns the largest magnitude of an entry, 1 if there is none.
func (x Tables) most() (most float64) {
	for _, g := range x.Tables {
		for _, row := range g.Values {
			for _, v := range row {
				if finite(v) {
					most = max(most, math.Abs(v))
				}
			}
		}
	}
	return cmp.Or(most, 1)
}

func (g Grid) draw(c *draw.Canvas, t *Theme, m mapping, at [2]float64, most float64, bare bool) {
	cell := g.cell(m, at, 0, 0).Size()
	middle := func(clr Color, bold bool, r vg.Rectangle, s string) {
		s = clip(s, fontSize, r.Size().X-2)
		text(c, t.color(clr), fontSize, bold, vg.Point{X: (r.Min.X+r.Max.X)/2 - width(s, fontSize)/2, Y: (r.Min.Y+r.Max.Y)/2 - 4}, s)
	}
	if !bare {
		name := g.cell(m, at, -2, 0)
		name.Max.X = g.cell(m, at, -2, max(len(g.Cols)-1, 0)).Max.X
		s := clip(g.Name, fontSize, (name.Size().X+cell.X)/bolder)
		text(c, t.Ink, fontSize, true, vg.Point{X: name.Min.X, Y: name.Min.Y + cell.Y/2 - 6}, s)
		for j, s := range g.Cols {
			middle(Ink, true, g.cell(m, at, -1, j), s)
		}
	}
	for i, row := range g.Values {
		if !bare {
			middle(Ink, true, g.cell(m, at, i, -1), g.Rows[i])
		}
		for j, v := range row {
			r := g.cell(m, at, i, j)
			if finite(v) {
				heat := t.Heat[1]
				if v < 0 {
					heat = t.Heat[0]
				}
				c.SetColor(mix(t.Zero, heat, math.Abs(v)/most))
				c.Fill(r.Path())
			}
			stroke(c, draw.LineStyle{Color: t.Rule, Width: 0.7}, r.Path())
			if finite(v) && !bare {
				middle(Ink, false, r, fitting(v, r.Size().X-4))
			}
		}
	}
}

// fitting formats v with as many digits as fit, at most four.
func fitting(v float64, room vg.Length) (s string) {
	for digits := 4; digits > 0; digits-- {
		s = param.Typeset(strconv.FormatFloat(v, 'g', digits, 64))
		if width(s, fontSize) <= room {
			break
		}
	}
	return s
}

// cell returns the rectangle of an entry of a table at a position; index -1 stands for the names.
func (g Grid) cell(m mapping, at [2]float64, i, j int) vg.Rectangle {
	x, y := at[0]+float64(j), at[1]+float64(i)
	a, b := m.at(x, y), m.at(x+1, y+1)
	return vg.Rectangle{Min: vg.Point{X: a.X, Y: b.Y}, Max: vg.Point{X: b.X, Y: a.Y}}
}

func (x Tables) outline(c *draw.Canvas, m mapping, places [][2]float64, e Cell, style draw.LineStyle) {
	if e.Table < 0 || e.Table >= len(x.Tables) {
		return
	}
	g := x.Tables[e.Table]
	if e.Row < 0 || e.Row >= len(g.Rows) || e.Col < 0 || e.Col >= len(g.Cols) {
		return
	}
	r := g.cell(m, places[e.Table], e.Row, e.Col)
	in := vg.Point{X: style.Width / 2, Y: style.Width / 2}
	stroke(c, style, vg.Rectangle{Min: r.Min.Add(in), Max: r.Max.Sub(in)}.Path())
}

func (x Tables) describe() string {
	var b strings.Builder
	b.WriteString("Tables.")
	for n, g := range x.Tables {
		fmt.Fprintf(&b, " %s:", g.Name)
		filled := 0
		for i, row := range g.Values {
			for j, v := range row {
				if finite(v) {
					fmt.Fprintf(&b, " %s%s %s", g.Rows[i], g.Cols[j], short(v))
					if filled++; x.Now != nil && *x.Now == (Cell{n, i, j}) {
						b.WriteString(" (this step)")
					}
					b.WriteString(",")
				}
			}
		}
		if filled == 0 {
			b.WriteString(" empty,")
		}
	}
	return strings.TrimSuffix(b.String(), ",") + "."
}
