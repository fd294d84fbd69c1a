// Package eval evaluates classifiers and regressions on points they were not trained on.
//
// Stratified K-fold cross-validation estimates the accuracy of a classifier on new points, or the
// mean squared error of a regression, to choose settings such as C and gamma. It splits the points
// into K folds with equal class proportions, holds out each fold in turn while training on the
// others, and averages the K accuracies (Stone 1974; Kohavi: "A study of cross-validation and
// bootstrap for accuracy estimation and model selection", IJCAI 1995). Repeats use new splits.
//
// The best of many estimates is optimistic, because it was selected. Nested cross-validation
// selects within the training set of each fold, by inner folds, and evaluates the selection on
// the held-out fold (Cawley, Talbot: "On over-fitting in model selection", JMLR 11, 2010).
//
// The work has three parts. A [Plan] lists the cells to compute. A [Worker] computes a
// [Cell], which depends only on the data, so any process with the data can do it.
// [Plan.Reduce] combines the results of the cells, in any order, into a [Result]. Plans, cells
// and results are JSON. [CrossValidate] does all three.
package eval

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// CrossValidate evaluates spec on d with every setting of the design. It ignores TestFraction of
// spec. The result depends only on d, spec, design and scheme. progress, if not nil, is called
// after each cell with the numbers of finished and of all cells, never concurrently. CrossValidate
// returns the errors of ml.Train, an error for too few points, and ctx.Err().
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
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range cells {
		group.Go(func() (err error) {
			if results[i], err = worker.Compute(ctx, c); err != nil || progress == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, len(cells))
			return nil
		})
	}
	return results, group.Wait()
}
