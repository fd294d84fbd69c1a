package store

import "marginlab/ml"

// Kinds of evidence, as the field "evidence" has them, the best first.
const (
	FromNested   = "nested cross-validation"
	FromFolds    = "cross-validation"
	FromTestSet  = "test set"
	FromTraining = "training set"
)

var evidences = []string{FromNested, FromFolds, FromTestSet, FromTraining}

// EvidenceKind returns where the best evidence of a run comes from: cross-validation that had
// no share in the choice of its settings, else its test set, else other cross-validation, else
// the training set. It is empty for a run that is not done and was never cross-validated.
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

// Estimate returns the accuracy on unseen points by the best evidence of a run, and its
// interval at the level 0.95, nil where it is not known. ok is false where there is training
// accuracy alone, or no classes.
func (r Run) Estimate() (accuracy float64, in *ml.Interval, ok bool) {
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
