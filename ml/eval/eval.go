// Package eval judges classifiers on points they were not trained on.
//
// The problem. How often is a classifier wrong on new points, and which C and gamma make it least
// so? Of a regression: how far is it off, as its mean squared error? Stratified K-fold
// cross-validation deals the points into K folds, every class evenly; each fold in turn is held out
// while the others train, and the mean of the K accuracies is the estimate (Stone 1974; Kohavi: "A
// study of cross-validation and bootstrap for accuracy estimation and model selection", IJCAI
// 1995). Repeats deal again.
//
// The best of many estimates is too good, as it was chosen for being so. Nested
// cross-validation chooses on the training points of each fold alone, by folds of
// their own, and judges the choice on the fold held out (Cawley, Talbot: "On
// over-fitting in model selection", JMLR 11, 2010).
//
// The work has three parts. A [Plan] lists all that has to be computed, as cells. A
// [Worker] computes a [Cell], which depends on the data and on nothing else, so that
// any process may do it that has them. [Plan.Reduce] makes the [Result] of what the
// cells gave, in whatever order it came. Plan, cell and result are JSON.
// [CrossValidate] does all three.
package eval

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// CrossValidate judges spec on d with every setting of the design. The held-out fraction of
// spec is not used. The result depends on d, spec, design and scheme alone. progress,
// unless it is nil, hears after each cell how many of all are done, one call at a time.
// It returns the errors of ml.Train, too few points for the folds, and that of ctx when it
// ends.
func CrossValidate(ctx context.Context, d *dataset.Data, spec ml.Spec, design Design, scheme Scheme, progress func(done, total int)) (*Result, error) {
	plan, err := NewPlan(d, spec, design, scheme)
	if err != nil {
		return nil, err
	}
	results, err := computeAll(ctx, NewWorker(d, spec.CacheBytes), plan.Cells(), progress)
	if err != nil {
		return nil, err
	}
	return plan.Reduce(results)
}

// computeAll computes cells in parallel on all processors.
func computeAll(ctx context.Context, worker *Worker, cells []Cell, progress func(done, total int)) ([]CellResult, error) {
	results := make([]CellResult, len(cells))
	var done int
	var told sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range cells {
		group.Go(func() (err error) {
			if results[i], err = worker.Compute(ctx, c); err != nil || progress == nil {
				return err
			}
			told.Lock()
			defer told.Unlock()
			done++
			progress(done, len(cells))
			return nil
		})
	}
	return results, group.Wait()
}
