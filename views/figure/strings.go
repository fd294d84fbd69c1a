package figure

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Strings draws strings symbol by symbol with what each adds to f: the cell of a symbol is coloured
// more strongly the more it adds, with a bar above if it speaks for one side and below if it speaks
// for the other. If a string is too long, the part that adds most is shown.
type Strings struct {
	Format
	Texts []Spelt
	Sides Sides
}

// Spelt is a string with what each of its symbols adds to f.
type Spelt struct {
	Head  string // shown above it
	Text  string
	Parts []float64
}

const (
	spellSize = 12 // of letters
	spellHead = 18 // height of a head
	spellLine = 27 // height of a line of symbols
	spellBar  = 5  // height of the longest bar
)

// Picture draws the strings.
func (s Strings) Picture() (*Picture, error) {
	sh, err := s.sheet()
	if err != nil {
		return nil, err
	}
	if len(s.Texts) == 0 {
		return nil, errors.New("strings: there is none to draw; give at least one")
	}
	var most float64
	cell := vg.Length(9)
	for _, x := range s.Texts {
		if n := len([]rune(x.Text)); n != len(x.Parts) {
			return nil, fmt.Errorf("strings: %d numbers for %d symbols; give one for each", len(x.Parts), n)
		}
		for i, c := range []rune(x.Text) {
			if finite(x.Parts[i]) {
				most = max(most, math.Abs(x.Parts[i]))
			}
			cell = max(cell, min(width(string(c), spellSize)+1.5, 16))
		}
	}
	sh.limits = Limits{XMax: 1, YMax: 1}
	sh.bald = [2]bool{true, true}
	for k, name := range s.Sides.Names {
		sh.legend = append(sh.legend, entry{"for " + name, func(c *draw.Canvas, at vg.Point) {
			spell(c, sh.theme, vg.Rectangle{Min: at.Sub(vg.Point{X: 5, Y: 6}), Max: at.Add(vg.Point{X: 5, Y: 6})}, s.Sides.Colors[k], k == 1, 1)
		}})
	}
	sh.caption = s.describe()
	sh.add(func(c *draw.Canvas, _ mapping) {
		const left = 8
		room := c.Size().Y / vg.Length(len(s.Texts))
		perLine := max(1, int((c.Size().X-2*left)/cell))
		lines := max(1, int((room-spellHead)/spellLine))
		y := c.Max.Y
		for _, x := range s.Texts {
			symbols := []rune(x.Text)
			from := loudest(x.Parts, perLine*lines)
			to := min(len(symbols), from+perLine*lines)
			head := x.Head
			if to-from < len(symbols) {
				head += fmt.Sprintf(" · symbols %d to %d of %d", from+1, to, len(symbols))
			}
			if !sh.bare() {
				text(c, sh.theme.Muted, spellSize, false, vg.Point{X: c.Min.X + left, Y: y - 14}, clip(head, spellSize, c.Size().X-2*left))
			}
			for i := from; i < to; i++ {
				k := i - from
				at := vg.Point{X: c.Min.X + left + cell*vg.Length(k%perLine), Y: y - spellHead - spellLine*vg.Length(k/perLine) - spellBar - 14}
				box := vg.Rectangle{Min: at, Max: vg.Point{X: at.X + cell, Y: at.Y + 13}}
				if v := x.Parts[i]; v != 0 && finite(v) {
					spell(c, sh.theme, box, s.Sides.Colors[btoi(v < 0)], v < 0, math.Abs(v)/most)
				}
				if letter := string(symbols[i]); !sh.bare() && letter != " " {
					text(c, sh.theme.Ink, spellSize, false, vg.Point{X: at.X + (cell-width(letter, spellSize))/2, Y: at.Y + 2.5}, letter)
				}
			}
			y -= room
		}
	})
	return sh.picture(), nil
}

// spell colours the cell of a symbol; share is its contribution relative to the largest.
func spell(c *draw.Canvas, t *Theme, box vg.Rectangle, color Color, below bool, share float64) {
	clr := t.color(color)
	c.SetColor(translucent(clr, 0.45*share))
	c.Fill(box.Path())
	long := vg.Length(math.Round(2*spellBar*share)) / 2
	if long == 0 {
		return
	}
	bar := vg.Rectangle{Min: vg.Point{X: box.Min.X + 0.5, Y: box.Max.Y}, Max: vg.Point{X: box.Max.X - 0.5, Y: box.Max.Y + long}}
	if below {
		bar.Min.Y, bar.Max.Y = box.Min.Y-long, box.Min.Y
	}
	c.SetColor(clr)
	c.Fill(bar.Path())
}

// loudest returns the start of the n consecutive numbers with the largest sum of magnitudes.
func loudest(parts []float64, n int) (from int) {
	sum, most := 0.0, math.Inf(-1)
	for i, v := range parts {
		sum += math.Abs(v)
		if i >= n {
			sum -= math.Abs(parts[i-n])
		}
		if i >= n-1 && sum > most*(1+1e-9) {
			most, from = sum, i-n+1
		}
	}
	return from
}

// describe describes, for each string, the consecutive symbols that contribute most to one side.
func (s Strings) describe() string {
	var b strings.Builder
	b.WriteString("What each symbol adds to the score f(x).")
	for _, x := range s.Texts {
		fmt.Fprintf(&b, " %s", x.Head)
		symbols := []rune(x.Text)
		most, from, to := 0.0, 0, 0
		for i := 0; i < len(symbols); {
			sum, begin := x.Parts[i], i
			for i++; i < len(symbols) && (x.Parts[i] < 0) == (sum < 0); i++ {
				sum += x.Parts[i]
			}
			if math.Abs(sum) > math.Abs(most) {
				most, from, to = sum, begin, i
			}
		}
		if most != 0 {
			fmt.Fprintf(&b, ": most in a row add %s, symbols %d to %d, for %s", clip(string(symbols[from:to]), fontSize, 300), from+1, to, s.Sides.Names[btoi(most < 0)])
		}
		b.WriteString(".")
	}
	return b.String()
}
