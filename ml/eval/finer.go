package eval

import (
	"math"

	"marginlab/ml"
	"marginlab/ml/param"
)

// Finer is what to try once a search with spec and design has a result: a design around the
// best setting, with what else the spec then says. Values of a Grid are those of Around. The
// ranges of a *Drawn are half as wide, in proportions where they are logarithmic, with the
// best in their middle, and it is tried again besides, so that the finer search is no worse. A
// word stays as in the best. The design is nil where nothing lies between the values.
func Finer(spec ml.Spec, design Design, r *Result) (ml.Spec, Design) {
	best := r.Settings[r.Best].Values
	switch d := design.(type) {
	case Grid:
		grid := Grid{}
		for _, name := range d.Names() {
			p, _ := ml.Param(name)
			if !best.Has(name) {
				continue
			}
			if values := Around(p, d[name], best[name]); len(values) > 1 {
				grid[name] = values
			} else {
				_ = spec.Set(name, best.Text(name)) // it was tried, so it is in its range
			}
		}
		if len(grid) > 0 {
			return spec, grid
		}
	case *Drawn:
		next := &Drawn{Design: d.Design, Points: d.Points, Seed: d.Seed, Ranges: map[string]Range{}, Besides: param.Values{}}
		for _, name := range d.Names() {
			p, _ := ml.Param(name)
			if !best.Has(name) {
				continue
			}
			if r, ok := d.Ranges[name].around(p, best[name].Number()); ok {
				next.Ranges[name], next.Besides[name] = r, best[name]
			} else {
				_ = spec.Set(name, best.Text(name))
			}
		}
		if len(next.Ranges) > 0 {
			return spec, next
		}
	}
	return spec, nil
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
