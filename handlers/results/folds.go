package results

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
)

// MostCompared is the maximum number of runs in one comparison: more columns would be unreadable.
const MostCompared = 20

// ToCompare checks the ids of the runs to compare. Errors are param.Problems.
func ToCompare(ids []string) error {
	if len(ids) < 2 {
		return param.Problems{{Field: "runs", Message: "a comparison needs at least two runs: choose them in the list of runs"}}
	}
	if len(ids) > MostCompared {
		return param.Problems{{Field: "runs", Message: fmt.Sprintf("a comparison takes up to %d runs, not %d: leave some out", MostCompared, len(ids))}}
	}
	return nil
}

// Comparable returns a *param.Refusal if finished runs differ in data or target, so that no test can
// compare them.
func Comparable(runs []store.Run) error {
	positive := func(r store.Run) string { // of two classes, either predicts the same
		if len(r.Report.Classes) <= 2 {
			return ""
		}
		return r.Report.Positive
	}
	for _, r := range runs {
		switch {
		case r.Hash != runs[0].Hash:
			return param.Refuse("train all on the same data set", "no test can compare the runs, because they were trained on different points")
		case r.Spec.Target != runs[0].Spec.Target:
			return param.Refuse("compare runs with the same target", "no test can compare the runs, because some are classifiers and others regressions")
		case positive(r) != positive(runs[0]):
			return param.Refuse("compare runs with the same classes", "no test can compare the runs, because their classes differ")
		}
	}
	return nil
}

// Default scheme of comparisons by cross-validation.
var (
	FoldsParam   = param.Param{Name: "folds", Label: "folds", Kind: param.Integer, Default: "10", Min: 2, Max: 100, Help: "Number of folds, stratified by class; each is held out once."}
	RepeatsParam = param.Param{Name: "repeats", Label: "repeats", Kind: param.Integer, Default: "3", Min: 1, Max: 100, Help: "Number of times the folds are drawn."}
)

// noDifference is half the region of practical equivalence: accuracies that differ by less are
// the same in practice.
const noDifference = 0.01

// OnFolds holds the results of runs on the same folds.
type OnFolds struct {
	Scheme      eval.Scheme
	Searches    []store.Search // a search with a single setting for each run
	Done, Total int            // cells
	Pairs       []eval.FoldPair
}

// FoldsOf returns the results of runs from the searches of BeginFolds, in the same order. Pairs is
// set once all are done. It returns a *param.Refusal for searches of other runs or deleted ones.
func FoldsOf(ctx context.Context, st *store.Store, ws store.Workspace, runs []store.Run, ids []string) (*OnFolds, error) {
	others := param.Refuse("cross-validate again", "the folds belong to other runs")
	if len(ids) != len(runs) {
		return nil, others
	}
	f := &OnFolds{}
	settings := make([]eval.Setting, len(runs))
	done := true
	for i, id := range ids {
		s, err := st.Search(ctx, ws, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil, param.Refuse("cross-validate again", "the folds were deleted")
		case err != nil:
			return nil, err
		case i == 0:
			f.Scheme = s.Scheme
		}
		plain := eval.Scheme{Folds: f.Scheme.Folds, Repeats: f.Scheme.Repeats, Seed: f.Scheme.Seed}
		if s.Hash != runs[i].Hash || !reflect.DeepEqual(s.Spec, runs[i].Spec) || !reflect.DeepEqual(s.Scheme, plain) || len(Searched(s)) > 0 {
			return nil, others
		}
		f.Done, f.Total, f.Searches = f.Done+s.Done, f.Total+s.Total, append(f.Searches, s)
		if done = done && s.Result != nil; done {
			settings[i] = s.Result.Settings[0]
		}
	}
	if !done {
		return f, nil
	}
	var err error
	f.Pairs, err = eval.OnFolds(settings, f.Scheme.Folds, noDifference)
	return f, err
}
