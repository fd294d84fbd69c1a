package door

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
)

// How runs are compared by cross-validation, unless somebody says otherwise.
var (
	FoldsParam   = param.Param{Name: "folds", Label: "folds", Kind: param.Integer, Default: "10", Min: 2, Max: 100, Help: "Number of folds, stratified by class; each is held out once."}
	RepeatsParam = param.Param{Name: "repeats", Label: "repeats", Kind: param.Integer, Default: "3", Min: 1, Max: 100, Help: "Number of times the folds are drawn."}
)

// NoDifference is half the region of practical equivalence: accuracies that differ by less are
// the same in practice.
const NoDifference = 0.01

// OnFolds is how runs did on the same folds.
type OnFolds struct {
	Scheme      eval.Scheme
	Searches    []store.Search // one of a single setting for each run
	Done, Total int            // cells
	Pairs       []eval.FoldPair
}

// BeginFolds cross-validates runs that are done on the same folds, each as a search of a single
// setting, and returns the ids of these. It returns the errors of Alike and CreateSearch.
func (a *Base) BeginFolds(ctx context.Context, asks store.Request, runs []store.Run, folds, repeats int) (ids []string, err error) {
	if err := Alike(runs); err != nil {
		return nil, err
	}
	var problems param.Problems
	for n, p := range map[*int]param.Param{&folds: FoldsParam, &repeats: RepeatsParam} {
		if err := p.Check(strconv.Itoa(*n)); err != nil {
			problems = append(problems, param.Problem{Field: p.Name, Message: err.Error()})
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	data, err := a.Store.Data(ctx, runs[0].Hash)
	if err != nil {
		return nil, err
	}
	scheme := eval.Scheme{Folds: folds, Repeats: repeats, Seed: 1}
	var all []string
	for _, run := range runs {
		all = append(all, run.ID)
	}
	for i, run := range runs {
		asks := asks
		if asks.Key != "" { // one for each search, which knows of them all
			asks.Key, asks.Among = fmt.Sprint("folds ", i, " ", asks.Key), all
		}
		s, err := a.Search(ctx, store.NewSearch{Dataset: run.Dataset, Data: data, DatasetName: run.DatasetName, Spec: run.Spec, Scheme: scheme, Axes: run.Axes, Request: asks})
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.ID)
	}
	return ids, nil
}

// FoldsOf tells how runs did by the searches of BeginFolds, in their order. Pairs are there once
// all are done. Searches that are of other runs, or gone, are a *param.Refusal.
func FoldsOf(ctx context.Context, st *store.Store, ws store.Workspace, runs []store.Run, ids []string) (*OnFolds, error) {
	others := param.Refuse("ask for them again", "the folds are those of other runs")
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
			return nil, param.Refuse("ask for them again", "the folds were deleted")
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
	f.Pairs, err = eval.OnFolds(settings, f.Scheme.Folds, NoDifference)
	return f, err
}
