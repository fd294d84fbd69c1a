package study

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Result is the result of a study. It is encoded as JSON.
type Result struct {
	Title    string      `json:"title,omitempty"`
	Version  string      `json:"version,omitempty"`
	Baseline string      `json:"baseline"`
	Folds    int         `json:"folds"`
	Repeats  int         `json:"repeats"`
	Seed     uint64      `json:"seed"`
	MaxRows  int         `json:"max_rows,omitempty"`
	Target   string      `json:"target,omitempty"` // "value" for a regression
	Learners []string    `json:"learners"`
	Sets     []SetResult `json:"data"`

	// Accuracy compares classification accuracies.
	Accuracy Comparison `json:"accuracy,omitzero"`
	// Vectors compares the fraction of training rows that are support vectors; fewer are better.
	Vectors Comparison `json:"support_vectors,omitzero"`

	// Left compares the unexplained variance in a regression.
	Left Comparison `json:"variance_left,omitzero"`

	Study string `json:"study,omitempty"` // the complete study file
}

// SetResult holds the results of all learners on one data set.
type SetResult struct {
	Name     string    `json:"name"`
	Rows     int       `json:"rows"`
	Of       int       `json:"of"` // rows before subsampling
	Features int       `json:"features,omitempty"`
	Classes  int       `json:"classes,omitempty"` // 0 for a regression
	SHA256   string    `json:"sha256"`            // of the rows used
	Outcomes []Outcome `json:"learners"`
}

// Outcome is the result of one learner on one data set: means over the held-out folds, each
// scored with the setting chosen on the other folds.
type Outcome struct {
	Learner          string        `json:"learner"`
	Accuracy         float64       `json:"accuracy,omitempty"` // 0 for a regression
	Deviation        float64       `json:"accuracy_sd,omitempty"`
	*Errors                        // nil for classification
	SupportVectors   float64       `json:"support_vectors"`
	VectorsDeviation float64       `json:"support_vectors_sd"`
	Share            float64       `json:"support_vector_share"` // of the training rows
	Folds            []FoldOutcome `json:"folds"`
	Unfinished       int           `json:"not_converged"` // trainings in Folds that did not converge
	Trainings        int           `json:"trainings"`     // all of them, including the inner ones
	Seconds          float64       `json:"seconds"`       // mean wall-clock time of one training, on a possibly busy machine
}

// FoldOutcome is the result on one held-out fold.
type FoldOutcome struct {
	Chosen         param.Values `json:"chosen"`             // values of the searched parameters
	Accuracy       float64      `json:"accuracy,omitempty"` // 0 for a regression
	*Errors                     // nil for classification; without deviations
	SupportVectors int          `json:"support_vectors"`
	Trained        int          `json:"trained"` // rows
}

// Errors holds the errors of a regression on the held-out points. Left is the mean squared error
// divided by the variance of all values of the data set, so that data sets are comparable: 0 for
// a perfect fit, 1 for predicting the mean.
type Errors struct {
	MSE           float64 `json:"mse"`
	MSEDeviation  float64 `json:"mse_sd,omitempty"`
	Left          float64 `json:"variance_left"`
	LeftDeviation float64 `json:"variance_left_sd,omitempty"`
}

// Seconds returns the total time of the cells, or 0 if the time of a cell is unknown.
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
		case f.Failure != "": // of the only setting; a choice skips failed settings
			return o, param.Refuse("remove the learner or the data set, or change its settings", "%s", strings.TrimSuffix(f.Failure, "."))
		case s.Values != (f.Errors != nil):
			return o, errors.New("a fold does not match the target: it has errors for classes, or shares for values")
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

// sum computes the means and deviations over the folds.
func (o *Outcome) sum() {
	over := func(of func(f FoldOutcome) float64) (mean, deviation float64) {
		return stat.MeanStdDev(lists.Map(o.Folds, of), nil)
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

// Restore recomputes a result from an untrusted source, such as a file, from its folds. It returns
// an error if it is not a result of the study.
func (s *Study) Restore(r *Result) error {
	learners := lists.Map(s.Learners, func(l Learner) string { return l.Name })
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
				return fmt.Errorf("data set %s, learner %s: expected %d folds, each with a result", set.Name, o.Learner, s.Folds*s.Repeats)
			}
			o.Errors = nil
			o.sum()
		}
	}
	return r.Compare()
}
