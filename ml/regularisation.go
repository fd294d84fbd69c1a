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

// MaxRegularise is how many rows a Regularisation takes.
const MaxRegularise = 1000

// How a Regularisation is judged and followed.
const (
	regulariseFolds  = 5
	regulariseDecade = 8 // values of C from one power of ten to the next, before entry points are bracketed
	regulariseStream = 0x9e91
)

// Regularisation holds the regularisation path of a machine.
type Regularisation struct {
	C       float64              `json:"C"`       // of the spec
	Classes [2]string            `json:"classes"` // the negative one, the positive one
	Rows    []int                `json:"rows"`    // that train, from 1 on
	Side    []int                `json:"side"`    // of each of them: its place among the classes
	Folds   int                  `json:"folds"`   // that accuracies are means over
	Steps   []RegularisationStep `json:"steps"`   // by rising C
	Entries []EntryPoint         `json:"entries"`
}

// RegularisationStep is the machine at one C.
type RegularisationStep struct {
	C              float64   `json:"C"`
	SupportVectors int       `json:"support_vectors"`
	Bounded        int       `json:"bounded"` // of them, at C
	WNorm          float64   `json:"w_norm"`
	TrainAccuracy  float64   `json:"train_accuracy"`
	Accuracy       *float64  `json:"accuracy,omitempty"`    // mean over the folds; nil where C was tried for an entry point alone
	Deviation      *float64  `json:"accuracy_sd,omitempty"` // sample standard deviation of that
	Alpha          []float64 `json:"alpha"`                 // of the rows that train
}

// EntryPoint is where a row changes its part, between two C.
type EntryPoint struct {
	Row  int     `json:"row"` // from 1 on
	From string  `json:"from"`
	To   string  `json:"to"` // outside: no support vector; free: on its margin; bounded: alpha is C
	Low  float64 `json:"C_low"`
	High float64 `json:"C_high"`
}

// HasRegularisation tells whether Regularise has something to give for a spec that n rows are
// trained on: a learner whose solution is followed along C, without a map, which would have to be
// made anew at every C, and few enough rows.
func HasRegularisation(spec Spec, n int) bool {
	learner, err := lookup(spec.Learner)
	return err == nil && learner.heldOut != nil && spec.Conformal == "none" && !spec.Values.Switch("hard_margin") && n <= MaxRegularise
}

// Regularise follows the machine of spec on d along C, from one end of its slider to the other, by
// svm.Regularise, on the rows that Train would train on. The C of spec is among the steps.
// Accuracies are means over folds of these rows, each held out once, everything fitted to the
// others. recorder, which may be nil, hears of the kernel matrix, then of every fold, which counts
// as one training, and of every C that is solved, with all trainings there are to be at most.
// It returns the errors of Train and of ctx, and *param.Refusal for a spec without a path or of several
// machines.
func Regularise(ctx context.Context, d *dataset.Data, spec Spec, recorder trace.Recorder) (*Regularisation, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	p, err := prepare(d, spec)
	if err != nil {
		return nil, err
	}
	n := len(p.rows)
	switch {
	case spec.Conformal != "none" || spec.Values.Switch("hard_margin"):
		return nil, param.Refuse("switch off the conformal map and the hard margin", "a path over C is of one kernel, and of a finite C")
	case n > MaxRegularise:
		return nil, param.Refuse("hold more rows out", "a path over C is followed for up to %d training rows, not for %d", MaxRegularise, n)
	case !HasRegularisation(spec, n):
		return nil, param.Refuse("take the SVM", "there is no path over C for %s", spec.Title())
	case p.target.Rule != Sign:
		return nil, param.Refuse("name a positive class", "a path over C is of one machine, and %d classes take several", len(p.target.Classes))
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
	scores, err := r.judge(ctx, d, spec, p, grid, recorder) // at first: what follows tells how long it takes
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

// judge is the accuracies on rows held out, of every C of the grid a list over the folds. Classes
// with fewer rows than folds are in fewer of these; without two rows of each there are none.
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
	t, err := NewTrainer(d, spec.plain())
	if err != nil {
		return nil, err
	}
	scores := make([][]float64, len(grid))
	for f, fold := range folds {
		var in, out []int
		for k, i := range p.rows {
			if slices.Contains(fold, k) {
				out = append(out, i)
			} else {
				in = append(in, i)
			}
		}
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

// regulariseGrid are values of C from one end of the slider to the other, evenly by their
// logarithm, and here.
func regulariseGrid(here float64) []float64 {
	p, _ := Param("C")
	low, high := math.Log10(min(p.Low, here)), math.Log10(max(p.High, here))
	grid := make([]float64, int(math.Ceil(regulariseDecade*(high-low)))+1)
	floats.Span(grid, low, high)
	for i, v := range grid {
		grid[i] = math.Pow(10, v)
	}
	if at, there := slices.BinarySearch(grid, here); !there {
		grid = slices.Insert(grid, at, here)
	}
	return grid
}
