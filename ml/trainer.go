package ml

import (
	"context"
	"errors"
	"maps"
	"sync"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// Trainer trains one spec on different subsets of a data set, at several C, and evaluates the
// machines on other rows. It computes only once what does not depend on the subset. It is safe for
// concurrent use.
type Trainer struct {
	p    *problem
	spec Spec

	mu     sync.Mutex
	matrix svm.Matrix // kernel matrix of all rows, if all trainings share it; nil until needed
}

// Judged is the evaluation of a training with one C on held-out rows.
type Judged struct {
	// Fault is a user-facing error if the training at this C failed, for example because there is
	// no conformal map; nil if it succeeded.
	Fault error

	Status         trace.Status
	SupportVectors int
	Scores         *mat.Dense // f on the test rows, a column per machine
	Accuracy       float64    // on the test rows; 0 under Value
	TrainAccuracy  float64    // on the training rows
	Confusion      [][]int    // of the test rows: counts by actual class, then predicted class; nil under Value
	AUC            *float64   // under Sign, if both classes occur in the test rows
	LogLoss, Brier *float64   // of a calibrated machine
	Errors         *Errors    // under Value, on the test rows; nil otherwise
	TrainErrors    *Errors    // on the training rows
}

// NewTrainer returns a Trainer. TestFraction and C of spec are not used. It returns the
// errors of Check.
func NewTrainer(d *dataset.Data, spec Spec) (*Trainer, error) {
	p, err := selectColumns(d, spec)
	if err != nil {
		return nil, err
	}
	return &Trainer{p: p, spec: spec}, nil
}

// Judge trains on the rows of train with each C of cs, in ascending order, and evaluates on the rows
// of test. Everything is fitted to the rows of train only. It returns ctx.Err(), or the error of
// Train if it concerns all of cs.
func (t *Trainer) Judge(ctx context.Context, train, test []int, cs []float64) ([]Judged, error) {
	if len(test) == 0 {
		return nil, errors.New("there are no test rows")
	}
	p, err := t.p.split(t.spec, train, nil)
	if err != nil {
		return nil, err
	}
	learner, err := lookup(t.spec.Learner)
	if err != nil {
		return nil, err
	}
	var judged []Judged
	if learner.heldOut != nil && p.target.Rule != Argmax && t.spec.Conformal == "none" && !t.spec.Values.Switch("hard_margin") {
		judged, err = t.path(ctx, learner, p, test, cs)
	} else {
		judged, err = t.each(ctx, learner, p, test, cs)
	}
	if err != nil || !t.spec.Calibrated() {
		return judged, err
	}
	fitted, faults, err := t.platt(ctx, train, cs)
	if err != nil {
		return nil, err
	}
	positive := positives(lists.At(p.target.Class, test))
	for a := range judged {
		switch j := &judged[a]; {
		case j.Fault != nil:
		case faults[a] != nil:
			*j = Judged{Fault: faults[a]}
		default:
			logLoss, brier := fitted[a].losses(mat.Col(nil, 0, j.Scores), positive)
			j.LogLoss, j.Brier = &logLoss, &brier
		}
	}
	return judged, nil
}

// each trains at each C in turn and evaluates. If the learner supports it, each training starts from
// the previous one.
func (t *Trainer) each(ctx context.Context, learner Learner, p *problem, test []int, cs []float64) (judged []Judged, err error) {
	spec := t.spec.uncalibrated()
	if learner.follow != nil && p.target.Rule == Sign && spec.Conformal == "none" && !spec.Values.Switch("hard_margin") {
		q := *p
		q.following = learner.follow()
		p = &q
	}
	for _, c := range cs {
		j, err := p.judge(ctx, spec.With("C", param.Of(c)), test)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			if !errors.As(err, new(*param.Refusal)) {
				return nil, err
			}
			j = Judged{Fault: err}
		}
		judged = append(judged, j)
	}
	return judged, nil
}

