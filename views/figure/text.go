package figure

import (
	"image/color"
	"math"
	"sort"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/param"
)

// fonts are parsed on first use.
var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

// face is the font for measuring text and drawing PNGs.
func face(size vg.Length, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = 3 // WeightBold of golang.org/x/image/font
	}
	return fonts().Lookup(f, size)
}

// text draws s; at is the left end of its baseline. The canvas must not be rotated.
func text(c *draw.Canvas, clr color.NRGBA, size vg.Length, bold bool, at vg.Point, s string) {
	if s == "" {
		return
	}
	f := face(size, bold)
	type key struct {
		clr  color.NRGBA
		size vg.Length
		bold bool
		s    string
	}
	write := func(c *draw.Canvas, at vg.Point) {
		c.SetColor(clr)
		base, exponent := scientific(s)
		c.FillString(f, at, base)
		if exponent != "" {
			c.FillString(face(raised*size, bold), vg.Point{X: at.X + f.Width(base), Y: at.Y + 0.4*size}, exponent)
		}
	}
	if _, ok := c.Canvas.(*listCanvas); ok { // the reader draws text itself
		write(c, at)
		return
	}
	within := vg.Rectangle{Min: vg.Point{X: -0.2 * size, Y: -0.4 * size}, Max: vg.Point{X: widths.of(s, size, bold) + 0.2*size, Y: 1.2 * size}}
	stamp(c, at, within, key{clr, size, bold, s}, write)
}

// raised is the size of an exponent relative to its text.
const raised = 0.75

// scientific splits a text that ends in a power of ten: 10⁻⁷ has base 10 and exponent −7. Other texts
// have no exponent. Exponents are drawn small and raised, since the font lacks some superscript digits.
func scientific(s string) (base, exponent string) {
	base = strings.TrimRight(s, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
	if !strings.HasSuffix(base, "10") {
		return s, ""
	}
	return base, lowered.Replace(s[len(base):])
}

// lowered converts superscript characters to ordinary ones.
var lowered = strings.NewReplacer("⁻", "−", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")

// short formats a value to three significant digits.
func short(v float64) string { return param.Digits(v, 3) }

func width(s string, size vg.Length) vg.Length { return widths.of(s, size, false) }

// widths caches the widths of texts, since successive pictures have the same.
var widths measured

// measured is a cache of limited size. The zero value is ready to use.
type measured struct {
	mu   sync.Mutex
	text map[measuredText]vg.Length
}

type measuredText struct {
	s    string
	size vg.Length
	bold bool
}

func (m *measured) of(s string, size vg.Length, bold bool) vg.Length {
	const most, longest = 2000, 100 // texts, and bytes of a text
	key := measuredText{s, size, bold}
	m.mu.Lock()
	w, ok := m.text[key]
	m.mu.Unlock()
	if ok {
		return w
	}
	base, exponent := scientific(s)
	f := face(size, bold)
	w = f.Width(base)
	if exponent != "" {
		small := face(raised*size, bold)
		w += small.Width(exponent)
	}
	if len(s) > longest {
		return w
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text == nil || len(m.text) >= most {
		m.text = map[measuredText]vg.Length{}
	}
	m.text[key] = w
	return w
}

// clip shortens s with an ellipsis until it is no wider than room.
func clip(s string, size, room vg.Length) string {
	if room <= 0 {
		return ""
	}
	if width(s, size) <= room {
		return s
	}
	r := []rune(s)
	if most := int(room) + 1; len(r) > most { // no letter is narrower than a pixel
		r = r[:most]
	}
	cut := func(n int) string { return string(r[:n]) + "…" }
	wide := sort.Search(len(r), func(n int) bool { return width(cut(n), size) > room })
	if wide == 0 {
		return ""
	}
	return cut(wide - 1)
}

// clauses drops the last clauses of a note until it is no wider than room. If the first clause is
// too wide, it is clipped.
func clauses(note string, size, room vg.Length) string {
	s := note
	for width(s, size) > room {
		i := max(strings.LastIndex(s, ", "), strings.LastIndex(s, "; "), strings.LastIndex(s, ". "))
		if i < 0 {
			i = strings.Index(s, ": ")
		}
		if i < 0 || !strings.Contains(s[:i], " ") { // a single word is not informative
			return clip(note, size, room)
		}
		s = s[:i] + "."
	}
	return s
}

// quarter is the rotation of the vertical axis's label.
const quarter = math.Pi / 2

// label draws s like text, with a rim in the background colour so that it can be read above lines.
func label(c *draw.Canvas, t *Theme, clr color.NRGBA, size vg.Length, at vg.Point, s string) {
	rimmed(c, t, clr, size, at, s, 1.6)
}

// rimmed is label with a given rim width. A line running between the letters needs a wide one:
// otherwise a decimal point looks like a colon.
func rimmed(c *draw.Canvas, t *Theme, clr color.NRGBA, size vg.Length, at vg.Point, s string, rim vg.Length) {
	if svg, ok := c.Canvas.(*svgCanvas); ok {
		svg.rim = paint("stroke", t.Paper) + ` stroke-width="` + strconv.FormatFloat(float64(2*rim), 'f', -1, 64) + `" stroke-linejoin="round" paint-order="stroke"`
		text(c, clr, size, false, at, s)
		svg.rim = ""
		return
	}
	if pdf, ok := c.Canvas.(*pdfCanvas); ok {
		pdf.rim, pdf.rimmed = float64(rim), t.Paper
		text(c, clr, size, false, at, s)
		pdf.rim = 0
		return
	}
	for r := rim; r > 0.5; r -= 1.4 {
		for k := range 12 {
			sin, cos := math.Sincos(math.Pi * float64(k) / 6)
			text(c, t.Paper, size, false, vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}, s)
		}
	}
	text(c, clr, size, false, at, s)
}
