package studies

import (
	"math"
	"slices"
	"strconv"

	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views/figure"
	studiesview "marginlab/views/studies"
)

// Layout of a cloud, in units of its drawing.
const (
	cloudWidth, cloudHeight = 480.0, 340.0
	cloudLeft, cloudRight   = 62.0, 12.0
	cloudTop, cloudBottom   = 12.0, 44.0
	beside                  = 16.0 // between the frame and points without a value on the axis
)

// cloud draws the settings over one parameter, and another one or the score.
func (m shades) cloud(x, y string) studiesview.Cloud {
	c := studiesview.Cloud{
		Width: cloudWidth, Height: cloudHeight, Left: cloudLeft, Top: cloudTop, Right: cloudWidth - cloudRight, Bottom: cloudHeight - cloudBottom,
		X: axisName(x), Score: m.score.Title(), Coloured: y != "",
	}
	across := m.scaleOf(x, cloudLeft+beside, cloudWidth-cloudRight-beside)
	down := m.scaleOf(y, cloudHeight-cloudBottom-beside, cloudTop+beside)
	if c.Y = axisName(y); y == "" {
		c.Y = c.Score
		down = m.scoreScale(cloudHeight-cloudBottom-beside, cloudTop+beside)
	}
	c.XTicks, c.YTicks = across.ticks, down.ticks
	for i, s := range m.search.Settings {
		p := studiesview.CloudPoint{HeatCell: m.cell(i), X: coordinate(across.at(s.Values[x]))}
		if y != "" {
			p.Y = coordinate(down.at(s.Values[y]))
		} else if mean, _, ok := m.score.Over(s.Folds); ok {
			p.Y = coordinate(down.at(param.Of(m.amount(mean))))
		} else {
			p.Y = coordinate(cloudHeight - cloudBottom)
		}
		c.Points = append(c.Points, p)
	}
	// Draw the best settings on top.
	slices.SortStableFunc(c.Points, func(a, b studiesview.CloudPoint) int { return rank(a) - rank(b) })
	if c.Coloured && m.high > m.low {
		c.Worst, c.Best = m.shown(m.low), m.shown(m.high)
	}
	return c
}

// rank returns the drawing order of a point.
func rank(p studiesview.CloudPoint) int {
	switch {
	case p.Failed:
		return -1
	case p.Best:
		return heats + 1
	case p.Simple:
		return heats
	}
	return p.Level
}

// amount returns the mean of a score in its display unit.
func (m shades) amount(mean float64) float64 {
	if m.score.Share {
		return 100 * mean
	}
	return mean
}

// shown formats the score of a level.
func (m shades) shown(level float64) string {
	switch {
	case m.score.Name == "mse":
		level = math.Exp(-level)
	case !m.score.Larger:
		level = -level
	}
	return results.ScoreAmount(m.score, level)
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// scale maps values of an axis to positions in the drawing.
type scale struct {
	ticks []studiesview.CloudTick
	at    func(v param.Value) float64
}

// scaleOf returns the axis of a parameter between two positions in the drawing.
func (m shades) scaleOf(name string, from, to float64) scale {
	r, ranged := m.search.Drawn.Ranges[name]
	if !ranged {
		return m.row(name, from, to)
	}
	s := numbers(r.Low, r.High, r.Log, from, to)
	if p, _ := ml.Param(name); p.Kind == param.Integer && r.High-r.Low <= 8 {
		s.ticks = nil
		for v := r.Low; v <= r.High; v++ {
			s.ticks = append(s.ticks, studiesview.CloudTick{At: coordinate(s.at(param.Of(v))), Label: param.Of(v).Text()})
		}
	}
	if slices.ContainsFunc(m.search.Settings, func(s eval.Setting) bool { return !s.Values.Has(name) }) {
		number, none := s.at, from-math.Copysign(beside, to-from)
		s.at = func(v param.Value) float64 {
			if !v.IsNumber() {
				return none
			}
			return number(v)
		}
		s.ticks = append([]studiesview.CloudTick{{At: coordinate(none), Label: "–"}}, s.ticks...)
	}
	return s
}

// row returns a categorical axis, starting with "none" if some setting lacks the parameter.
func (m shades) row(name string, from, to float64) scale {
	texts := lists.Map(m.search.Drawn.Lists[name], param.Value.Text)
	if slices.ContainsFunc(m.search.Settings, func(s eval.Setting) bool { return !s.Values.Has(name) }) {
		texts = append([]string{""}, texts...)
	}
	place := func(i int) float64 { return from + (to-from)*(float64(i)+0.5)/float64(max(len(texts), 1)) }
	s := scale{at: func(v param.Value) float64 { return place(max(0, slices.Index(texts, v.Text()))) }}
	for i, label := range axisLabels(texts) {
		s.ticks = append(s.ticks, studiesview.CloudTick{At: coordinate(place(i)), Label: label})
	}
	return s
}

func (m shades) scoreScale(from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range m.search.Settings {
		if mean, _, ok := m.score.Over(s.Folds); ok {
			low, high = min(low, m.amount(mean)), max(high, m.amount(mean))
		}
	}
	if low >= high {
		if math.IsInf(low, 0) {
			low = 0
		}
		low, high = low-1, low+1
	}
	return numbers(low, high, low > 0 && high > 50*low, from, to)
}

// numbers returns a numeric axis.
func numbers(low, high float64, log bool, from, to float64) scale {
	up := func(v float64) float64 { return v }
	if log {
		up = math.Log
	}
	s := scale{at: func(v param.Value) float64 { return from + (to-from)*(up(v.Number())-up(low))/(up(high)-up(low)) }}
	for _, t := range figure.Ticks(low, high, 5, log) {
		s.ticks = append(s.ticks, studiesview.CloudTick{At: coordinate(s.at(param.Of(t.Value))), Label: t.Label})
	}
	return s
}
