package ml

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

// Weights writes machine k, without b and the outer factor of a conformal map, out over the
// features that the kernel counts in objects that are no vectors. It returns the errors of
// kernel.Weigh, which kernel.CanWeigh foretells.
func (m *Model) Weights(ctx context.Context, k int) (*kernel.Weights, error) {
	machine := m.Machines[k]
	u := machine.Coef
	if machine.Map != nil {
		u = floats.MulTo(make([]float64, len(u)), u, machine.Factors)
	}
	return kernel.Weigh(ctx, m.Kernel, m.Supports.Objects, u)
}

// Parts tells of each x, which are no vectors, what each of its parts, its symbols or nodes in
// order, adds to f of machine k: together with b they are f. It returns the errors of Weights.
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
