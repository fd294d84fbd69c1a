package figure

import (
	"errors"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// DecisionScene arranges points without coordinates: f(x) on the horizontal axis and, on the
// vertical one, the class. The first class is on top, and the points of a class are in their order
// from top to bottom. The points of the scene have these two numbers as X, and its view shows them.
// For several machines, the horizontal axis is the lead of the own class's score over the best
// other one.
func DecisionScene(m *ml.Model, points []ml.Point, classes []string) Scene {
	s := Scene{Model: m, Classes: classes, View: dataset.View{
		Center: []float64{0, 0}, Labels: [2]string{"f(x)", ""}, Exact: true,
		To: [2][]float64{{1, 0}, {0, 1}}, Axes: [2][]float64{{1, 0}, {0, 1}},
	}}
	value := func(p ml.Point) float64 { return p.F }
	if len(m.Machines) > 1 {
		s.View.Labels[0] = "lead of the own class"
		value = leads(m)
	}
	lane, number, seen := make(map[string]int), make(map[string]int), make(map[string]int)
	for i, c := range classes {
		lane[c] = i
	}
	for _, p := range points {
		number[p.Label]++
	}
	reach := 1.6 // beyond the margin
	for _, p := range points {
		k, ok := lane[p.Label]
		if !ok {
			k = len(classes)
		}
		share := (float64(seen[p.Label]) + 0.5) / float64(number[p.Label])
		seen[p.Label]++
		f := value(p)
		if v := math.Abs(f); v > reach && !math.IsInf(v, 0) {
			reach = v
		}
		p.X = []float64{f, -float64(k) - laneMargin - (1-2*laneMargin)*share}
		s.Points = append(s.Points, p)
	}
	s.Limits = Limits{XMin: -1.05 * reach, XMax: 1.05 * reach, YMin: -float64(max(1, len(classes))), YMax: 0}
	return s
}

// leads returns a function that gives the margin of a point's own class over the best other one,
// positive if the class is predicted. With one-vs-one, it is the least over the machines of the
// class.
func leads(m *ml.Model) func(p ml.Point) float64 {
	type pair struct{ positive, negative string }
	sides := make([]pair, len(m.Machines))
	for k := range sides {
		sides[k].positive, sides[k].negative = m.Sides(k)
	}
	return func(p ml.Point) float64 {
		own, least, best := 0.0, math.Inf(1), math.Inf(-1)
		rest := false // machines are one class against the rest
		for k, f := range p.Scores {
			switch s := sides[k]; {
			case s.negative == "" && s.positive == p.Label:
				own, rest = f, true
			case s.negative == "":
				best, rest = max(best, f), true
			case s.positive == p.Label:
				least = min(least, f)
			case s.negative == p.Label:
				least = min(least, -f)
			}
		}
		if rest {
			return own - best
		}
		return least
	}
}

// laneMargin is the fraction of a class's height left free at each end.
const laneMargin = 0.08

// Decisions draws a scene of DecisionScene: the values of f with the boundary f = 0 and the margin
// from -1 to 1, for data without a plane to draw the boundary in. Points are marked as in Boundary.
func Decisions(s Scene) (*Picture, error) {
	if s.Model == nil {
		return nil, errors.New("picture: there is no model whose decisions could be drawn")
	}
	s, err := s.ready()
	if err != nil {
		return nil, err
	}
	sh := s.sheet()
	t := sh.theme
	sh.ticks[1] = func(int) (ts []tick) {
		for i, c := range s.Classes {
			ts = append(ts, tick{-float64(i) - 0.5, clip(param.ClassText(c), fontSize, 90)})
		}
		return ts
	}
	sh.bald[1] = false
	several := len(s.Model.Machines) > 1
	low, high := oriented(&s, t.Side)
	sides := func(c *draw.Canvas, m mapping) {
		ends := []float64{m.XMin, -1, 0, 1, m.XMax}
		for i, clr := range []color.NRGBA{low[1], low[0], high[0], high[1]} {
			from, to := max(ends[i], m.XMin), min(ends[i+1], m.XMax)
			if from < to {
				c.SetColor(clr)
				c.Fill(vg.Rectangle{Min: m.at(from, m.YMin), Max: m.at(to, m.YMax)}.Path())
			}
		}
	}
	if !several {
		sh.add(sides)
	}
	thick := s.stroke()
	zero := draw.LineStyle{Color: t.Ink, Width: thick}
	edge := draw.LineStyle{Color: t.Ink, Width: thick * 0.5, Dashes: []vg.Length{2.4 * thick, 1.6 * thick}}
	between := draw.LineStyle{Color: t.Rule, Width: 1}
	lines := func(c *draw.Canvas, m mapping) {
		for i := 1; i < len(s.Classes); i++ {
			m.stroke(c, between, []vg.Point{m.at(m.XMin, -float64(i)), m.at(m.XMax, -float64(i))})
		}
		for at, style := range []draw.LineStyle{edge, zero, edge} {
			if several && at != 1 {
				continue
			}
			m.stroke(c, style, []vg.Point{m.at(float64(at-1), m.YMin), m.at(float64(at-1), m.YMax)})
		}
	}
	dots := marks{Scene: &s, theme: t, rings: true, cores: s.Cores, radius: s.radius()}
	sh.add(lines, dots.draw)
	sh.legend = append(s.classes(t), entry{"f = 0", line(zero)}, entry{"f = ±1", line(edge)})
	if several {
		sh.legend = append(s.classes(t), entry{"no lead", line(zero)})
	}
	sh.legend = append(sh.legend, dots.entries()...)
	what := "Decision values f(x)"
	if several {
		what = "The lead of the own class before the best of the others"
	}
	sh.caption = what + ", class by class, " + strings.TrimPrefix(sh.caption, "Decision boundary ")
	return sh.picture(), nil
}
