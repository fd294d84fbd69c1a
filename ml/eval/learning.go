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

// LearningCurve judges spec on the folds of scheme, after training on ever larger shares
// of the other points, every class evenly: whether more points would help, or another
// machine. shares are above 0 and at most 1; those of one fold are drawn from the same
// order, so that a larger share has the points of a smaller one. The last step, at 1, is
// cross-validation. A nested choice is not made. Errors and progress are those of
// CrossValidate.
func LearningCurve(ctx context.Context, d *dataset.Data, spec ml.Spec, scheme Scheme, shares []float64, progress func(done, total int)) ([]LearningStep, error) {
	scheme.Nested = false
	plan, err := NewPlan(d, spec, nil, scheme)
	if err != nil {
		return nil, err
	}
	target, err := ml.TargetOf(d, spec)
	if err != nil {
		return nil, err
	}
	strata := target.Strata()
	steps := make([]LearningStep, len(shares))
	var cells []Cell
	for a, share := range shares {
		if !(share > 0 && share <= 1) {
			return nil, param.Refuse("take one above 0 and at most 1", "%g as a share of the points that train", share)
		}
		steps[a].Share = share
		rows := 0
		for i, s := range plan.Splits {
			if share < 1 {
				s.Train = part(s.Train, strata, share, scheme.Seed+uint64(i))
			}
			rows += len(s.Train)
			cells = append(cells, Cell{plan.Data, plan.Paths[0], s, plan.Format})
		}
		steps[a].N = int(math.Round(float64(rows) / float64(len(plan.Splits))))
	}
	results, err := computeAll(ctx, NewWorker(d, spec.CacheBytes), cells, progress)
	if err != nil {
		return nil, err
	}
	for a, own := range slices.Collect(slices.Chunk(results, len(plan.Splits))) {
		for _, r := range own {
			steps[a].Folds = append(steps[a].Folds, r.Folds[0])
		}
		if i := slices.IndexFunc(steps[a].Folds, func(f Fold) bool { return f.Failure != "" }); i >= 0 {
			return nil, param.Refuse("take larger shares", "%g of the points that train: %s", steps[a].Share, steps[a].Folds[i].Failure)
		}
		steps[a].Mean, steps[a].MeanErrors = over(steps[a].Folds)
	}
	return steps, nil
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
