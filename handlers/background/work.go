package background

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Work starts and tracks the background work of workspaces.
type Work struct {
	store  *store.Store
	queue  *jobs.Queue
	places places // of runs in the queue

	Paths  *Tasks[ml.Regularisation] // regularisation paths over C
	Senses *Tasks[ml.Sensitivity]    // changes that would alter results
}

// New returns the Work for a queue.
func New(st *store.Store, queue *jobs.Queue) *Work {
	return &Work{store: st, queue: queue, Paths: newTasks("path", ml.Regularise, queue.Behind), Senses: newTasks("sensitivity", ml.Sense, queue.Behind)}
}

// Regularise returns a regularisation path or its progress, like Tasks.Result.
func (a *Work) Regularise(ctx context.Context, of Question, begin bool, patience time.Duration) (*ml.Regularisation, *Job, error) {
	of.Name = PathName(of.Spec)
	return a.Paths.Result(ctx, of, begin, patience)
}

// CloseBackground cancels all computations of Paths and Senses and waits for them.
func (a *Work) CloseBackground() {
	a.Paths.close()
	a.Senses.close()
}

// Enqueue queues a run, unless its spec does not fit its data.
func (a *Work) Enqueue(ctx context.Context, ws store.Workspace, n store.NewRun) (store.Run, error) {
	return a.enqueue(n, func() (store.Run, error) { return a.store.CreateRun(ctx, ws, n) })
}

// EnqueueHandin queues a run and submits it under a name.
func (a *Work) EnqueueHandin(ctx context.Context, ws store.Workspace, n store.NewRun, name string) (store.Run, error) {
	return a.enqueue(n, func() (store.Run, error) { return a.store.CreateHandin(ctx, ws, n, name) })
}

func (a *Work) enqueue(n store.NewRun, create func() (store.Run, error)) (store.Run, error) {
	if err := ml.Check(n.Data, n.Spec); err != nil {
		return store.Run{}, err
	}
	run, err := create()
	if err == nil {
		a.queue.Notify()
	}
	return run, err
}

// LinkedSearches returns a function that reports whether a search named by one of the runs exists.
func (a *Work) LinkedSearches(ctx context.Context, runs ...store.Run) (func(search string) bool, error) {
	var ids []string
	for _, r := range runs {
		for _, e := range r.Evidence {
			ids = append(ids, e.Search)
		}
	}
	there, err := a.store.States(ctx, ids...)
	return func(id string) bool { _, ok := there[id]; return ok }, err
}

// BeginFolds cross-validates finished runs on the same folds, each as a search of a single setting,
// and returns the ids of the searches. It returns the errors of results.Comparable and
// CreateSearch.
func (a *Work) BeginFolds(ctx context.Context, ws store.Workspace, asks store.Request, runs []store.Run, folds, repeats int) (ids []string, err error) {
	if err := results.Comparable(runs); err != nil {
		return nil, err
	}
	var problems param.Problems
	for n, p := range map[*int]param.Param{&folds: results.FoldsParam, &repeats: results.RepeatsParam} {
		problems.Note(p.Name, p.Check(strconv.Itoa(*n)))
	}
	if len(problems) > 0 {
		return nil, problems
	}
	data, err := a.store.Data(ctx, runs[0].Hash)
	if err != nil {
		return nil, err
	}
	scheme := eval.Scheme{Folds: folds, Repeats: repeats, Seed: 1}
	all := lists.Map(runs, func(run store.Run) string { return run.ID })
	for i, run := range runs {
		asks := asks
		if asks.Key != "" { // one request per search, each including the whole list
			asks.Key, asks.Among = fmt.Sprint("folds ", i, " ", asks.Key), all
		}
		s, err := a.Search(ctx, ws, store.NewSearch{Dataset: run.Dataset, Data: data, DatasetName: run.DatasetName, Spec: run.Spec, Scheme: scheme, Axes: run.Axes, Request: asks})
		if err != nil {
			return nil, err
		}
		ids = append(ids, s.ID)
	}
	return ids, nil
}

// Search queues a search of a workspace.
func (a *Work) Search(ctx context.Context, ws store.Workspace, n store.NewSearch) (store.Search, error) {
	s, err := a.store.CreateSearch(ctx, ws, n)
	if err == nil {
		a.queue.Notify()
	}
	return s, err
}

