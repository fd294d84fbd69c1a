package ml

import (
	"context"
	"fmt"

	"marginlab/ml/dataset"
	"marginlab/ml/ridge"
)

// HasPath reports whether Path supports a spec with n training rows: a learner with lambda, at most
// ridge.MaxPath rows, and no conformal map.
func HasPath(spec Spec, n int) bool {
	learner, err := lookup(spec.Learner)
	return err == nil && learner.path != nil && spec.Conformal == "none" && n <= ridge.MaxPath
}

// Path computes training and leave-one-out errors of spec on d for any lambda, with everything else
// as in Train. It returns the errors of Train, and an error for a spec without a path or with several
// machines.
func Path(ctx context.Context, d *dataset.Data, spec Spec) (*ridge.Path, error) {
	learner, err := lookup(spec.Learner)
	if err != nil {
		return nil, err
	}
	if learner.path == nil || spec.Conformal != "none" {
		return nil, fmt.Errorf("%s has no path over lambda", spec.Name(nil))
	}
	p, err := prepare(d, spec)
	if err != nil {
		return nil, err
	}
	k, err := p.trainingGram(ctx, nil)
	if err != nil {
		return nil, err
	}
	parts := p.parts()
	if len(parts) != 1 {
		return nil, fmt.Errorf("the path over lambda needs one machine, not the %d of %s", len(parts), spec.Name(nil))
	}
	return learner.path(ctx, parts[0].of(k), parts[0].y)
}
