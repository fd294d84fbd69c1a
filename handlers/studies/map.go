package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"marginlab/handlers/background"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views"
	studiesview "marginlab/views/studies"
)

// heatMap arranges the settings of a search by two parameters and shows the best of each cell.
type heatMap struct {
	search background.Found
	names  []string // of parameters with several values
	x, y   string   // y is empty if there is one parameter, x if there is none
}

// newMap returns the map over the requested parameters, by default the first ones.
func newMap(s background.Found, x, y string) heatMap {
	m := heatMap{search: s, names: results.Searched(s.Search)}
	if s.Drawn != nil { // numeric parameters first
		slices.SortStableFunc(m.names, func(a, b string) int { return words(a) - words(b) })
	}
	if !slices.Contains(m.names, x) {
		x = ""
	}
	if !slices.Contains(m.names, y) || y == x {
		y = ""
	}
	for _, name := range m.names {
		switch {
		case x == "" && name != y:
			x = name
		case y == "" && name != x:
			y = name
		}
	}
	m.x, m.y = x, y
	return m
}

// words returns 1 for a parameter whose values are words, else 0.
func words(name string) int {
	if p, _ := ml.Param(name); p.Kind == param.Number || p.Kind == param.Integer {
		return 0
	}
	return 1
}

// axes lists the axes to choose from, if there is a choice.
func (m heatMap) axes() []views.Option {
	if len(m.names) <= 2 {
		return nil
	}
	return lists.Map(m.names, func(name string) views.Option { return views.Option{Value: name, Label: results.Symbol(name)} })
}

// values returns the values of a parameter on its axis: numbers in ascending order, then words,
// then "none" if it does not apply everywhere.
func (m heatMap) values(name string) []string {
	if name == "" {
		return []string{""}
	}
	tried := slices.Clone(m.search.Grid[name])
	slices.SortStableFunc(tried, func(a, b param.Value) int {
		switch {
		case a.IsNumber() && b.IsNumber():
			return int(math.Copysign(1, a.Number()-b.Number()))
		case a.IsNumber():
			return -1
		case b.IsNumber():
			return 1
		}
		return 0
	})
	texts := lists.Map(tried, param.Value.Text)
	texts = slices.Compact(texts)
	if slices.ContainsFunc(m.search.Settings, func(s eval.Setting) bool { return !s.Values.Has(name) }) {
		texts = append(texts, "")
	}
	return texts
}

// shades assigns the settings of a search colours by their score.
type shades struct {
	search       background.Found
	score        eval.Score
	low, high    float64 // levels
	best, simple int     // indices of settings; -1: not known yet
	lab          func(eval.Setting) string
}

func newShades(s background.Found, lab func(eval.Setting) string) shades {
	m := shades{search: s, score: results.RankedBy(s.Search), low: math.Inf(1), high: math.Inf(-1), best: -1, simple: -1, lab: lab}
	for _, setting := range s.Settings {
		if own, ok := level(m.score, setting); ok {
			m.low, m.high = min(m.low, own), max(m.high, own)
		}
	}
	if s.Result != nil {
		m.best, m.simple = s.Result.Best, s.Result.WithinOneError()
	}
	return m
}

// cell returns a setting as a cell of a map.
func (m shades) cell(i int) studiesview.HeatCell {
	s := m.search.Settings[i]
	own, ok := level(m.score, s)
	if !ok {
		why := results.Sentence(cmp.Or(s.Failure(), "it has no "+m.score.Label+" on some fold"))
		return studiesview.HeatCell{Href: m.lab(s), Text: "✕", Title: valuesText(m.search.Search, s) + " failed: " + why, Failed: true}
	}
	c := studiesview.HeatCell{
		Href: m.lab(s), Text: scoreShort(m.score, s), Best: i == m.best, Simple: i == m.simple && i != m.best,
		Title: fmt.Sprintf("%s: %s, %s support vectors on average", valuesText(m.search.Search, s), results.ScoreText(m.score, s.Folds), views.Short(results.Vectors(s))),
	}
	if !s.Converged() {
		c.Title += "; not all trainings converged"
	}
	if c.Level = heats - 1; m.high > m.low {
		share := (own - m.low) / (m.high - m.low)
		c.Level = int(math.Round((heats - 1) * share * share)) // squared, to tell good settings apart
	}
	return c
}

