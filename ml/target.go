package ml

import (
	"fmt"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Target holds what is to be predicted: the classes, and the class or value of every row.
type Target struct {
	Rule    Rule
	Classes []string  // in the model's order; none under Value
	Class   []int     // of every row, as an index into Classes; nil under Value
	Values  []float64 // of every row; only under Value
}

// TargetOf returns the target of spec on d. With two classes, or if spec has a positive class, the
// rule is Sign. Otherwise Spec.Multiclass names the rule. For a regression, Values are the
// labels. Errors are param.Problems.
func TargetOf(d *dataset.Data, spec Spec) (Target, error) {
	if spec.Regression() {
		return valuesOf(d, spec)
	}
	if k := len(d.Classes); k > 2 && spec.Positive == "" {
		if d.Scattered() {
			remedy := "choose one of them as the positive class, or another label column"
			if _, err := d.Values(); err == nil {
				remedy = "the labels look like measurements: use the target value with the learner " + regressors() + ", or another label column"
			}
			return Target{}, param.Problems{{Field: "target", Message: fmt.Sprintf("%d distinct labels in %d rows are too many classes; %s", k, d.Len(), remedy)}}
		}
		way, err := lookupMulticlass(spec.Multiclass)
		if err != nil {
			return Target{}, param.Problems{{Field: "multiclass", Message: err.Error()}}
		}
		if learner, err := lookup(spec.Learner); way.joint != "" && err == nil && !learner.joint {
			return Target{}, param.Problems{{Field: "multiclass", Message: fmt.Sprintf("multiclass: %s is an SVM; with the learner %s use ovo or ovr", way.Name, spec.Learner)}}
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

// valuesOf returns the labels of d as the target of a regression.
func valuesOf(d *dataset.Data, spec Spec) (Target, error) {
	values, err := d.Values()
	if err != nil {
		return Target{}, param.Problems{{Field: "target", Message: fmt.Sprintf("target: %v; use the target class, or a numeric label column", err)}}
	}
	if learner, err := lookup(spec.Learner); err == nil && !learner.Targets {
		return Target{}, param.Problems{{Field: "learner", Message: fmt.Sprintf("learner: %s is a classifier; use %s for the target value", spec.Learner, regressors())}}
	}
	if spec.Conformal != "none" {
		return Target{}, param.Problems{{Field: "conformal", Message: "conformal: a conformal map separates classes; use none for the target value"}}
	}
	return Target{Rule: Value, Values: values}, nil
}

// regressors returns the names of the learners for regression.
func regressors() string {
	var names []string
	for _, l := range Learners {
		if l.Targets {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Positive returns the class of f >= 0, empty unless the rule is Sign.
func (t Target) Positive() string {
	if t.Rule == Sign {
		return t.Classes[1]
	}
	return ""
}

// Strata returns the classes as numbers, for stratified splits. For a regression all rows are in one
// stratum.
func (t Target) Strata() []float64 {
	if t.Rule == Value {
		return make([]float64, len(t.Values))
	}
	return lists.Map(t.Class, func(c int) float64 { return float64(c) })
}

// right returns the accuracy on the given rows.
func (t Target) right(predicted, rows []int) float64 {
	return agreement(predicted, lists.At(t.Class, rows))
}

// agreement returns the fraction of equal elements of two lists of classes.
func agreement(a, b []int) float64 {
	equal := lists.Where(len(a), func(i int) bool { return a[i] == b[i] })
	return float64(len(equal)) / float64(len(a))
}

// positives reports for each class whether it is the positive one, under Sign.
func positives(classes []int) []bool {
	return lists.Map(classes, func(c int) bool { return c == 1 })
}
