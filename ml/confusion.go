package ml

import "marginlab/ml/lists"

// ClassReport is a row of a confusion matrix: how the points of one class were predicted.
type ClassReport struct {
	Class     string `json:"class"`
	N         int    `json:"n"`         // points of the class
	Predicted []int  `json:"predicted"` // predictions by class, in the order of the rows
	// Precision is the fraction of points predicted as the class that belong to it, nil if
	// none was. Recall is the fraction of the class's points predicted as it, nil if there
	// are none.
	Precision *float64 `json:"precision,omitempty"`
	Recall    *float64 `json:"recall,omitempty"`
	// F1 is the harmonic mean of the two, 0 if no point is predicted correctly, nil if no point
	// belongs to the class or is predicted as it.
	F1 *float64 `json:"f1,omitempty"`
	// SupportVectors counts the points of the class that are support vectors of any machine;
	// nil unless the points are the training set.
	SupportVectors *int `json:"support_vectors,omitempty"`
}

// Confusion returns the confusion matrix of the right and predicted classes, both indices into
// classes. Points whose right class is unknown, below 0, only count in the precision of the
// predicted class.
func Confusion(classes []string, right, predicted []int) []ClassReport {
	counts, predictions := make([][]int, len(classes)), make([]int, len(classes))
	for c := range counts {
		counts[c] = make([]int, len(classes))
	}
	for k, p := range predicted {
		predictions[p]++
		if c := right[k]; c >= 0 {
			counts[c][p]++
		}
	}
	return reports(classes, counts, predictions)
}

// ConfusionOf is Confusion for counts, with a row for each right class and a column for each
// predicted class. classes may be nil. It returns nil if counts is not square.
func ConfusionOf(classes []string, counts [][]int) []ClassReport {
	predictions := make([]int, len(counts))
	for _, row := range counts {
		if len(row) != len(predictions) {
			return nil
		}
		for p, n := range row {
			predictions[p] += n
		}
	}
	if classes == nil {
		classes = make([]string, len(counts))
	}
	return reports(classes, counts, predictions)
}

// reports returns the rows of a confusion matrix. predictions counts the predictions of each class.
func reports(classes []string, counts [][]int, predictions []int) []ClassReport {
	share := func(n, of int) *float64 {
		if of == 0 {
			return nil
		}
		v := float64(n) / float64(of)
		return &v
	}
	rows := make([]ClassReport, len(classes))
	for c := range rows {
		r := &rows[c]
		r.Class, r.Predicted = classes[c], counts[c]
		for _, n := range r.Predicted {
			r.N += n
		}
		r.Precision, r.Recall = share(r.Predicted[c], predictions[c]), share(r.Predicted[c], r.N)
		r.F1 = r.f1()
	}
	return rows
}

// countSupportVectors sets SupportVectors; vectors holds the support vectors as rows of the data.
func (t Target) countSupportVectors(rows []ClassReport, vectors []int) {
	n := make([]int, len(rows))
	for _, i := range vectors {
		n[t.Class[i]]++
	}
	for c := range rows {
		rows[c].SupportVectors = &n[c]
	}
}

// confusion returns the confusion matrix of the given rows.
func (t Target) confusion(predicted, rows []int) []ClassReport {
	return Confusion(t.Classes, lists.At(t.Class, rows), predicted)
}

// counts returns the counts of the confusion matrix of the given rows.
func (t Target) counts(predicted, rows []int) [][]int {
	return lists.Map(t.confusion(predicted, rows), func(row ClassReport) []int { return row.Predicted })
}
