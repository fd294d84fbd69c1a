package study

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Result is a study that was computed. It is JSON.
type Result struct {
	Title    string      `json:"title,omitempty"`
	Version  string      `json:"version,omitempty"`
	Baseline string      `json:"baseline"`
	Folds    int         `json:"folds"`
	Repeats  int         `json:"repeats"`
	Seed     uint64      `json:"seed"`
	MaxRows  int         `json:"max_rows,omitempty"`
	Target   string      `json:"target,omitempty"` // "value" where values are fitted
	Learners []string    `json:"learners"`
	Sets     []SetResult `json:"data"`

	// Of classes.
	Accuracy Comparison `json:"accuracy,omitzero"`
	// Vectors is about the share of the training rows that are support vectors, of which
	// fewer are better.
	Vectors Comparison `json:"support_vectors,omitzero"`

	// Left is about the share of the variance that is left, where values are fitted.
	Left Comparison `json:"variance_left,omitzero"`

	Study string `json:"study,omitempty"` // the file that says all of it again
}

// SetResult is all learners on one data set.
type SetResult struct {
	Name     string    `json:"name"`
	Rows     int       `json:"rows"`
	Of       int       `json:"of"` // rows that there were
	Features int       `json:"features,omitempty"`
	Classes  int       `json:"classes,omitempty"` // 0 where values are fitted
	SHA256   string    `json:"sha256"`            // of the rows that took part
	Outcomes []Outcome `json:"learners"`
}

// Outcome is one learner on one data set: means over the folds held out, each judged with
// the setting that the others chose.
type Outcome struct {
	Learner          string        `json:"learner"`
	Accuracy         float64       `json:"accuracy,omitempty"` // 0 where values are fitted
	Deviation        float64       `json:"accuracy_sd,omitempty"`
	*Errors                        // nil where classes are told
	SupportVectors   float64       `json:"support_vectors"`
	VectorsDeviation float64       `json:"support_vectors_sd"`
	Share            float64       `json:"support_vector_share"` // of the rows that trained
	Folds            []FoldOutcome `json:"folds"`
	Unfinished       int           `json:"not_converged"` // trainings among those of Folds, or impossible
	Trainings        int           `json:"trainings"`     // all of them, those that chose included
	Seconds          float64       `json:"seconds"`       // mean of one training, by the clock of a machine that may have been busy
}

// FoldOutcome is a fold that was held out.
type FoldOutcome struct {
	Chosen         param.Values `json:"chosen"`             // of the parameters that were searched
	Accuracy       float64      `json:"accuracy,omitempty"` // 0 where values are fitted
	*Errors                     // nil where classes are told; without deviations
	SupportVectors int          `json:"support_vectors"`
	Trained        int          `json:"trained"` // rows
}

// Errors holds the errors of a regression on the held-out points. Left is the mean squared
// error over the variance of all values of the data set, so that data sets can be compared: 0
// where f meets them all, 1 where it does no better than their mean.
type Errors struct {
	MSE           float64 `json:"mse"`
	MSEDeviation  float64 `json:"mse_sd,omitempty"`
	Left          float64 `json:"variance_left"`
	LeftDeviation float64 `json:"variance_left_sd,omitempty"`
}

// Seconds is how long cells took together; 0 where that is not known of one.
func Seconds(cells []eval.CellResult) (sum float64) {
	for _, c := range cells {
		if c.Seconds == 0 {
			return 0
		}
		sum += c.Seconds
	}
	return sum
}

// outcome returns the result of a learner on a data set, without its name.
func (s *Study) outcome(d Sample, j Judged) (o Outcome, err error) {
	variance, err := s.variance(d.Data)
	if err != nil {
		return o, err
	}
	o.Trainings = j.Plan.Trainings()
	o.Seconds = j.Seconds / float64(o.Trainings)
	for i, split := range j.Plan.Splits {
		chosen := 0
		if j.Result.Nested != nil {
			chosen = j.Result.Nested.Chosen[i]
		}
		f := j.Result.Settings[chosen].Folds[i]
		if f.Status != trace.Converged {
			o.Unfinished++
		}
		fold := FoldOutcome{Chosen: j.Result.Settings[chosen].Values, SupportVectors: f.SupportVectors, Trained: len(split.Train)}
		switch {
		case f.Failure != "": // of the one setting that there is; a choice leaves such settings out
			return o, param.Refuse("leave the learner or the data set out, or change its settings", "%s", strings.TrimSuffix(f.Failure, "."))
		case s.Values != (f.Errors != nil):
			return o, errors.New("a fold has errors of values where classes were asked for, or the other way round")
		case s.Values:
			fold.Errors = &Errors{MSE: f.MSE, Left: f.MSE / variance}
		default:
			fold.Accuracy = f.Accuracy
		}
		o.Folds = append(o.Folds, fold)
	}
	o.sum()
	return o, nil
}

// sum fills in the means and deviations over the folds.
func (o *Outcome) sum() {
	over := func(of func(f FoldOutcome) float64) (mean, deviation float64) {
		all := make([]float64, len(o.Folds))
		for i, f := range o.Folds {
			all[i] = of(f)
		}
		return stat.MeanStdDev(all, nil)
	}
	if o.Folds[0].Errors != nil {
		o.Errors = &Errors{}
		o.MSE, o.MSEDeviation = over(func(f FoldOutcome) float64 { return f.MSE })
		o.Left, o.LeftDeviation = over(func(f FoldOutcome) float64 { return f.Left })
	} else {
		o.Accuracy, o.Deviation = over(accuracy.fold)
	}
	o.SupportVectors, o.VectorsDeviation = over(func(f FoldOutcome) float64 { return float64(f.SupportVectors) })
	o.Share, _ = over(vectors.fold)
}

// Restore makes a result anew that comes from anywhere, such as a file, of what its folds
// say. It is an error when that is no result of the study.
func (s *Study) Restore(r *Result) error {
	var learners []string
	for _, l := range s.Learners {
		learners = append(learners, l.Name)
	}
	r.Title, r.Version, r.Baseline, r.Folds, r.Repeats, r.Seed, r.MaxRows, r.Learners = s.Title, s.Version, s.Baseline, s.Folds, s.Repeats, s.Seed, s.MaxRows, learners
	if r.Target = ""; s.Values {
		r.Target = "value"
	}
	if len(r.Sets) != len(s.Sets) {
		return fmt.Errorf("%d data sets: expected %d", len(r.Sets), len(s.Sets))
	}
	for i := range r.Sets {
		set := &r.Sets[i]
		if set.Name = s.Sets[i].Name; len(set.Outcomes) != len(learners) {
			return fmt.Errorf("data set %s: %d learners, expected %d", set.Name, len(set.Outcomes), len(learners))
		}
		for j := range set.Outcomes {
			o := &set.Outcomes[j]
			o.Learner = learners[j]
			wrong := len(o.Folds) != s.Folds*s.Repeats || o.Trainings < 1 || o.Seconds < 0
			for _, f := range o.Folds {
				wrong = wrong || f.Trained < 1 || f.SupportVectors < 0 || f.SupportVectors > f.Trained || f.Accuracy < 0 || f.Accuracy > 1 || (f.Errors != nil) != s.Values || s.Values && (f.MSE < 0 || f.Left < 0 || max(f.MSE, f.Left) > eval.LargestMSE)
			}
			if wrong {
				return fmt.Errorf("data set %s, learner %s: expected %d folds, each with what came of it", set.Name, o.Learner, s.Folds*s.Repeats)
			}
			o.Errors = nil
			o.sum()
		}
	}
	return r.Compare()
}
