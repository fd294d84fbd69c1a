package figure

import (
	"cmp"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is an item of the legend: the sample of a mark and its meaning.
type entry struct {
	name   string
	sample func(c *draw.Canvas, at vg.Point) // centred on at, within 24 x 16 pixels
}

const (
	sampleWidth = 28
	nameRoom    = 250 // longest name in pixels
)

func (e entry) width() vg.Length {
	return sampleWidth + width(clip(e.name, fontSize, nameRoom), fontSize) + 16
}

// draw draws the entry with the middle of its left edge at at.
func (e entry) draw(c *draw.Canvas, t *Theme, at vg.Point) {
	e.sample(c, vg.Point{X: at.X + 11, Y: at.Y})
	text(c, t.Ink, fontSize, false, vg.Point{X: at.X + sampleWidth - 1, Y: at.Y - 4}, clip(e.name, fontSize, nameRoom))
}

// rows breaks the legend into at most most rows. To fit, it shortens the names of the data as long
// as they differ and then allows half as many rows again, rounded up. Further entries are omitted.
func (s *sheet) rows(room vg.Length, most int) (rows [][]entry) {
	es, own, differ := slices.Clone(s.legend), min(cmp.Or(s.own, len(s.legend)), len(s.legend)), 0
	for longest := vg.Length(nameRoom); longest > 40; longest -= 10 {
		names := make(map[string]bool)
		for i, e := range s.legend[:own] {
			es[i].name = clip(e.name, fontSize, longest)
			names[es[i].name] = true
		}
		if len(names) < differ {
			break
		}
		if rows, differ = flow(es, room), len(names); len(rows) <= most {
			break
		}
	}
	return rows[:min(len(rows), most+(most+1)/2)]
}

// flow breaks the entries into rows.
func flow(es []entry, room vg.Length) (rows [][]entry) {
	var used vg.Length
	for _, e := range es {
		w := e.width()
		if len(rows) == 0 || used+w-16 > room {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += w
	}
	return rows
}

// unseen returns entries with these names that are not drawn.
func unseen(names []string) []entry {
	es := make([]entry, len(names))
	for i, name := range names {
		es[i].name = name
	}
	return es
}

func line(style draw.LineStyle) func(*draw.Canvas, vg.Point) {
	return func(c *draw.Canvas, at vg.Point) {
		stroke(c, style, polyline(nil, vg.Point{X: at.X - 11, Y: at.Y}, vg.Point{X: at.X + 11, Y: at.Y}))
	}
}

// bar is a colour bar on the right of the frame.
type bar struct {
	palette color.Palette
	lo, hi  float64 // values at the ends
	name    string
	open    bool // values beyond the ends have the colours of the ends
}

// ticks returns round values; an open bar has ticks at its ends as well.
func (b *bar) ticks() []tick {
	ts := ticks(b.lo, b.hi, 5)
	if !b.open || len(ts) < 2 {
		return ts
	}
	step := (ts[1].value - ts[0].value) / 10
	room := 0.06 * (b.hi - b.lo)
	ts = slices.DeleteFunc(ts, func(t tick) bool { return t.value < b.lo+room || t.value > b.hi-room })
	return append(ts, tick{b.lo, "≤ " + end(b.lo, step)}, tick{b.hi, "≥ " + end(b.hi, step)})
}

// end formats an end of a bar as briefly as possible.
func end(v, step float64) string {
	s := number(v, step)
	if strings.Contains(s, ".") && !strings.Contains(s, "·") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

const barWidth = 14

// room returns the width that the bar takes from the frame.
func (b *bar) room() vg.Length {
	widest := width(b.name, fontSize) - barWidth
	for _, t := range b.ticks() {
		widest = max(widest, width(t.label, fontSize)+8)
	}
	return 4 + barWidth + ceil(widest)
}

func (b *bar) draw(c *draw.Canvas, in vg.Rectangle, t *Theme) {
	r := vg.Rectangle{
		Min: vg.Point{X: in.Max.X + 14, Y: in.Min.Y},
		Max: vg.Point{X: in.Max.X + 14 + barWidth, Y: in.Max.Y - 18},
	}
	field{paint: func(w, h int) *image.Paletted {
		img := image.NewPaletted(image.Rect(0, 0, w, h), b.palette)
		for j := range h {
			k := uint8(float64(len(b.palette)) * (1 - (float64(j)+0.5)/float64(h)))
			for i := range w {
				img.Pix[j*img.Stride+i] = k
			}
		}
		return img
	}}.draw(&draw.Canvas{Canvas: c.Canvas, Rectangle: r}, mapping{})
	c.SetLineStyle(draw.LineStyle{Color: t.Rule, Width: 1})
	half := vg.Point{X: 0.5, Y: 0.5}
	c.Stroke(vg.Rectangle{Min: r.Min.Add(half), Max: r.Max.Sub(half)}.Path())
	ts := b.ticks()
	at := func(k tick) vg.Length {
		y := r.Min.Y + r.Size().Y*vg.Length((k.value-b.lo)/(b.hi-b.lo))
		return min(max(y-4, r.Min.Y), r.Max.Y-9)
	}
	for i, k := range ts {
		y := at(k)
		if b.open && i < len(ts)-2 && slices.ContainsFunc(ts[len(ts)-2:], func(end tick) bool { return max(y-at(end), at(end)-y) < fontSize }) {
			continue // the ends need the room
		}
		text(c, t.Muted, fontSize, false, vg.Point{X: r.Max.X + 6, Y: y}, k.label)
	}
	text(c, t.Ink, fontSize, false, vg.Point{X: r.Min.X, Y: in.Max.Y - 11}, b.name)
}

func ceil(l vg.Length) vg.Length { return vg.Length(math.Ceil(float64(l))) }
