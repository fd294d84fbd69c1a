package eval

import (
	"math"

	"marginlab/ml"
	"marginlab/ml/param"
)

// Finer returns the next design to try after a search: one around its best setting. Values
// of a Grid are those of Around. The ranges of a *Drawn are half as wide, in proportions where
// they are logarithmic, with the best in their middle, and it is tried again besides, so that
// the finer search is no worse. What nothing lies around, such as a word, keeps the value of
// the best. The design is nil where there is nothing to try.
func Finer(design Design, r *Result) Design {
	best := r.Settings[r.Best].Values
	switch d := design.(type) {
	case Grid:
		grid, several := Grid{}, false
		for _, name := range d.Names() {
			if best.Has(name) {
				p, _ := ml.Param(name)
				grid[name] = Around(p, d[name], best[name])
				several = several || len(grid[name]) > 1
			}
		}
		if several {
			return grid
		}
	case *Drawn:
		next := &Drawn{Design: d.Design, Points: d.Points, Seed: d.Seed, Ranges: map[string]Range{}, Lists: Grid{}, Besides: param.Values{}}
		for _, name := range d.Names() {
			if !best.Has(name) {
				continue
			}
			p, _ := ml.Param(name)
			next.Besides[name] = best[name]
			if r, ok := d.Ranges[name].around(p, best[name].Number()); ok {
				next.Ranges[name] = r
			} else {
				next.Lists[name] = []param.Value{best[name]}
			}
		}
		if len(next.Ranges) > 0 {
			return next
		}
	}
	return nil
}

// around is a range half as wide with v in its middle, but for what p does not allow; ok is
// false where nothing is left of it.
func (r Range) around(p param.Param, v float64) (next Range, ok bool) {
	next = Range{Log: r.Log}
	if quarter := (r.High - r.Low) / 4; r.Log {
		by := math.Pow(r.High/r.Low, 0.25)
		next.Low, next.High = v/by, v*by
	} else {
		next.Low, next.High = v-quarter, v+quarter
	}
	for end, old := range map[*float64]float64{&next.Low: r.Low, &next.High: r.High} {
		if p.Kind == param.Integer {
			*end = math.Round(*end)
		} else {
			*end = decimal(*end, 4)
		}
		if p.Verify(param.Of(*end)) != nil {
			*end = old
		}
	}
	return next, next.Low < next.High && next.Low <= v && v <= next.High
}
