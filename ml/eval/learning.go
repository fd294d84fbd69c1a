package eval

import (
	"context"
	"math"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// LearningStep is one place of a learning curve: trainings on a share of the points.
type LearningStep struct {
	Share float64 `json:"share"` // of those that train in a fold
	N     int     `json:"n"`     // points of each training, the mean where they differ
	*Mean
	*MeanErrors
	Folds []Fold `json:"folds"`
}

// LearningCurve judges spec on the folds of scheme, after training on ever larger shares of
// the other points: whether more points would help, or another machine. shares are those of
// Scheme.Learning; the last step, at 1, is cross-validation. A nested choice is not made.
// Errors and progress are as in CrossValidate.
func LearningCurve(ctx context.Context, d *dataset.Data, spec ml.Spec, scheme Scheme, shares []float64, progress func(done, total int)) ([]LearningStep, error) {
	scheme.Nested, scheme.Learning = false, shares
	res, err := CrossValidate(ctx, d, spec, nil, scheme, progress)
	if err != nil {
		return nil, err
	}
	return res.Learning, nil
}

// shared are splits once for each share of the rows that train.
func shared(splits []Split, shares, strata []float64, seed uint64) (all []Split) {
	for _, share := range shares {
		for i, s := range splits {
			if share < 1 {
				s.Train = part(s.Train, strata, share, seed+uint64(i))
			}
			all = append(all, s)
		}
	}
	return all
}

// steps returns the steps of the curve that all splits have a result for.
func (p *Plan) steps(folds []Fold) (steps []LearningStep) {
	each := len(p.Splits) / len(p.Learning)
	for a, share := range p.Learning {
		step := LearningStep{Share: share, Folds: folds[a*each:][:each]}
		if slices.ContainsFunc(step.Folds, func(f Fold) bool { return f.Status == "" || f.Failure != "" }) {
			continue
		}
		rows := 0
		for _, s := range p.Splits[a*each:][:each] {
			rows += len(s.Train)
		}
		step.N = int(math.Round(float64(rows) / float64(each)))
		step.Mean, step.MeanErrors = over(step.Folds)
		steps = append(steps, step)
	}
	return steps
}

// learned makes the curve of what the splits gave.
func (p *Plan) learned(folds []Fold) (*Result, error) {
	if i := slices.IndexFunc(folds, func(f Fold) bool { return f.Failure != "" }); i >= 0 {
		share := p.Learning[i*len(p.Learning)/len(folds)]
		return nil, param.Refuse("take larger shares", "%g of the training set: %s", share, folds[i].Failure)
	}
	res := &Result{Searched: p.Searched, Score: p.Score, Learning: p.steps(folds)}
	last := res.Learning[len(res.Learning)-1]
	res.Settings = []Setting{{Values: p.Paths[0].values(p.Searched, 0), Mean: last.Mean, MeanErrors: last.MeanErrors, Folds: last.Folds}}
	if counts := summed(last.Folds, len(p.Classes)); counts != nil {
		res.Confusion = ml.ConfusionOf(p.Classes, counts)
	}
	return res, nil
}

// part is a share of rows, of every class one at least.
func part(rows Rows, strata []float64, share float64, seed uint64) Rows {
	own := make([]float64, len(rows))
	for a, i := range rows {
		own[a] = strata[i]
	}
	places, _ := dataset.Split(own, 1-share, seed)
	some := make(Rows, len(places))
	for a, at := range places {
		some[a] = rows[at]
	}
	return some
}
