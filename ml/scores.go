package ml

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Scores besides the accuracy, which can be high for a model that always predicts the most
// frequent class.

// Judge sets the test scores of r from the scores of m on at least one test point. right holds the
// true classes as indices into m.Classes.
func (r *Report) Judge(m *Model, right []int, scores *mat.Dense) {
	predicted := m.predicted(scores)
	accuracy := agreement(predicted, right)
	r.TestN, r.TestAccuracy, r.TestConfusion = len(right), &accuracy, Confusion(m.Classes, right, predicted)
	r.TestAUC = areaUnder(m.Rule, right, scores)
	if m.Platt != nil {
		logLoss, brier := m.Platt.losses(mat.Col(nil, 0, scores), positives(right))
		r.TestLogLoss, r.TestBrier = &logLoss, &brier
	}
	r.derive()
}

// areaUnder returns the area under the ROC curve, nil unless the rule is Sign and both classes
// occur.
func areaUnder(rule Rule, right []int, scores *mat.Dense) *float64 {
	if rule != Sign {
		return nil
	}
	roc := ROCOf(mat.Col(nil, 0, scores), positives(right))
	if roc == nil {
		return nil
	}
	return &roc.Area
}

// derive sets fields that follow from others and are missing in reports of earlier versions.
func (r *Report) derive() {
	for _, rows := range [][]ClassReport{r.Confusion, r.TestConfusion} {
		for c := range rows {
			rows[c].F1 = rows[c].f1()
		}
	}
	if r.TestAccuracy != nil && r.TestN > 0 {
		right := int(math.Round(*r.TestAccuracy * float64(r.TestN)))
		if in, err := Wilson(right, r.TestN, intervalLevel); err == nil {
			r.TestInterval = &in
		}
	}
	if k := len(r.TestConfusion); k > 0 && !slices.ContainsFunc(r.TestConfusion, func(row ClassReport) bool { return len(row.Predicted) != k }) {
		r.TestBalancedAccuracy, r.TestF1, r.TestMCC = BalancedAccuracy(r.TestConfusion), MacroF1(r.TestConfusion), MCC(r.TestConfusion)
	}
}

// intervalLevel is the confidence level of the intervals of a report.
const intervalLevel = 0.95

// f1 returns 2PR/(P+R) of the precision and recall of a class.
func (c ClassReport) f1() *float64 {
	if c.Precision == nil && c.Recall == nil {
		return nil
	}
	var f1 float64
	if c.Precision != nil && c.Recall != nil && *c.Precision+*c.Recall > 0 {
		f1 = 2 * *c.Precision * *c.Recall / (*c.Precision + *c.Recall)
	}
	return &f1
}

// BalancedAccuracy returns the mean recall of the classes that occur, nil if none does. rows is
// a confusion matrix.
func BalancedAccuracy(rows []ClassReport) *float64 {
	return meanOf(rows, func(r ClassReport) *float64 { return r.Recall })
}

// MacroF1 returns the mean F1 of the classes that occur or were predicted, nil if none. rows is
// a confusion matrix.
func MacroF1(rows []ClassReport) *float64 {
	return meanOf(rows, func(r ClassReport) *float64 { return r.F1 })
}

func meanOf(rows []ClassReport, value func(ClassReport) *float64) *float64 {
	var sum float64
	n := 0
	for _, r := range rows {
		if v := value(r); v != nil {
			sum += *v
			n++
		}
	}
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// MCC returns Matthews' correlation coefficient of a confusion matrix with any number of classes:
// the correlation of the right and the predicted class, both as one-hot vectors. It is 0 if all
// predictions are the same class, and nil if all points belong to one class. (Gorodkin: "Comparing
// two K-category assignments by a K-category correlation coefficient", Computational Biology and
// Chemistry 28, 2004.)
func MCC(rows []ClassReport) *float64 {
	var n, right, products, squares, predictedSquares float64
	for c, r := range rows {
		var predictions float64
		for _, from := range rows {
			predictions += float64(from.Predicted[c])
		}
		n, right = n+float64(r.N), right+float64(r.Predicted[c])
		products, squares, predictedSquares = products+predictions*float64(r.N), squares+float64(r.N)*float64(r.N), predictedSquares+predictions*predictions
	}
	if n*n == squares {
		return nil
	}
	var mcc float64
	if n*n > predictedSquares {
		mcc = (right*n - products) / math.Sqrt((n*n-squares)*(n*n-predictedSquares))
	}
	return &mcc
}

// ROC is the receiver operating characteristic of two classes: points with f at or above a threshold
// are predicted positive, and the threshold falls from above all points to below.
type ROC struct {
	// False and True are the false and true positive rates, from 0 to 1. Points with equal f
	// form one sloping segment.
	False, True []float64
	// Precision holds the precision at every threshold; the first, where no point is predicted
	// positive, is NaN.
	Precision []float64
	// Area is the area under the curve: the probability that f is larger at a positive point than
	// at a negative one, counting ties as half.
	Area float64
	// Average is the average precision: the mean precision over the positive points.
	Average float64
	// Here is the index of the threshold 0.
	Here int
}

// ROCOf returns the ROC of f at labelled points, nil if all belong to one class or some f is NaN.
// (Fawcett: "An introduction to ROC analysis", Pattern Recognition Letters 27, 2006.)
func ROCOf(f []float64, positive []bool) *ROC {
	order := make([]int, len(f))
	var positives float64
	for k := range order {
		order[k] = k
		if math.IsNaN(f[k]) {
			return nil
		}
		if positive[k] {
			positives++
		}
	}
	negatives := float64(len(f)) - positives
	if positives == 0 || negatives == 0 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f[b], f[a]) })
	r := &ROC{False: []float64{0}, True: []float64{0}, Precision: []float64{math.NaN()}}
	var tp, fp float64
	for k, i := range order {
		if positive[i] {
			tp++
		} else {
			fp++
		}
		if k+1 < len(order) && f[order[k+1]] == f[i] {
			continue
		}
		x, y := r.False[len(r.False)-1], r.True[len(r.True)-1]
		r.False, r.True, r.Precision = append(r.False, fp/negatives), append(r.True, tp/positives), append(r.Precision, tp/(tp+fp))
		r.Area += (fp/negatives - x) * (tp/positives + y) / 2
		r.Average += (tp/positives - y) * tp / (tp + fp)
		if f[i] >= 0 {
			r.Here = len(r.False) - 1
		}
	}
	return r
}
