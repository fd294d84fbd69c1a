package store

import "marginlab/ml"

// Kinds of evidence, the values of the field "evidence", best first.
const (
	FromNested   = "nested cross-validation"
	FromFolds    = "cross-validation"
	FromTestSet  = "test set"
	FromTraining = "training set"
)

var evidences = []string{FromNested, FromFolds, FromTestSet, FromTraining}

// EvidenceKind returns the source of a run's best evidence: cross-validation not used to select
// its settings, else its test set, else other cross-validation, else the training set. It is
// empty for an unfinished run without cross-validation.
func (r Run) EvidenceKind() string {
	tested := r.Report != nil && (r.Report.TestAccuracy != nil || r.Report.TestMSE != nil)
	switch {
	case len(r.Evidence) > 0 && (!r.Evidence[0].Optimistic || !tested):
		if r.Evidence[0].Scheme.Nested {
			return FromNested
		}
		return FromFolds
	case tested:
		return FromTestSet
	case r.Report != nil:
		return FromTraining
	}
	return ""
}

// estimate returns a run's accuracy on new points according to its best evidence, with its 95 %
// interval, nil if unknown. ok is false if there is only training accuracy, or for a regression.
func (r Run) estimate() (accuracy float64, in *ml.Interval, ok bool) {
	switch r.EvidenceKind() {
	case FromNested, FromFolds:
		if e := r.Evidence[0]; e.Score == "accuracy" {
			return e.Mean, &e.Interval, true
		}
	case FromTestSet:
		if v := r.Report.TestAccuracy; v != nil {
			return *v, r.Report.TestInterval, true
		}
	}
	return 0, nil, false
}
