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

// Refine is CrossValidate, after which the search goes on around the best, as Finer has it,
// rounds times or until nothing is left to try. It returns the result of every round.
//
// Where the scheme is nested, all rounds are gone through within the points that train of
// each fold as well, from the same design on: the nested number of a round judges the whole
// choice up to there, which never sees the points held out. progress, unless it is nil, hears
// how many cells are done of all up to the end of a round.
func Refine(ctx context.Context, d *dataset.Data, spec ml.Spec, design Design, scheme Scheme, rounds int, progress func(done, total int)) ([]*Result, error) {
	w := refiner{worker: NewWorker(d, spec.CacheBytes), known: make(map[string]CellResult), progress: progress}
	p, err := NewPlan(d, spec, design, scheme)
	if err != nil {
		return nil, err
	}
	if err := w.compute(ctx, p); err != nil {
		return nil, err
	}
	res, err := p.Reduce(w.results())
	if err != nil {
		return nil, err
	}
	all := []*Result{res}
	var own []choice
	if res.Nested != nil {
		for i, s := range res.Nested.Chosen {
			own = append(own, choice{design, res.Settings[s].Values, res.Nested.Folds[i]})
		}
	}
	for range rounds {
		if design = Finer(design, res); design == nil {
			break
		}
		if p, err = NewPlan(d, spec, design, scheme); err != nil {
			return nil, err
		}
		p.Inner = nil // each fold has a design of its own
		plans := []*Plan{p}
		parts := make([]*Plan, len(own))
		for i := range own {
			if parts[i], err = own[i].finer(i, d, spec, scheme); err != nil {
				return nil, err
			}
			if parts[i] != nil {
				plans = append(plans, parts[i])
			}
		}
		if err := w.compute(ctx, plans...); err != nil {
			return nil, err
		}
		if res, err = p.Reduce(w.results()); err != nil {
			return nil, err
		}
		for i, part := range parts {
			if part == nil {
				continue
			}
			if err := own[i].choose(part, w.results()); err != nil {
				return nil, err
			}
		}
		if own != nil {
			res.Nested = &Nested{Chosen: []int{}}
			for _, c := range own {
				res.Nested.Settings = append(res.Nested.Settings, c.values)
				res.Nested.Folds = append(res.Nested.Folds, c.fold)
			}
			res.Nested.Mean, res.Nested.MeanErrors = over(res.Nested.Folds)
		}
		all = append(all, res)
	}
	return all, nil
}

// choice is what the points that train have chosen for one fold, up to a round.
type choice struct {
	design Design
	values param.Values
	fold   Fold // held out, with these values
}

// finer goes over to the design around what was chosen and plans it, for fold i; nil where
// nothing is left to try.
func (c *choice) finer(i int, d *dataset.Data, spec ml.Spec, scheme Scheme) (*Plan, error) {
	if c.design == nil {
		return nil, nil
	}
	if c.design = Finer(c.design, &Result{Settings: []Setting{{Values: c.values}}}); c.design == nil {
		return nil, nil
	}
	p, err := NewPlan(d, spec, c.design, scheme)
	if err != nil {
		return nil, fmt.Errorf("nested, around what is best when fold %d is held out: %w", i+1, err)
	}
	p.Splits, p.Inner = p.Splits[i:i+1], p.Inner[i:i+1]
	return p, nil
}

// choose takes the best of a plan of one fold.
func (c *choice) choose(p *Plan, results []CellResult) error {
	folds, missing, err := p.gather(results)
	if err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("%d cells have no result", missing)
	}
	chosen, err := p.chosen(folds)
	if err != nil {
		return err
	}
	c.values, c.fold = p.settings()[chosen[0]], folds[chosen[0]][0]
	return nil
}

// refiner computes cells once.
type refiner struct {
	worker   *Worker
	known    map[string]CellResult
	progress func(done, total int)
}

func (w *refiner) compute(ctx context.Context, plans ...*Plan) error {
	var cells []Cell
	asked := make(map[string]bool)
	for _, p := range plans {
		names, err := p.Names()
		if err != nil {
			return err
		}
		for i, c := range p.Cells() {
			if _, done := w.known[names[i]]; !done && !asked[names[i]] {
				asked[names[i]] = true
				cells = append(cells, c)
			}
		}
	}
	before := len(w.known)
	results, err := computeAll(ctx, w.worker, cells, func(done, total int) {
		if w.progress != nil {
			w.progress(before+done, before+total)
		}
	})
	if err != nil {
		return err
	}
	for _, r := range results {
		w.known[r.Cell] = r
	}
	return nil
}

func (w *refiner) results() []CellResult { return slices.Collect(maps.Values(w.known)) }
