package lessons

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views"
	"marginlab/views/figure"
)

// Sketch is a drawn prediction: a curve on a picture that does not show it yet. A drawing is stored
// as its heights at the places X, linear in between.
type Sketch struct {
	Of   string    // what the curve is, in words: "the test error"
	Over string    // name of the horizontal axis, as in "at γ = 10"; empty for x1
	X    []float64 // at least two places, ascending
	// Truth returns the true curve, covering all of X.
	Truth func(ctx context.Context) figure.Curve
	// Draw draws the given background and the visible curves: none, the truth,
	// the truth and the sketch, or all sketches of a class. The axes do not depend on the curves.
	Draw func(l Look, curves []figure.Curve) (*figure.Picture, error)
	// Height is the range of the vertical axis, the unit of a question's Within; on a
	// logarithmic axis in decades.
	Height float64
	Log    bool
}

// SketchChart draws curves over these axes, which need limits.
func SketchChart(x, y figure.Axis, rules ...figure.Rule) func(Look, []figure.Curve) (*figure.Picture, error) {
	return func(l Look, curves []figure.Curve) (*figure.Picture, error) {
		return figure.Chart{Format: l.Format(1), X: x, Y: y, Curves: curves, Rules: rules}.Picture()
	}
}

// SketchPlane draws curves among marks of a plane with these axis names.
func SketchPlane(x, y string, limits figure.Limits, marks ...figure.Mark) func(Look, []figure.Curve) (*figure.Picture, error) {
	return func(l Look, curves []figure.Curve) (*figure.Picture, error) {
		p := figure.Plane{Format: l.Format(2), X: x, Y: y, Limits: limits, Stretched: true, Marks: slices.Clone(marks)}
		for i, c := range curves {
			path := figure.Path{Name: c.Name, Plain: !c.Marks}
			switch {
			case c.Pale:
				if curves[i-1].Pale { // they are named once
					path.Name = ""
				}
				path.Pen = figure.Pen{Color: figure.Muted, Thin: true, Pale: true}
			case i > 0:
				path.Pen = figure.Pen{Color: figure.Magenta, Dash: figure.Dashed}
			}
			for k := range c.X {
				path.Points = append(path.Points, [2]float64{c.X[k], c.Y[k]})
			}
			p.Marks = append(p.Marks, path)
		}
		return p.Picture()
	}
}

// CurveOf samples a function at n+1 places from one end to the other.
func CurveOf(from, to float64, n int, f func(float64) float64) figure.Curve {
	x := Linspace(from, to, n+1)
	return figure.Curve{X: x, Y: lists.Map(x, f)}
}

// CurvesOf samples several curves at the same places: f returns their heights, in the order of the names.
func CurvesOf(x []float64, f func(float64) []float64, names ...string) []figure.Curve {
	curves := lists.Map(names, func(name string) figure.Curve { return figure.Curve{Name: name, X: x} })
	for _, at := range x {
		for i, y := range f(at) {
			curves[i].Y = append(curves[i].Y, y)
		}
	}
	return curves
}

// Read parses the heights of a sketch, one per place.
func (s *Sketch) Read(given string) ([]float64, error) {
	texts := strings.Fields(strings.ReplaceAll(given, ";", " "))
	if len(texts) != len(s.X) {
		return nil, fmt.Errorf("expected %d heights separated by spaces, from left to right, found %d", len(s.X), len(texts))
	}
	heights := make([]float64, len(texts))
	for i, text := range texts {
		v, err := ReadNumber(text)
		if err != nil || s.Log && v <= 0 {
			return nil, fmt.Errorf("height %q: expected a number%s", text, lists.Either(s.Log, " above 0", ""))
		}
		heights[i] = v
	}
	return heights, nil
}

// kept returns the heights in their stored form.
func (s *Sketch) kept(heights []float64) string {
	return strings.Join(lists.Map(heights, func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }), " ")
}

// given formats the heights of a curve at the places.
func (s *Sketch) given(c figure.Curve) string {
	return s.kept(lists.Map(s.X, func(x float64) float64 { return height(c, x) }))
}

// Curve returns the sketch as a curve, nil if it cannot be read.
func (s *Sketch) Curve(given string) *figure.Curve {
	heights, err := s.Read(given)
	if err != nil {
		return nil
	}
	return &figure.Curve{Name: "your sketch", X: s.X, Y: heights, Marks: true}
}

// crowd returns the pointwise median of the curves drawn by a class, followed by the curves. counts
// holds the number of each stored drawing.
func (s *Sketch) crowd(counts map[string]int) (curves []figure.Curve) {
	median := figure.Curve{Name: "median of the class", X: s.X}
	at := make([][]float64, len(s.X))
	for _, given := range slices.Sorted(maps.Keys(counts)) {
		heights, err := s.Read(given)
		if err != nil {
			continue
		}
		curves = append(curves, figure.Curve{Name: "a sketch", X: s.X, Y: heights, Pale: true})
		for k, v := range heights {
			at[k] = append(at[k], slices.Repeat([]float64{v}, counts[given])...)
		}
	}
	if len(curves) == 0 {
		return nil
	}
	for _, all := range at {
		slices.Sort(all)
		median.Y = append(median.Y, (all[(len(all)-1)/2]+all[len(all)/2])/2)
	}
	return slices.Insert(curves, 0, median)
}

