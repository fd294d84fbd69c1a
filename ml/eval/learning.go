package eval

import (
	"context"
	"math"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// LearningStep is one step of a learning curve: trainings on a fraction of the points.
type LearningStep struct {
	Share float64 `json:"share"` // fraction of the training set of a fold
	N     int     `json:"n"`     // mean size of the training sets
	*Mean
	*MeanErrors
	Folds []Fold `json:"folds"`
}

// LearningCurve evaluates spec on the folds of scheme after training on growing fractions of the
// training sets. shares is as in Scheme.Learning; a share of 1 is ordinary cross-validation. There
// is no nested selection. Errors and progress are as in CrossValidate.
func LearningCurve(ctx context.Context, d *dataset.Data, spec ml.Spec, scheme Scheme, shares []float64, progress func(done, total int)) ([]LearningStep, error) {
	scheme.Nested, scheme.Learning = false, shares
	res, err := CrossValidate(ctx, d, spec, nil, scheme, progress)
	if err != nil {
		return nil, err
	}
	return res.Learning, nil
}

// learningSplits returns the splits for each fraction of their training sets.
func learningSplits(splits []Split, shares, strata []float64, seed uint64) (all []Split) {
	for _, share := range shares {
		for i, s := range splits {
			if share < 1 {
				s.Train = subsample(s.Train, strata, share, seed+uint64(i))
			}
			all = append(all, s)
		}
	}
	return all
}

// steps returns the steps of the curve with a result on all splits.
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
		step.Mean, step.MeanErrors = meanOf(step.Folds)
		steps = append(steps, step)
	}
	return steps
}

// learningResult returns the curve from the results of the splits.
func (p *Plan) learningResult(folds []Fold) (*Result, error) {
	if i := slices.IndexFunc(folds, func(f Fold) bool { return f.Failure != "" }); i >= 0 {
		share := p.Learning[i*len(p.Learning)/len(folds)]
		return nil, param.Refuse("use larger shares", "%g of the training set: %s", share, folds[i].Failure)
	}
	res := &Result{Searched: p.Searched, Score: p.Score, Learning: p.steps(folds)}
	last := res.Learning[len(res.Learning)-1]
	res.Settings = []Setting{{Values: p.Paths[0].values(p.Searched, 0), Mean: last.Mean, MeanErrors: last.MeanErrors, Folds: last.Folds}}
	if counts := sumConfusion(last.Folds, len(p.Classes)); counts != nil {
		res.Confusion = ml.ConfusionOf(p.Classes, counts)
	}
	return res, nil
}

// subsample returns a fraction of rows, at least one per class.
func subsample(rows Rows, strata []float64, share float64, seed uint64) Rows {
	places, _ := dataset.Split(lists.At(strata, rows), 1-share, seed)
	return lists.At(rows, places)
}
