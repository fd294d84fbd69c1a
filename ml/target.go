package ml

import (
	"fmt"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Target holds the answers that a training is to learn: those that there are, and
// the right one.
type Target struct {
	Rule    Rule
	Classes []string  // those of the model, in its order; none under Value
	Class   []int     // of every row of the data, as an index into Classes; nil under Value
	Values  []float64 // of every row of the data, under Value alone
}

// TargetOf chooses what spec asks of d. Between two classes, and where a positive one is
// named, there are two sides. More classes are all separated, as
// Spec.Multiclass says. Values are the labels themselves.
func TargetOf(d *dataset.Data, spec Spec) (Target, error) {
	if spec.Regression() {
		return valuesOf(d, spec)
	}
	if k := len(d.Classes); k > 2 && spec.Positive == "" {
		if d.Scattered() {
			remedy := "choose one of them as the positive class, or another label column"
			if _, err := d.Values(); err == nil {
				remedy = "this looks like a measurement: take the target value with the learner " + regressors() + ", or another label column"
			}
			return Target{}, param.Problems{{Field: "target", Message: fmt.Sprintf("%d distinct labels in %d rows are too many for classes; %s", k, d.Len(), remedy)}}
		}
		way, err := lookupMulticlass(spec.Multiclass)
		if err != nil {
			return Target{}, param.Problems{{Field: "multiclass", Message: err.Error()}}
		}
		if learner, err := lookup(spec.Learner); way.joint != "" && err == nil && !learner.joint {
			return Target{}, param.Problems{{Field: "multiclass", Message: fmt.Sprintf("multiclass: %s is an SVM of its own; with the learner %s use ovo or ovr", way.Name, spec.Learner)}}
		}
		return Target{Rule: way.Rule, Classes: d.Classes, Class: d.Y}, nil
	}
	y, positive, negative, err := d.Binary(spec.Positive)
	if err != nil {
		return Target{}, param.Problems{{Field: "positive", Message: err.Error()}}
	}
	t := Target{Rule: Sign, Classes: []string{negative, positive}, Class: make([]int, len(y))}
	for i, v := range y {
		if v > 0 {
			t.Class[i] = 1
		}
	}
	return t, nil
}

// valuesOf are the labels of d as what a regression fits.
func valuesOf(d *dataset.Data, spec Spec) (Target, error) {
	values, err := d.Values()
	if err != nil {
		return Target{}, param.Problems{{Field: "target", Message: fmt.Sprintf("target: %v, as every value must be; take the target class", err)}}
	}
	if learner, err := lookup(spec.Learner); err == nil && !learner.Targets {
		return Target{}, param.Problems{{Field: "learner", Message: fmt.Sprintf("learner: %s tells classes apart; with the target value use %s", spec.Learner, regressors())}}
	}
	if spec.Conformal != "none" {
		return Target{}, param.Problems{{Field: "conformal", Message: "conformal: a map pulls classes apart; with the target value use none"}}
	}
	return Target{Rule: Value, Values: values}, nil
}

// regressors names the learners that fit values.
func regressors() string {
	var names []string
	for _, l := range Learners {
		if l.Targets {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Positive is the class on the side f >= 0, empty where there are no two sides.
func (t Target) Positive() string {
	if t.Rule == Sign {
		return t.Classes[1]
	}
	return ""
}

// Strata are the classes as numbers, by which rows are dealt and held out; rows with values
// are all of one stratum.
func (t Target) Strata() []float64 {
	if t.Rule == Value {
		return make([]float64, len(t.Values))
	}
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
