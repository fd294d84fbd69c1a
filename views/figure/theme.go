package figure

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"

	"marginlab/ml/lists"
)

// Theme holds every colour of a picture. Orange and blue mark the two sides of a boundary:
// colour-blind readers can distinguish them, and the shapes of markers repeat the class.
type Theme struct {
	Paper color.NRGBA // background
	Ink   color.NRGBA // text, boundary, rings
	Muted color.NRGBA // tick labels, slack, remarks
	Rule  color.NRGBA // frame and tick marks

	// Class colours the markers by class index, repeating after the last. Two classes are blue and
	// orange; the other colours are Paul Tol's, darkened or lightened to stand out from Paper.
	Class []color.NRGBA
	// Side is the region where a class is predicted, for the first two colours of
	// Class: inside the margin |f| < 1, then outside.
	Side [2][2]color.NRGBA
	// Shade is the opacity of a Region of class 0; all others have shade.
	Shade float64
	// Heat holds the ends of the colour scale of f for the first two colours of Class; Zero is its
	// middle.
	Heat [2]color.NRGBA
	Zero color.NRGBA
	// Factor holds the ends, below and above Zero, of the colour scale of the conformal factor.
	Factor [2]color.NRGBA

	// Value holds the low, middle and high colours of the scale of values, with increasing contrast
	// to Paper.
	Value [3]color.NRGBA

	// Line colours the boundaries of an overlay, in order; none is a side's colour.
	Line []color.NRGBA
	// Differ fills and hatches the region where models disagree.
	Differ [2]color.NRGBA
}

// shade is the opacity of a Region.
const shade = 0.13

// Light and Dark are the themes for screens. Grey is Light for paper: the two sides of a boundary
// can be distinguished when printed without colours.
var (
	Light = Theme{
		Paper: rgb(0xffffff), Ink: rgb(0x16181d), Muted: rgb(0x555b66), Rule: rgb(0x8a909b),
		Class:  palette(0x0062a8, 0xb8500a, 0x117733, 0xaa3388, 0x6b6b1f, 0x882255, 0x007c86, 0x5b4bb0),
		Side:   [2][2]color.NRGBA{{rgb(0xeaf3fb), rgb(0xd3e6f6)}, {rgb(0xfdf2e6), rgb(0xfbe3c9)}},
		Heat:   [2]color.NRGBA{rgb(0x79b4e2), rgb(0xf2ac68)},
		Zero:   rgb(0xf8f8f8),
		Factor: [2]color.NRGBA{rgb(0xa870ba), rgb(0x2f9884)},
		Shade:  shade,
		Value:  [3]color.NRGBA{rgb(0xfbf6e4), rgb(0x94ccb8), rgb(0x3f86a8)},
		Line:   palette(0x16181d, 0xaa3388, 0x117733, 0x5b4bb0, 0x6b6b1f, 0x007c86),
		Differ: [2]color.NRGBA{rgb(0xe4e5e8), rgb(0xb4b8c0)},
	}
	Dark = Theme{
		Paper: rgb(0x15181d), Ink: rgb(0xf2f4f7), Muted: rgb(0xa9b0bc), Rule: rgb(0x6b7280),
		Class:  palette(0x6cb8f5, 0xf79a4b, 0x5fcf86, 0xe58fd0, 0xd9cf73, 0xf28a9c, 0x5fd0d8, 0xb3a6f5),
		Side:   [2][2]color.NRGBA{{rgb(0x18232e), rgb(0x1b3043)}, {rgb(0x2a2119), rgb(0x40301f)}},
		Heat:   [2]color.NRGBA{rgb(0x225e8d), rgb(0x8f5420)},
		Zero:   rgb(0x1d2026),
		Factor: [2]color.NRGBA{rgb(0x7b4a8a), rgb(0x1f7566)},
		Shade:  shade,
		Value:  [3]color.NRGBA{rgb(0x1d2026), rgb(0x22525c), rgb(0x2f86a0)},
		Line:   palette(0xf2f4f7, 0xe58fd0, 0x5fcf86, 0xb3a6f5, 0xd9cf73, 0x5fd0d8),
		Differ: [2]color.NRGBA{rgb(0x2b2f37), rgb(0x596170)},
	}
	Grey = Light.grey()
)

func (t Theme) grey() Theme {
	t.Side = [2][2]color.NRGBA{{rgb(0xcfe2f2), rgb(0xaecde8)}, {rgb(0xfef8f1), rgb(0xfdf0e2)}}
	t.Shade = 0.3
	return t
}

// themeOf returns the theme by its two switches.
func themeOf(dark, grey bool) *Theme {
	switch {
	case dark:
		return &Dark
	case grey:
		return &Grey
	}
	return &Light
}

// class returns the marker colour of class i.
func (t *Theme) class(i int) color.NRGBA { return t.Class[i%len(t.Class)] }

// region returns the pale colour of the region of class i, beside others.
func (t *Theme) region(i int) color.NRGBA {
	if i %= len(t.Class); i < len(t.Side) {
		return t.Side[i][1]
	}
	return mix(t.Paper, t.Class[i], 0.2)
}

// of returns the theme for a picture of two classes alone in the colours that they have among all.
func (t Theme) of(low, high int) *Theme {
	class, side, heat := make([]color.NRGBA, 2), t.Side, t.Heat
	for k, i := range []int{low, high} {
		class[k] = t.class(i)
		if pale := t.region(i); i < len(t.Side) {
			side[k], heat[k] = t.Side[i], t.Heat[i]
		} else {
			side[k], heat[k] = [2]color.NRGBA{mix(t.Paper, pale, 0.5), pale}, mix(t.Zero, class[k], 0.5)
		}
	}
	t.Class, t.Side, t.Heat = class, side, heat
	return &t
}

// Hex returns a colour in CSS notation, without its opacity.
func Hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

func palette(vs ...uint32) []color.NRGBA {
	return lists.Map(vs, rgb)
}

// mix returns the colour a fraction t of the way from a to b.
func mix(a, b color.NRGBA, t float64) color.NRGBA {
	m := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.NRGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), m(a.A, b.A)}
}

// ramp returns a scale of 81 colours from low over mid to high.
func ramp(low, mid, high color.NRGBA) color.Palette {
	const n = 40
	p := make(color.Palette, 0, 2*n+1)
	for i := n; i > 0; i-- {
		p = append(p, mix(mid, low, float64(i)/float64(n)))
	}
	for i := range n + 1 {
		p = append(p, mix(mid, high, float64(i)/float64(n)))
	}
	return p
}

// dashes are the dash patterns of an overlay's lines; the first is solid. They distinguish lines
// without colour.
var dashes = [][]vg.Length{nil, {8, 4}, {2, 3}, {10, 3, 2, 3}, {14, 5}, {5, 2, 2, 2, 2, 2}}