// judge trains and evaluates once.
func (p *problem) judge(ctx context.Context, spec Spec, test []int) (j Judged, err error) {
	res, err := p.train(ctx, spec, nil)
	if err != nil {
		return j, err
	}
	if res.Report.Status == trace.Cancelled {
		return j, ctx.Err()
	}
	f, err := p.scores(ctx, res.Model, test)
	if err != nil {
		return j, err
	}
	j = Judged{Status: res.Report.Status, SupportVectors: res.Report.SupportVectors, Scores: f}
	if p.target.Rule == Value {
		e, err := errorsOf(f.RawMatrix().Data, lists.At(p.target.Values, test))
		if err != nil {
			return j, err
		}
		j.Errors, j.TrainErrors = &e, &Errors{*res.Report.MSE, res.Report.R2}
		return j, nil
	}
	j.TrainAccuracy = *res.Report.TrainAccuracy
	j.count(p.target, res.Model, test)
	return j, nil
}

// count sets the accuracy, confusion matrix and AUC from the scores of m at rows.
func (j *Judged) count(t Target, m *Model, rows []int) {
	predicted := m.predicted(j.Scores)
	j.Accuracy, j.Confusion, j.AUC = t.right(predicted, rows), t.counts(predicted, rows), areaUnder(t.Rule, lists.At(t.Class, rows), j.Scores)
}

// judgeCache is the default memory for kernel rows of one call of Judge. It does not depend on the
// number of concurrent calls, because the last bits of a result depend on whether the matrix fits,
// and they must be the same on every machine.
const judgeCache = svm.DefaultCache / 2

// path trains and evaluates by learner.heldOut on the matrix of all rows: for each machine, it holds
// out all rows except the training rows of its classes.
func (t *Trainer) path(ctx context.Context, learner Learner, p *problem, test []int, cs []float64) ([]Judged, error) {
	bytes := t.spec.CacheBytes
	if bytes <= 0 {
		bytes = judgeCache
	}
	k, err := t.gram(ctx, p, bytes)
	if err != nil {
		return nil, err
	}
	trained := make([]bool, len(p.target.Class))
	for _, i := range p.rows {
		trained[i] = true
	}
	var memory svm.Memory
	defer memory.Free()
	settings := svm.Settings{Memory: &memory, Tol: t.spec.Values.Number("tol"), MaxIter: t.spec.Values.Int("max_iter"), CacheBytes: bytes}
	sides := p.target.Rule.entry().sides(len(p.target.Classes))
	machines := make([][]*svm.Result, len(sides)) // by C
	for m, s := range sides {
		y, held := make([]float64, len(trained)), []int(nil)
		for i, in := range trained {
			if y[i] = s.of(p.target.Class[i]); !in || y[i] == 0 {
				held = append(held, i)
			}
			if y[i] == 0 {
				y[i] = -1 // arbitrary: it is held out
			}
		}
		machines[m], err = learner.heldOut(ctx, k, y, held, cs, settings)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	judged := make([]Judged, len(cs))
	m := Model{Rule: p.target.Rule, Classes: p.target.Classes}
	for a := range cs {
		j := Judged{Status: trace.Converged}
		all := mat.NewDense(len(trained), len(sides), nil)
		used := make([]bool, len(trained))
		for k, byC := range machines {
			all.SetCol(k, byC[a].F)
			j.Status = worse(j.Status, byC[a].Status)
			for i, alpha := range byC[a].Alpha {
				if alpha != 0 && !used[i] {
					used[i] = true
					j.SupportVectors++
				}
			}
		}
		j.Scores = dataset.PickRows(all, test)
		j.count(p.target, &m, test)
		j.TrainAccuracy = p.target.right(m.predicted(dataset.PickRows(all, p.rows)), p.rows)
		judged[a] = j
	}
	return judged, nil
}

// gram returns the kernel matrix of all rows, shared by all calls unless the kernel is fitted
// to the rows of p.
func (t *Trainer) gram(ctx context.Context, p *problem, bytes int64) (svm.Matrix, error) {
	tabulated := func() (svm.Matrix, error) {
		k, err := p.gram(ctx, p.data)
		if err != nil {
			return nil, err
		}
		return svm.Tabulated(ctx, k, bytes)
	}
	if p.fill != nil || p.scaler != nil || p.project != nil {
		return tabulated()
	}
	if ofAll := kernel.New(t.spec.Kernel, t.spec.Values, p.data.X); ofAll.Learns() || !maps.Equal(ofAll.Values, p.kernel.Values) {
		return tabulated()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.matrix == nil {
		k, err := tabulated()
		if err != nil {
			return nil, err // may concern this ctx only
		}
		t.matrix = k
	}
	return t.matrix, nil
}
