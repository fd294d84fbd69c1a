package study

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
)

// Keeper lets a run resume an interrupted one. Each field may be nil.
type Keeper struct {
	Known map[string]eval.CellResult  // by cell name; must not change during the run
	Keep  func(eval.CellResult) error // called for each new cell, one call at a time
}

// Run computes the study on the data of Study.Load, in parallel on all processors. Accuracies and
// support vectors depend only on the study and its data, times on the machine. progress, if not
// nil, is called at the start and after each cell with the numbers of finished cells, of cells
// already known, and of all cells, one call at a time. Run returns the errors of
// eval.CrossValidate, with data set and learner, the errors of Keep, and ctx.Err().
func Run(ctx context.Context, s *Study, samples []Sample, k Keeper, progress func(done, known, total int)) (*Result, error) {
	// Plan everything first, to report errors before any work.
	total := 0
	for i := range samples {
		plans, err := s.plans(i, samples[i])
		if err != nil {
			return nil, err
		}
		for _, p := range plans {
			total += len(p.Cells())
		}
	}
	w := work{study: s, keeper: k, total: total, progress: progress}
	w.addKnown(0)
	return s.gather(samples, func(i int) ([]Outcome, error) { return w.set(ctx, i, samples[i]) })
}

// Judged holds the result of one learner on one data set.
type Judged struct {
	Plan    *eval.Plan
	Result  *eval.Result
	Seconds float64 // of all trainings; 0 if unknown
}

// Gather is Run for searches computed elsewhere. judged holds the results by data set and learner, in
// the order of the study.
func (s *Study) Gather(samples []Sample, judged [][]Judged) (*Result, error) {
	return s.gather(samples, func(i int) (outcomes []Outcome, err error) {
		for j, l := range s.Learners {
			o, err := s.outcome(samples[i], judged[i][j])
			if err != nil {
				return nil, s.wrap(i, l, err)
			}
			o.Learner = l.Name
			outcomes = append(outcomes, o)
		}
		return outcomes, nil
	})
}

// gather builds a result from the outcomes on each data set.
func (s *Study) gather(samples []Sample, on func(i int) ([]Outcome, error)) (*Result, error) {
	res := &Result{
		Title: s.Title, Version: s.Version, Baseline: s.Baseline,
		Folds: s.Folds, Repeats: s.Repeats, Seed: s.Seed, MaxRows: s.MaxRows,
	}
	if s.Values {
		res.Target = "value"
	}
	res.Learners = lists.Map(s.Learners, func(l Learner) string { return l.Name })
	for i, sample := range samples {
		outcomes, err := on(i)
		if err != nil {
			return nil, err
		}
		set := SetResult{Name: s.Sets[i].Name, Rows: sample.Len(), Of: sample.Of, Features: len(sample.Features), SHA256: sample.SHA256, Outcomes: outcomes}
		if !s.Values {
			set.Classes = len(sample.Classes)
		}
		res.Sets = append(res.Sets, set)
	}
	return res, res.Compare()
}

// Search returns the search of a learner on a data set, by their indices in the study.
func (s *Study) Search(set, learner int) (ml.Spec, eval.Grid, eval.Scheme) {
	l := s.Learners[learner]
	spec := l.Spec
	spec.Positive = s.Sets[set].Positive // empty for a regression
	// With a single setting there is nothing to choose; the folds are the same.
	return spec, l.Grid, eval.Scheme{Folds: s.Folds, Repeats: s.Repeats, Seed: s.Seed, Nested: l.chooses()}
}

// plans returns the plans of the learners on a data set.
func (s *Study) plans(i int, d Sample) ([]*eval.Plan, error) {
	var plans []*eval.Plan
	for j, l := range s.Learners {
		spec, grid, scheme := s.Search(i, j)
		p, err := eval.NewPlan(d.Data, spec, grid, scheme)
		if err != nil {
			return nil, s.wrap(i, l, err)
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// chooses reports whether there is more than one setting.
func (l Learner) chooses() bool {
	paths, _ := l.Grid.Paths(l.Spec) // checked by Parse
	return len(paths) > 1 || len(paths) == 1 && paths[0].Settings() > 1
}

// wrap adds the names of the data set and the learner to an error.
func (s *Study) wrap(i int, l Learner, err error) error {
	return fmt.Errorf("data set %s, learner %s: %w", s.Sets[i].Name, l.Name, err)
}

// work is a study being computed.
type work struct {
	study    *Study
	keeper   Keeper
	total    int
	progress func(done, known, total int)

	mu          sync.Mutex
	done, known int
}

// set computes all learners on one data set.
func (w *work) set(ctx context.Context, i int, d Sample) ([]Outcome, error) {
	plans, err := w.study.plans(i, d)
	if err != nil {
		return nil, err
	}
	worker := eval.NewWorker(d.Data, 0)
	computed := make([][]eval.CellResult, len(plans))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for j, p := range plans {
		cells := p.Cells()
		computed[j] = make([]eval.CellResult, len(cells))
		for a, c := range cells {
			name, err := c.Name()
			if known, ok := w.keeper.Known[name]; ok {
				computed[j][a] = known
				w.addKnown(1)
				continue
			}
			group.Go(func() error {
				if err != nil {
					return err
				}
				res, err := worker.Compute(ctx, c)
				if err != nil {
					return w.study.wrap(i, w.study.Learners[j], err)
				}
				computed[j][a] = res
				return w.add(res)
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(plans))
	for j, p := range plans {
		l := w.study.Learners[j]
		one := Judged{Plan: p, Seconds: Seconds(computed[j])}
		if one.Result, err = p.Reduce(computed[j]); err == nil {
			outcomes[j], err = w.study.outcome(d, one)
		}
		if err != nil {
			return nil, w.study.wrap(i, l, err)
		}
		outcomes[j].Learner = l.Name
	}
	return outcomes, nil
}

// addKnown counts known cells and reports progress.
func (w *work) addKnown(known int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += known
	w.known += known
	if w.progress != nil {
		w.progress(w.done, w.known, w.total)
	}
}

// add keeps a computed cell, counts it and reports progress.
func (w *work) add(c eval.CellResult) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.keeper.Keep != nil {
		if err := w.keeper.Keep(c); err != nil {
			return err
		}
	}
	w.done++
	if w.progress != nil {
		w.progress(w.done, w.known, w.total)
	}
	return nil
}
