package study

import (
	"errors"
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

// Errors are those of values on points held out. Left is the mean squared error over the
// variance of all values of the data set, so that data sets can be compared: 0 where f meets
// them all, 1 where it does no better than their mean.
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

// outcome is what a learner has come to on a data set, without its name.
func (s *Study) outcome(d Sample, j Judged) (o Outcome, err error) {
	variance, err := s.variance(d.Data)
	if err != nil {
		return o, err
	}
	o.Trainings = j.Plan.Trainings()
	o.Seconds = j.Seconds / float64(o.Trainings)
	var scores, left, vectors, shares []float64
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
			scores, left = append(scores, f.MSE), append(left, fold.Left)
		default:
			fold.Accuracy = f.Accuracy
			scores = append(scores, f.Accuracy)
		}
		o.Folds = append(o.Folds, fold)
		vectors = append(vectors, float64(f.SupportVectors))
		shares = append(shares, float64(f.SupportVectors)/float64(len(split.Train)))
	}
	if s.Values {
		o.Errors = &Errors{}
		o.MSE, o.MSEDeviation = stat.MeanStdDev(scores, nil)
		o.Left, o.LeftDeviation = stat.MeanStdDev(left, nil)
	} else {
		o.Accuracy, o.Deviation = stat.MeanStdDev(scores, nil)
	}
	o.SupportVectors, o.VectorsDeviation = stat.MeanStdDev(vectors, nil)
	o.Share = stat.Mean(shares, nil)
	return o, nil
}
