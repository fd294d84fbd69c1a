package ml

import (
	"fmt"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Target is what a training is to tell of every row: the answers that there are, and
// the right one.
type Target struct {
	Rule    Rule
	Classes []string // those of the model, in its order
	Class   []int    // of every row of the data, as an index into Classes
}

// mostClasses is how many classes are told apart: with more of them, one against one,
// there are thousands of machines.
const mostClasses = 100

// TargetOf chooses what spec asks of d. Between two classes, and where a positive one is
// named, there are two sides. Of more the classes are all told apart, as
// Spec.Multiclass says.
func TargetOf(d *dataset.Data, spec Spec) (Target, error) {
	if k := len(d.Classes); k > 2 && spec.Positive == "" {
		if k > mostClasses {
			return Target{}, param.Problems{{Field: "positive", Message: fmt.Sprintf("%d classes: up to %d are told apart; choose one of them as the positive class, or another column as the label", k, mostClasses)}}
		}
		way, err := lookupMulticlass(spec.Multiclass)
		if err != nil {
			return Target{}, param.Problems{{Field: "multiclass", Message: err.Error()}}
		}
		if learner, err := lookup(spec.Learner); way.joint != "" && err == nil && !learner.joint {
			return Target{}, param.Problems{{Field: "multiclass", Message: fmt.Sprintf("multiclass: %s is an SVM of its own; with the learner %s use ovo or ovr", way.Name, spec.Learner)}}
		}
		return Target{way.Rule, d.Classes, d.Y}, nil
	}
	y, positive, negative, err := d.Binary(spec.Positive)
	if err != nil {
		return Target{}, param.Problems{{Field: "positive", Message: err.Error()}}
	}
	t := Target{Sign, []string{negative, positive}, make([]int, len(y))}
	for i, v := range y {
		if v > 0 {
			t.Class[i] = 1
		}
	}
	return t, nil
}

// Positive is the class on the side f >= 0, empty where there are no two sides.
func (t Target) Positive() string {
	if t.Rule == Sign {
		return t.Classes[1]
	}
	return ""
}

// Strata are the classes as numbers, by which rows are dealt and held out.
func (t Target) Strata() []float64 {
	y := make([]float64, len(t.Class))
	for i, c := range t.Class {
		y[i] = float64(c)
	}
	return y
}

// right is the share of some rows whose class was predicted.
func (t Target) right(predicted, rows []int) float64 {
	n := 0
	for k, i := range rows {
		if predicted[k] == t.Class[i] {
			n++
		}
	}
	return float64(n) / float64(len(rows))
}
