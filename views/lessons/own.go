package lessons

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/param"
	"marginlab/views"
	"marginlab/views/figure"
)

// Words is a question answered in words.
type Words struct {
	Right []string // the right answers; nil: no answer is right or wrong
}

// tidy returns text without surrounding spaces and without bidirectional control characters.
func tidy(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// same normalises text for comparison: tidy and lower-case.
func same(text string) string { return strings.ToLower(tidy(text)) }

func (w *Words) judge(q *Question, given string) (bool, error) {
	if same(given) == "" {
		return false, param.Problems{{Field: q.Slug, Message: "Write an answer first."}}
	}
	return slices.ContainsFunc(w.Right, func(right string) bool { return same(right) == same(given) }), nil
}

// display returns the right answer as shown to readers.
func (w *Words) display() string { return Literal(strings.Join(w.Right, " or ")) }

// Opinion reports whether no answer to the question is right or wrong.
func (q *Question) Opinion() bool { return q.Words != nil && len(q.Words.Right) == 0 }

// Point is a question answered by a point on a picture.
type Point struct {
	X, Y   float64 // data coordinates of the right answer
	Within float64 // largest accepted distance from it, in the units of the axes
	Slide  string  // path and query of the slide with the picture
}

// Read returns the coordinates of an answer: "1.5 2", "(1.5; 2)".
func (p *Point) Read(given string) (x, y float64, err error) {
	texts := strings.Fields(strings.NewReplacer(";", " ", "(", " ", ")", " ").Replace(given))
	if len(texts) != 2 {
		return 0, 0, fmt.Errorf("%d coordinates", len(texts))
	}
	if x, err = ReadNumber(texts[0]); err == nil {
		y, err = ReadNumber(texts[1])
	}
	return x, y, err
}

func (p *Point) judge(q *Question, given string) (bool, error) {
	x, y, err := p.Read(given)
	if err != nil {
		return false, param.Problems{{Field: q.Slug, Message: "Point at the picture, or give both coordinates, such as 1.5 2."}}
	}
	return math.Hypot(x-p.X, y-p.Y) <= p.Within, nil
}

func (p *Point) kept(x, y float64) string {
	return strconv.FormatFloat(x, 'g', 4, 64) + " " + strconv.FormatFloat(y, 'g', 4, 64)
}

func (p *Point) display() string {
	return "(" + param.Digits(p.X, 3) + ", " + param.Digits(p.Y, 3) + ")"
}

// PointView is the picture of a Point with places marked on it.
type PointView struct {
	views.Picture
	Frame  figure.Frame
	Stage  string // JSON of the frames, for the page's script
	Places []Spot
	Right  *Spot // the right answer, once it is revealed
}

// Spot is an ellipse on a picture in CSS pixels.
type Spot struct{ X, Y, RX, RY float64 }

// Mark returns the ellipse of radius within around (x, y) on the picture.
func (v *PointView) Mark(x, y, within float64) Spot {
	across := func(at, from, to float64, log bool) float64 {
		if log {
			at, from, to = math.Log(at), math.Log(from), math.Log(to)
		}
		return (at - from) / (to - from)
	}
	f := v.Frame
	p := Spot{
		X: f.Left + f.Width*across(x, f.Limits.XMin, f.Limits.XMax, f.LogX),
		Y: f.Top + f.Height*(1-across(y, f.Limits.YMin, f.Limits.YMax, f.LogY)),
	}
	p.RX = math.Abs(f.Left + f.Width*across(x+within, f.Limits.XMin, f.Limits.XMax, f.LogX) - p.X)
	p.RY = math.Abs(f.Top + f.Height*(1-across(y+within, f.Limits.YMin, f.Limits.YMax, f.LogY)) - p.Y)
	return p
}
