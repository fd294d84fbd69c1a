package study

import (
	"fmt"

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
	Learners []string    `json:"learners"`
	Sets     []SetResult `json:"data"`

	Accuracy Comparison `json:"accuracy"`
	// Vectors is about the share of the training rows that are support vectors, of which
	// fewer are better.
	Vectors Comparison `json:"support_vectors"`

	Study string `json:"study,omitempty"` // the file that says all of it again
}

// SetResult is all learners on one data set.
type SetResult struct {
	Name     string    `json:"name"`
	Rows     int       `json:"rows"`
	Of       int       `json:"of"` // rows that there were
	Features int       `json:"features,omitempty"`
	Classes  int       `json:"classes"`
	SHA256   string    `json:"sha256"` // of the rows that took part
	Outcomes []Outcome `json:"learners"`
}

// Outcome is one learner on one data set: means over the folds held out, each judged with
// the setting that the others chose.
type Outcome struct {
	Learner          string        `json:"learner"`
	Accuracy         float64       `json:"accuracy"`
	Deviation        float64       `json:"accuracy_sd"`
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
	Chosen         param.Values `json:"chosen"` // of the parameters that were searched
	Accuracy       float64      `json:"accuracy"`
	SupportVectors int          `json:"support_vectors"`
	Trained        int          `json:"trained"` // rows
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

// outcome is that of the learner, without its name.
func (j Judged) outcome() (o Outcome, err error) {
	o.Trainings = j.Plan.Trainings()
	o.Seconds = j.Seconds / float64(o.Trainings)
	return o, o.judge(j.Plan, j.Result)
}

// judge fills in what the folds held out come to.
func (o *Outcome) judge(p *eval.Plan, res *eval.Result) error {
	var accuracies, vectors, shares []float64
	for i, s := range p.Splits {
		chosen := 0
		if res.Nested != nil {
			chosen = res.Nested.Chosen[i]
		}
		f := res.Settings[chosen].Folds[i]
		if f.Shares == nil {
			return fmt.Errorf("a study compares accuracies, and there are none where values are fitted")
		}
		if f.Status != trace.Converged {
			o.Unfinished++
		}
		o.Folds = append(o.Folds, FoldOutcome{res.Settings[chosen].Values, f.Accuracy, f.SupportVectors, len(s.Train)})
		accuracies = append(accuracies, f.Accuracy)
		vectors = append(vectors, float64(f.SupportVectors))
		shares = append(shares, float64(f.SupportVectors)/float64(len(s.Train)))
	}
	o.Accuracy, o.Deviation = stat.MeanStdDev(accuracies, nil)
	o.SupportVectors, o.VectorsDeviation = stat.MeanStdDev(vectors, nil)
	o.Share = stat.Mean(shares, nil)
	return nil
}
