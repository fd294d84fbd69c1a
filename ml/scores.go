package ml

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Scores besides the accuracy, which a rule that always tells the same class may have
// where that class is frequent.

// Judge puts into r what the scores of m at points held out come to, one at least, whose
// classes are right, as indices into those of m.
func (r *Report) Judge(m *Model, right []int, scores *mat.Dense) {
	predicted := m.predicted(scores)
	n := 0
	for k, p := range predicted {
		if p == right[k] {
			n++
		}
	}
	accuracy := float64(n) / float64(len(right))
	r.TestN, r.TestAccuracy, r.TestConfusion = len(right), &accuracy, Confusion(m.Classes, right, predicted)
	r.TestAUC = areaUnder(m.Rule, right, scores)
	if m.Platt != nil {
		positive := make([]bool, len(right))
		for k, c := range right {
			positive[k] = c == 1
		}
		logLoss, brier := m.Platt.losses(mat.Col(nil, 0, scores), positive)
		r.TestLogLoss, r.TestBrier = &logLoss, &brier
	}
	r.derive()
}

// areaUnder is the area under the ROC of f at points whose classes are right, nil where
// there are no two sides or points of one alone.
func areaUnder(rule Rule, right []int, scores *mat.Dense) *float64 {
	if rule != Sign {
		return nil
	}
	positive := make([]bool, len(right))
	for k, c := range right {
		positive[k] = c == 1
	}
	roc := ROCOf(mat.Col(nil, 0, scores), positive)
	if roc == nil {
		return nil
	}
	return &roc.Area
}

// derive fills in what follows from the other fields of r: a report that was stored
// before there were these fields has them when it is read.
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

// f1 is 2PR/(P+R) of the precision and the recall of a class.
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

// BalancedAccuracy is the mean of the recalls of the classes that occur, nil where none
// does. rows are the rows of a confusion matrix.
func BalancedAccuracy(rows []ClassReport) *float64 {
	return meanOf(rows, func(r ClassReport) *float64 { return r.Recall })
}

// MacroF1 is the mean of the F1 of the classes that occur or were told, nil where none is.
// rows are the rows of a confusion matrix.
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

// MCC is Matthews' correlation coefficient of a confusion matrix in the form for any number of classes:
// the correlation of the right class and the predicted one, each as a vector of a 1 and
// zeros. (Gorodkin: "Comparing two K-category assignments by a K-category correlation
// coefficient", Computational Biology and Chemistry 28, 2004.) It is 0 where every point
// is predicted as the same class, and nil where all are of one.
func MCC(rows []ClassReport) *float64 {
	var n, right, both, squares, tolds float64
	for c, r := range rows {
		var told float64
		for _, from := range rows {
			told += float64(from.Predicted[c])
		}
		n, right = n+float64(r.N), right+float64(r.Predicted[c])
		both, squares, tolds = both+told*float64(r.N), squares+float64(r.N)*float64(r.N), tolds+told*told
	}
	if n*n == squares {
		return nil
	}
	var mcc float64
	if n*n > tolds {
		mcc = (right*n - both) / math.Sqrt((n*n-squares)*(n*n-tolds))
	}
	return &mcc
}

// ROC holds the curve of two classes as the threshold of f, above which points are
// predicted positive, falls from above all of them to below: the receiver operating
// characteristic.
type ROC struct {
	// False and True are the shares of the negative and of the positive points that are predicted
	// to be positive, from 0 to 1. Equal values of f are passed together, as a slope.
	False, True []float64
	// Precision is the share of points predicted positive that are, for every place but
	// the first, where none is predicted so.
	Precision []float64
	// Area under True over False: the probability that f is larger at a positive point than
	// at a negative one, equal values counting half.
	Area float64
	// Average precision: the mean precision over the positive points as they are passed.
	Average float64
	// Here is the place where f >= 0 is predicted positive.
	Here int
}

// ROCOf is the ROC of f at points of which some are positive. It is nil where all points
// are of one class, or f is not a number anywhere. (Fawcett: "An introduction to ROC
// analysis", Pattern Recognition Letters 27, 2006.)
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
