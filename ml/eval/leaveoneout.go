package eval

import (
	"context"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// LeaveOneOut returns, for every point of d, whether the machine trained on all other points
// misclassifies it (Lachenbruch 1967). It takes one training per point and ignores TestFraction of
// spec. It returns the errors of ml.Train (for example for a class of one point), an error for a
// regression, and ctx.Err().
func LeaveOneOut(ctx context.Context, d *dataset.Data, spec ml.Spec) (wrong []bool, err error) {
	if spec.Regression() {
		return nil, param.Problems{{Field: "target", Message: "target: leave-one-out accuracy needs classes, not values; the report of kernel ridge has the leave-one-out error"}}
	}
	t, err := ml.NewTrainer(d, spec)
	if err != nil {
		return nil, err
	}
	all := dataset.Indices(len(d.Y))
	for i := range all {
		judged, err := t.Judge(ctx, slices.Delete(slices.Clone(all), i, i+1), []int{i}, []float64{spec.Value("C").Number()})
		if err != nil {
			return nil, err
		}
		if judged[0].Fault != nil {
			return nil, judged[0].Fault
		}
		wrong = append(wrong, judged[0].Accuracy == 0)
	}
	return wrong, nil
}
