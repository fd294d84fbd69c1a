package ml

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// MaxRegularise is the largest training set of a Regularisation.
const MaxRegularise = 1000

// Parameters of a Regularisation.
const (
	regulariseFolds     = 5
	regularisePerDecade = 8 // values of C per decade, before entry points are bracketed
	regulariseStream    = 0x9e91
)

// Regularisation is the regularisation path of an SVM: its solutions along C.
type Regularisation struct {
	C       float64              `json:"C"`       // of the spec
	Classes [2]string            `json:"classes"` // negative, positive
	Rows    []int                `json:"rows"`    // training rows, from 1
	Side    []int                `json:"side"`    // class index of each row
	Folds   int                  `json:"folds"`   // folds averaged in accuracies
	Steps   []RegularisationStep `json:"steps"`   // in ascending order of C
	Entries []EntryPoint         `json:"entries"`
}

// RegularisationStep describes the machine at one C.
type RegularisationStep struct {
	C              float64   `json:"C"`
	SupportVectors int       `json:"support_vectors"`
	Bounded        int       `json:"bounded"` // support vectors with alpha = C
	WNorm          float64   `json:"w_norm"`
	TrainAccuracy  float64   `json:"train_accuracy"`
	Accuracy       *float64  `json:"accuracy,omitempty"`    // mean over the folds; nil if C was only solved to bracket an entry point
	Deviation      *float64  `json:"accuracy_sd,omitempty"` // its sample standard deviation
	Alpha          []float64 `json:"alpha"`                 // of the training rows
}

// EntryPoint is a change of a row's role between two values of C.
type EntryPoint struct {
	Row  int     `json:"row"` // from 1 on
	From string  `json:"from"`
	To   string  `json:"to"` // outside: not a support vector; free: on the margin; bounded: alpha = C
	Low  float64 `json:"C_low"`
	High float64 `json:"C_high"`
}

// HasRegularisation reports whether Regularise supports a spec with n training rows: an SVM with a
// soft margin and no conformal map, and at most MaxRegularise rows.
func HasRegularisation(spec Spec, n int) bool {
	learner, err := lookup(spec.Learner)
	return err == nil && learner.heldOut != nil && spec.Conformal == "none" && !spec.Values.Switch("hard_margin") && n <= MaxRegularise
}

// Regularise computes the regularisation path of spec on d over the slider's range of C, by
// svm.Regularise, on the training set of Train. The C of spec is one of the steps. Accuracies are
// cross-validated on the training set. recorder, which may be nil, receives the progress of the
// kernel matrix, then a step for each fold, which counts as one training, and for each C, with an
// upper bound of the number of trainings. Regularise returns the errors of Train, ctx.Err(), and
// *param.Refusal for a spec without a path or with several machines.
func Regularise(ctx context.Context, d *dataset.Data, spec Spec, recorder trace.Recorder) (*Regularisation, error) {
	p, err := prepare(d, spec)
	if err != nil {
		return nil, err
	}
	n := len(p.rows)
	switch {
	case spec.Conformal != "none" || spec.Values.Switch("hard_margin"):
		return nil, param.Refuse("switch off the conformal map and the hard margin", "the regularisation path needs an SVM with a finite C and no conformal map")
	case n > MaxRegularise:
		return nil, param.Refuse("hold out more rows", "the regularisation path is computed for at most %d training rows, not %d", MaxRegularise, n)
	case !HasRegularisation(spec, n):
		return nil, param.Refuse("use the SVM", "%s has no regularisation path", spec.Name(nil))
	case p.target.Rule != Sign:
		return nil, param.Refuse("choose a positive class", "the regularisation path needs two classes, not %d", len(p.target.Classes))
	}
	grid := regulariseGrid(spec.Values.Number("C"))
	k, err := p.trainingGram(ctx, recorder)
	if err != nil {
		return nil, err
	}
	table, err := svm.Tabulated(ctx, k, judgeCache)
	if err != nil {
		return nil, err
	}
	if err := svm.HasPath(table); err != nil {
		return nil, err
	}
	r := &Regularisation{C: spec.Values.Number("C"), Classes: [2]string(p.target.Classes)}
	scores, err := r.judge(ctx, d, spec, p, grid, recorder) // first: later progress estimates depend on it
	if err != nil {
		return nil, err
	}
	y := p.parts()[0].y
	settings := svm.Settings{Tol: spec.Values.Number("tol"), MaxIter: spec.Values.Int("max_iter"), CacheBytes: judgeCache}
	if recorder != nil {
		settings.Recorder = func(s trace.Step) {
			s.Done, s.Trainings = s.Done+r.Folds, s.Trainings+r.Folds
			recorder(s)
		}
	}
	path, err := svm.Regularise(ctx, table, y, nil, grid, settings)
	if err != nil {
		return nil, err
	}
	r.Entries = make([]EntryPoint, 0, len(path.Entries))
	for _, i := range p.rows {
		r.Rows, r.Side = append(r.Rows, i+1), append(r.Side, p.target.Class[i])
	}
	for a, res := range path.Results {
		step := RegularisationStep{
			C: path.C[a], SupportVectors: res.SupportVectors, Bounded: res.SupportVectors - res.Free,
			WNorm: res.WNorm, TrainAccuracy: accuracy(res.F, y), Alpha: res.Alpha,
		}
		if at, judged := slices.BinarySearch(grid, step.C); judged && r.Folds > 0 {
			mean, deviation := stat.MeanStdDev(scores[at], nil)
			step.Accuracy, step.Deviation = &mean, &deviation
		}
		r.Steps = append(r.Steps, step)
	}
	for _, e := range path.Entries {
		r.Entries = append(r.Entries, EntryPoint{r.Rows[e.Point], e.From.String(), e.To.String(), e.Low, e.High})
	}
	return r, nil
}

