package eval

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Onward is the continuation of a nested selection for one fold: a design, or the selected values and
// their result if the selection is final.
type Onward struct {
	Grid   Grid         `json:"grid,omitempty"`
	Drawn  *Drawn       `json:"drawn,omitempty"` // instead of Grid
	Values param.Values `json:"values,omitempty"`
	Fold   *Fold        `json:"fold,omitempty"` // result with the final values; nil if there is a design
}

// design returns the design, nil if nothing is left to try.
func (a Onward) design() Design {
	switch {
	case a.Drawn != nil:
		return a.Drawn
	case a.Grid != nil:
		return a.Grid
	}
	return nil
}

// Next returns the design and scheme that refine a search around its best setting, with the design of
// Finer, nil if there is nothing to try. If the selection has been nested since the first search,
// each fold refines around its own selection.
func Next(design Design, scheme Scheme, r *Result) (Design, Scheme) {
	next := Finer(design, r)
	if next == nil {
		return nil, scheme
	}
	before := scheme
	scheme.Finer, scheme.Onward = true, nil
	if r.Nested == nil || before.Finer && before.Onward == nil {
		return next, scheme
	}
	for i, fold := range r.NestedFolds() {
		a := Onward{Fold: &fold}
		if before.Onward == nil {
			a.Values = r.Settings[r.Nested.Chosen[i]].Values
		} else {
			a.Values = r.Nested.Settings[i]
			design = before.Onward[i].design()
		}
		if design != nil {
			switch finer := Finer(design, &Result{Settings: []Setting{{Values: a.Values}}}).(type) {
			case Grid:
				a = Onward{Grid: finer}
			case *Drawn:
				a = Onward{Drawn: finer}
			}
		}
		scheme.Onward = append(scheme.Onward, a)
	}
	return next, scheme
}

// own returns the settings that each fold tries instead of the design. Errors are param.Problems
// and *param.Refusal.
func (s Scheme) own(d *dataset.Data, spec ml.Spec, folds int) (list []Own, err error) {
	if len(s.Onward) != folds {
		return nil, fmt.Errorf("nested: settings to refine for %d folds: expected %d", len(s.Onward), folds)
	}
	for i, a := range s.Onward {
		own := Own{Values: a.Values, Fold: a.Fold}
		switch design := a.design(); {
		case design != nil:
			own = Own{}
			if own.Paths, err = design.Paths(spec); err == nil {
				own.Searched = searched(design, own.Paths)
				err = checkEach(d, spec, own.Paths)
			}
			if err != nil {
				return nil, fmt.Errorf("nested, around the best setting without fold %d: %w", i+1, err)
			}
		case a.Fold == nil || a.Fold.Status == "" || !a.Fold.valid() || a.Fold.Failure != "" || (a.Fold.Errors != nil) != spec.Regression():
			return nil, fmt.Errorf("nested: fold %d has neither settings to try nor a chosen one", i+1)
		}
		list = append(list, own)
	}
	return list, nil
}

// Refine runs CrossValidate and then refines the search around the best setting by Next, rounds
// times or until nothing is left to try. It returns the result of every round; the nested score
// of a round covers the whole selection so far, which never sees the points held out. progress,
// if not nil, receives the number of cells done and the total up to the end of the round.
func Refine(ctx context.Context, d *dataset.Data, spec ml.Spec, design Design, scheme Scheme, rounds int, progress func(done, total int)) (all []*Result, err error) {
	if design == nil {
		design = Grid{}
	}
	worker, known := NewWorker(d, spec.CacheBytes), make(map[string]CellResult)
	for range rounds + 1 {
		p, err := NewPlan(d, spec, design, scheme)
		if err != nil {
			return nil, err
		}
		names, err := p.Names()
		if err != nil {
			return nil, err
		}
		var cells []Cell // each once
		for i, c := range p.Cells() {
			if _, done := known[names[i]]; !done {
				known[names[i]] = CellResult{}
				cells = append(cells, c)
			}
		}
		before := len(known) - len(cells)
		results, err := computeAll(ctx, worker, cells, func(done, total int) {
			if progress != nil {
				progress(before+done, before+total)
			}
		})
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			known[r.Cell] = r
		}
		res, err := p.Reduce(slices.Collect(maps.Values(known)))
		if err != nil {
			return nil, err
		}
		all = append(all, res)
		if design, scheme = Next(design, scheme, res); design == nil {
			break
		}
	}
	return all, nil
}