// height returns the height of the curve at x, interpolating linearly between its points.
func height(c figure.Curve, x float64) float64 {
	for k := range c.X {
		switch {
		case c.X[k] == x || k == 0 && c.X[k] > x:
			return c.Y[k]
		case c.X[k] > x:
			return c.Y[k-1] + (x-c.X[k-1])/(c.X[k]-c.X[k-1])*(c.Y[k]-c.Y[k-1])
		}
	}
	return c.Y[len(c.Y)-1]
}

// miss returns the mean and the largest deviation of a sketch over its places; on a logarithmic
// axis in decades.
func (s *Sketch) miss(truth figure.Curve, heights []float64) (mean, most, at float64) {
	most = -1
	for i, x := range s.X {
		a, b := heights[i], height(truth, x)
		if s.Log {
			a, b = math.Log10(a), math.Log10(b)
		}
		d := math.Abs(a - b)
		mean += d / float64(len(s.X))
		if d > most {
			most, at = d, x
		}
	}
	return mean, most, at
}

// Off describes the deviation of a sketch in the drawn quantity.
func (s *Sketch) Off(truth figure.Curve, heights []float64) string {
	mean, most, at := s.miss(truth, heights)
	rough := func(v float64) string { // two digits
		if v >= 100 {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return param.Digits(v, 2)
	}
	by := rough
	if s.Log {
		by = func(v float64) string { return "a factor of " + rough(math.Pow(10, v)) }
	}
	return fmt.Sprintf("On average your sketch of %s is off by %s, at most by %s (at %s = %s).", s.Of, by(mean), by(most), s.over(), param.Digits(at, 2))
}

func (s *Sketch) over() string {
	if s.Over == "" {
		return "x₁"
	}
	return s.Over
}

// places describes the places whose heights are requested.
func (s *Sketch) places() string {
	return s.over() + " = " + strings.Join(lists.Map(s.X, func(x float64) string { return param.Digits(x, 4) }), ", ")
}

// json returns the description of the sketch for the page's script.
func (s *Sketch) json() (string, error) {
	b, err := json.Marshal(map[string]any{"x": s.X, "of": s.Of, "over": s.over()})
	return string(b), err
}

// display describes a curve as text alternative: where it begins, bends and ends.
func (s *Sketch) display(c figure.Curve) string {
	heights := make([]float64, len(s.X))
	scaled := make([]float64, len(s.X)) // on the scale of the vertical axis
	for i, x := range s.X {
		heights[i] = height(c, x)
		if scaled[i] = heights[i]; s.Log {
			scaled[i] = math.Log10(heights[i])
		}
	}
	pieces := []string{fmt.Sprintf("%s at %s = %s", s.rounded(heights[0]), s.over(), param.Digits(s.X[0], 2))}
	from, was := 0, ""
	for _, i := range bends(scaled, s.Height/10) {
		now, way := s.rounded(heights[i]), "up to "
		switch {
		case now == s.rounded(heights[from]):
			now, way = "still", ""
		case heights[i] < heights[from]:
			way = "down to "
		}
		piece := now + " at " + param.Digits(s.X[i], 2)
		if way != was {
			piece = way + piece
		}
		pieces = append(pieces, piece)
		from, was = i, way
	}
	return strings.Join(pieces, ", ")
}

// rounded formats a height, finer than anybody draws.
func (s *Sketch) rounded(v float64) string {
	if s.Log {
		return param.Digits(v, 2)
	}
	decimals := max(0, int(math.Ceil(-math.Log10(s.Height/10))))
	pow := math.Pow(10, float64(decimals))
	return param.Digits(math.Round(v*pow)/pow, 4)
}

// bends returns the fewest places, ascending, including the last but not the first, such that
// straight lines between them stay within near of the values.
func bends(values []float64, near float64) (at []int) {
	var split func(from, to int)
	split = func(from, to int) {
		worst, most := 0, near
		for i := from + 1; i < to; i++ {
			straight := values[from] + (values[to]-values[from])*float64(i-from)/float64(to-from)
			if d := math.Abs(values[i] - straight); d > most {
				worst, most = i, d
			}
		}
		if worst == 0 {
			at = append(at, to)
			return
		}
		split(from, worst)
		split(worst, to)
	}
	split(0, len(values)-1)
	return at
}

// judge reports whether a sketch is near enough.
func (s *Sketch) judge(q *Question, truth figure.Curve, given string) (bool, error) {
	heights, err := s.Read(given)
	if strings.TrimSpace(given) == "" { // without a script nothing is drawn
		err = fmt.Errorf("the curve is incomplete: it needs a height at each of the %d places", len(s.X))
	}
	if err != nil {
		return false, param.Problems{{Field: q.Slug, Message: views.Sentence(err.Error())}}
	}
	within := cmp.Or(q.Within, 0.1)
	mean, _, _ := s.miss(truth, heights)
	return mean <= within*s.Height, nil
}
