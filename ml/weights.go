package ml

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

// Weights expands machine k, without b and the outer factor of a conformal map, in the features that
// the kernel counts in objects other than vectors. It returns the errors of kernel.Weigh; see
// kernel.CanWeigh.
func (m *Model) Weights(ctx context.Context, k int) (*kernel.Weights, error) {
	return kernel.Weigh(ctx, m.Kernel, m.Supports.Objects, m.Machines[k].mapped())
}

// Parts returns the contributions of the parts of each object in x, its symbols or nodes in order,
// to f of machine k. With b they sum to f. It returns the errors of Weights.
func (m *Model) Parts(ctx context.Context, k int, x dataset.Objects) ([][]float64, error) {
	w, err := m.Weights(ctx, k)
	if err != nil {
		return nil, err
	}
	parts, err := w.Parts(ctx, x)
	machine := m.Machines[k]
	if err != nil || machine.Map == nil {
		return parts, err
	}
	c, err := factorsOf(ctx, m.Kernel, machine.Map, x, machine.Cores)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		floats.Scale(c[i], parts[i])
	}
	return parts, nil
}