func (m heatMap) view(all shades) studiesview.HeatMap {
	v := studiesview.HeatMap{X: axisName(m.x), Y: axisName(m.y), Score: all.score.Title(), Hidden: len(m.names) > 2}
	xs, ys := m.values(m.x), m.values(m.y)
	rows := axisLabels(ys)
	v.Columns = axisLabels(xs)
	found := make(map[[2]string]int) // index of the best setting by cell
	for i, s := range m.search.Settings {
		at := [2]string{s.Values.Text(m.x), s.Values.Text(m.y)}
		own, ok := level(all.score, s)
		other, there := found[at]
		if better, _ := level(all.score, m.search.Settings[other]); !there || ok && own > better {
			found[at] = i
		}
	}
	for i, y := range ys {
		row := studiesview.HeatRow{Y: rows[i]}
		for _, x := range xs {
			if i, ok := found[[2]string{x, y}]; ok {
				row.Cells = append(row.Cells, all.cell(i))
				continue
			}
			c := studiesview.HeatCell{Level: -1}
			if !m.search.Status.Ended() {
				c.Text = "…"
			}
			row.Cells = append(row.Cells, c)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// mostListed is the most settings listed on a page.
const mostListed = 500

// list returns a table of the settings, best first.
func (m shades) list() *studiesview.SettingList {
	settings := m.search.Settings
	if len(settings) < 2 {
		return nil
	}
	order := dataset.Indices(len(settings))
	slices.SortStableFunc(order, func(a, b int) int {
		own, ok := level(m.score, settings[a])
		other, there := level(m.score, settings[b])
		switch {
		case ok && there:
			return cmp.Compare(other, own)
		case ok:
			return -1
		case there:
			return 1
		}
		return 0
	})
	l := &studiesview.SettingList{Total: len(settings), Score: m.score.Title()}
	names := results.Searched(m.search.Search)
	l.Names = lists.Map(names, results.Symbol)
	for _, i := range order[:min(len(order), mostListed)] {
		s := settings[i]
		row := studiesview.SettingRow{Cell: m.cell(i), Deviation: "–", Vectors: views.Short(results.Vectors(s))}
		row.Values = lists.Map(names, func(name string) string { return cmp.Or(s.Values.Text(name), "–") })
		if _, deviation, ok := m.score.Over(s.Folds); ok {
			row.Deviation = results.ScoreAmount(m.score, deviation)
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// heats is the number of colours of a map.
const heats = 10

// level returns a number that is larger for better settings: the score, negated if smaller is
// better. For a mean squared error, which may vary by powers of ten, it is the negated logarithm.
// ok is false if a fold has no score.
func level(score eval.Score, s eval.Setting) (v float64, ok bool) {
	v, _, ok = score.Over(s.Folds)
	switch {
	case score.Name == "mse":
		v = -math.Log(max(v, math.SmallestNonzeroFloat64))
	case !score.Larger:
		v = -v
	}
	return v, ok
}

func scoreShort(score eval.Score, s eval.Setting) string {
	mean, _, _ := score.Over(s.Folds)
	if score.Share {
		return fmt.Sprintf("%.1f", 100*mean)
	}
	return results.ScoreAmount(score, mean)
}

// axisLabels shortens numbers to three significant digits, or to as many as distinguish them.
func axisLabels(values []string) []string {
	for digits := 3; ; digits++ {
		labels := lists.Map(values, func(value string) string {
			if v, err := strconv.ParseFloat(value, 64); err == nil && digits < 17 {
				return param.Digits(v, digits)
			}
			return cmp.Or(value, "–")
		})
		if digits == 17 || len(slices.Compact(slices.Sorted(slices.Values(labels)))) == len(values) {
			return labels
		}
	}
}

func axisName(name string) string {
	if name == "" {
		return ""
	}
	return results.Symbol(name)
}
