// Package eval judges classifiers on points they were not trained on.
//
// The problem. How often is a classifier wrong on new points, and which C and gamma
// make it least so? Stratified K-fold cross-validation deals the points into K folds,
// every class evenly; each fold in turn is held out while the others train, and the
// mean of the K accuracies is the estimate (Stone 1974; Kohavi: "A study of
// cross-validation and bootstrap for accuracy estimation and model selection", IJCAI
// 1995). Repeats deal again.
//
// The best of many estimates is too good, as it was chosen for being so. Nested
// cross-validation chooses on the training points of each fold alone, by folds of
// their own, and judges the choice on the fold held out (Cawley, Talbot: "On
// over-fitting in model selection", JMLR 11, 2010).
package eval

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Settings of CrossValidate.
type Settings struct {
	Folds   int           // K, at least 2
	Repeats int           // how often the points are dealt, at least 1; 0 means 1
	Seed    uint64        // decides how
	C       []float64     // empty: that of the spec
	Gamma   []param.Value // empty: that of the spec
	Nested  bool          // judge the choice of C and gamma, too
}

// Result of CrossValidate.
type Result struct {
	Cells []Cell `json:"cells"` // by gamma as given, by C rising
	// Best is the index of the cell with the largest accuracy, the first of several.
	Best   int     `json:"best"`
	Nested *Nested `json:"nested,omitempty"`
}

// Cell is one pair of C and gamma.
type Cell struct {
	C         *float64     `json:"C,omitempty"`     // left out: hard margin
	Gamma     *param.Value `json:"gamma,omitempty"` // left out: the kernel has none
	Accuracy  float64      `json:"accuracy"`        // mean over Folds
	Deviation float64      `json:"accuracy_sd"`     // sample standard deviation over Folds
	Folds     []Fold       `json:"folds"`           // all those of the first deal, of the second ...
}

// Fold is one fold that was held out.
type Fold struct {
	Accuracy       float64      `json:"accuracy"`
	TrainAccuracy  float64      `json:"train_accuracy"` // on the points that trained
	Status         trace.Status `json:"status"`
	SupportVectors int          `json:"support_vectors"`
}

// Converged tells whether all trainings of the cell ended with the optimum.
func (c Cell) Converged() bool {
	return !slices.ContainsFunc(c.Folds, func(f Fold) bool { return f.Status != trace.Converged })
}

// Nested judges the choice of the best cell.
type Nested struct {
	Accuracy  float64 `json:"accuracy"`    // mean over the folds
	Deviation float64 `json:"accuracy_sd"` // sample standard deviation over the folds
	// Chosen is, for each fold held out, the cell that folds of the other points chose.
	Chosen []int `json:"chosen"`
}

// CrossValidate judges spec on d with every pair of C and gamma of the settings. The
// held-out share of spec is not used. The result depends on d, spec and settings
// alone. Errors are those of ml.Train, too few points for the folds, and that of ctx
// when it ends.
func CrossValidate(ctx context.Context, d *dataset.Data, spec ml.Spec, s Settings) (*Result, error) {
	cs := []float64{spec.Values.Number("C")}
	if len(s.C) > 0 && spec.Applies("C") {
		cs = slices.Compact(slices.Sorted(slices.Values(s.C)))
	}
	gammas := []param.Value{spec.Values["gamma"]}
	if len(s.Gamma) > 0 && spec.Applies("gamma") {
		gammas = s.Gamma
	}
	for _, c := range cs {
		if err := ml.Check(d, spec.With("C", param.Of(c))); err != nil {
			return nil, err
		}
	}

	y, _, _, err := d.Binary(spec.Positive)
	if err != nil {
		return nil, err
	}
	outer, inner, err := deal(y, s)
	if err != nil {
		return nil, err
	}

	splits := slices.Concat(outer, inner)
	judged := make([][][]ml.Judged, len(gammas)) // by gamma, split and C
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for g, gamma := range gammas {
		t, err := ml.NewTrainer(d, spec.With("gamma", gamma)) // forgotten after its folds, and what it shares with it
		if err != nil {
			group.Go(func() error { return err })
			break
		}
		judged[g] = make([][]ml.Judged, len(splits))
		for i, p := range splits {
			group.Go(func() (err error) {
				if err = ctx.Err(); err == nil {
					judged[g][i], err = t.Judge(ctx, p.train, p.test, cs)
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}

	res := &Result{}
	for g, gamma := range gammas {
		for a, c := range cs {
			var cell Cell
			if spec.Applies("C") {
				cell.C = &c
			}
			if spec.Applies("gamma") {
				cell.Gamma = &gamma
			}
			for i := range outer {
				j := judged[g][i][a]
				cell.Folds = append(cell.Folds, Fold{j.Accuracy, j.TrainAccuracy, j.Status, j.SupportVectors})
			}
			cell.Accuracy, cell.Deviation = spread(len(outer), func(i int) float64 { return cell.Folds[i].Accuracy })
			res.Cells = append(res.Cells, cell)
		}
	}
	accuracy := func(cell, i int) float64 { return judged[cell/len(cs)][i][cell%len(cs)].Accuracy }
	res.Best = best(len(res.Cells), func(cell int) float64 { return res.Cells[cell].Accuracy })
	if s.Nested {
		n := &Nested{}
		for i := range outer {
			n.Chosen = append(n.Chosen, best(len(res.Cells), func(cell int) (sum float64) {
				for k := range s.Folds {
					sum += accuracy(cell, len(outer)+i*s.Folds+k)
				}
				return sum
			}))
		}
		n.Accuracy, n.Deviation = spread(len(outer), func(i int) float64 { return accuracy(n.Chosen[i], i) })
		res.Nested = n
	}
	return res, nil
}

// spread is mean and sample standard deviation of n values, at least two.
func spread(n int, value func(i int) float64) (mean, deviation float64) {
	v := make([]float64, n)
	for i := range v {
		v[i] = value(i)
	}
	return stat.MeanStdDev(v, nil)
}

// best is the first of the largest of n values. Those that differ by rounding count as
// equal.
func best(n int, value func(i int) float64) (b int) {
	for i := range n {
		if value(i) > value(b)+1e-12 {
			b = i
		}
	}
	return b
}
