package eval

import (
	"math"

	"marginlab/ml"
	"marginlab/ml/param"
)

// Finer returns a design around the best setting of a search. The values of a Grid come from
// Around. The ranges of a *Drawn are halved, on their scale, and centred on the best setting,
// which is tried again so that the finer search cannot be worse. Parameters without neighbours,
// such as words, keep the best value. It returns nil if there is nothing to try.
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

// around returns a range half as wide, centred on v and clipped to the bounds of p. ok is false if
// it is empty.
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