// Found is a search with its result so far: its scored settings, or the steps of its learning
// curve.
type Found struct {
	store.Search
	Settings []eval.Setting
	Learning []eval.LearningStep
}

// FindSearch returns a search of a workspace.
func (a *Work) FindSearch(ctx context.Context, ws store.Workspace, id string) (f Found, err error) {
	if f.Search, err = a.store.Search(ctx, ws, id); err != nil {
		return f, err
	}
	known := f.Result
	if known == nil {
		if known, err = a.store.Reached(ctx, id); err != nil {
			return f, err
		}
	}
	f.Settings, f.Learning = known.Settings, known.Learning
	return f, nil
}

// SaveSetting queues a run with a setting of a finished search. Its note says how the setting was
// selected, with the nested score if there is one.
func (a *Work) SaveSetting(ctx context.Context, ws store.Workspace, asks store.Request, s store.Search, at int) (store.Run, error) {
	if s.Result == nil {
		return store.Run{}, web.Errorf(web.Conflict, "This search has no result: there is no setting to save.")
	}
	if at < 0 || at >= len(s.Result.Settings) {
		return store.Run{}, param.Problems{{Field: "cell", Message: fmt.Sprintf("cell expects a number from 0 to %d, the index of a cell of the search", len(s.Result.Settings)-1)}}
	}
	d, err := a.store.Data(ctx, s.Hash)
	if err != nil {
		return store.Run{}, err
	}
	setting := s.Result.Settings[at]
	n := store.NewRun{
		Spec: eval.OfSetting(s.Spec, setting.Values), Data: d, DatasetName: s.DatasetName, Axes: s.Axes, Search: s.ID, Evidence: eval.EvidenceOf(s.ID, s.Scheme, s.Result, at), Request: asks,
		Note: fmt.Sprintf("One of %d settings of a search, judged on %s: %s.", len(s.Result.Settings), results.FoldsText(s.Scheme), results.ScoreText(s.Result.RankedBy(), setting.Folds)),
	}
	if at == s.Result.Best {
		n.Note = fmt.Sprintf("The best of %d settings of a search, judged on %s: %s. %s", len(s.Result.Settings), results.FoldsText(s.Scheme), results.ScoreText(s.Result.RankedBy(), setting.Folds), strings.TrimSpace(results.NestedText(s.Result)+" "+s.Scheme.Warning(s.Result)))
	}
	if s.Dataset != "" {
		if set, err := a.store.Dataset(ctx, ws, s.Dataset); err == nil && set.Hash == s.Hash {
			n.Dataset = s.Dataset
		}
	}
	return a.Enqueue(ctx, ws, n)
}

// SearchAgain queues a follow-up to an ended search: "finer", around its best setting, the same with
// "nested" folds, or "continue", the same if it was cancelled. Cells already computed are reused.
func (a *Work) SearchAgain(ctx context.Context, ws store.Workspace, asks store.Request, s store.Search, how string) (next store.Search, err error) {
	switch {
	case how == "continue" && s.Status != store.Cancelled:
		return next, web.Errorf(web.Conflict, "This search was not cancelled: there is nothing to continue.")
	case how != "continue" && s.Result == nil:
		return next, web.Errorf(web.Conflict, "This search has no result: there is no best setting.")
	}
	n := store.NewSearch{Dataset: s.Dataset, DatasetName: s.DatasetName, Spec: s.Spec, Grid: s.Grid, Drawn: s.Drawn, Scheme: s.Scheme, Axes: s.Axes, Request: asks}
	switch how {
	case "finer":
		design, scheme := eval.Next(s.Design(), s.Scheme, s.Result)
		if design == nil {
			return next, web.Errorf(web.Conflict, "This search cannot be refined: there are no values between its own.")
		}
		n.Try(design)
		n.Scheme = scheme
	case "nested":
		n.Scheme.Nested = true
	case "continue":
	default:
		return next, param.Problems{{Field: "how", Message: fmt.Sprintf("how expects finer, nested or continue, not %q", how)}}
	}
	if n.Data, err = a.store.Data(ctx, s.Hash); err != nil {
		return next, err
	}
	return a.Search(ctx, ws, n)
}