// judge returns the cross-validated accuracies: for every C of the grid, one for each fold. It sets
// r.Folds: fewer if a class has fewer rows, and 0, without accuracies, if a class has only one.
func (r *Regularisation) judge(ctx context.Context, d *dataset.Data, spec Spec, p *problem, grid []float64, recorder trace.Recorder) ([][]float64, error) {
	strata, least := make([]float64, len(p.rows)), [2]int{}
	for k, i := range p.rows {
		strata[k] = float64(p.target.Class[i])
		least[p.target.Class[i]]++
	}
	if r.Folds = min(regulariseFolds, least[0], least[1]); r.Folds < 2 {
		r.Folds = 0
		return nil, nil
	}
	folds, err := dataset.Deal(strata, r.Folds, rand.New(rand.NewPCG(spec.Seed, regulariseStream)))
	if err != nil {
		return nil, err
	}
	t, err := NewTrainer(d, spec.uncalibrated())
	if err != nil {
		return nil, err
	}
	scores := make([][]float64, len(grid))
	for f, fold := range folds {
		in, out := splitFold(p.rows, fold)
		judged, err := t.Judge(ctx, in, out, grid)
		if err != nil {
			return nil, err
		}
		if recorder != nil {
			recorder(trace.Step{
				Phase: fmt.Sprintf("held out, fold %d of %d", f+1, r.Folds),
				Done:  f + 1, Trainings: svm.MostTrainings(len(p.rows), len(grid)) + r.Folds,
			})
		}
		for a, j := range judged {
			if j.Fault != nil {
				return nil, j.Fault
			}
			scores[a] = append(scores[a], j.Accuracy)
		}
	}
	return scores, nil
}

// regulariseGrid returns here and values of C over the slider's range, evenly spaced on a
// logarithmic scale.
func regulariseGrid(here float64) []float64 {
	p, _ := Param("C")
	low, high := math.Log10(min(p.Low, here)), math.Log10(max(p.High, here))
	grid := make([]float64, int(math.Ceil(regularisePerDecade*(high-low)))+1)
	floats.Span(grid, low, high)
	for i, v := range grid {
		grid[i] = math.Pow(10, v)
	}
	if at, there := slices.BinarySearch(grid, here); !there {
		grid = slices.Insert(grid, at, here)
	}
	return grid
}
