package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// Weights is a sum f(x) = sum_j u_j k(z_j, x) over strings or graphs, expanded in the features
// that the kernel counts: f(x) = sum_a w_a phi_a(x), exactly.
type Weights struct {
	k    Kernel
	over expansion
}

// Feature is something a kernel counts in objects, with the weight of one occurrence in a sum. If
// the kernel is normalised, that is the weight in an object whose image has length 1.
type Feature struct {
	Name   string
	Weight float64
}

// expansion is a sum over objects, expanded in the features of a kernel without normalisation. It is
// safe for concurrent use.
type expansion interface {
	// weights returns the weights of all features, and name the name of the feature with an index.
	weights() []float64
	name(feature int) string
	// parts returns the contribution of each part of x_i, a symbol or node, to the sum at x_i. A
	// feature with several parts is divided equally between them.
	parts(ctx context.Context, x dataset.Objects) ([][]float64, error)
}

// errTooManyFeatures is the error for sums that CanWeigh rejects.
var errTooManyFeatures = errors.New("too many features to list")

// CanWeigh reports whether Weigh can expand sums over z, in little time and memory.
func CanWeigh(k Kernel, z dataset.Objects) bool {
	p, err := singlePart(k, z)
	return err == nil && p.row.weigh != nil && p.row.canWeigh(p.Values, z)
}

// singlePart returns k as a part. Sums and products of kernels, which have no listed features, are
// an error.
func singlePart(k Kernel, x dataset.Objects) (part, error) {
	e, err := expressionFor(k, x)
	switch {
	case err != nil:
		return part{}, err
	case e.root.kind != isPart:
		return part{}, fmt.Errorf("kernel %s: %w", k.Name, errTooManyFeatures)
	}
	return e.parts[0], nil
}

// Weigh expands the sum over z with coefficients u. Errors: a kernel or objects that CanWeigh
// rejects, ctx.Err().
func Weigh(ctx context.Context, k Kernel, z dataset.Objects, u []float64) (*Weights, error) {
	if !CanWeigh(k, z) {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, errTooManyFeatures)
	}
	p, err := singlePart(k, z)
	if err != nil {
		return nil, err
	}
	scale, err := featureScales(ctx, k, z)
	if err != nil {
		return nil, err
	}
	over, err := p.row.weigh(ctx, p.Values, z, floats.MulTo(make([]float64, len(u)), u, scale))
	if err != nil {
		return nil, err
	}
	return &Weights{k, over}, ctx.Err()
}

// featureScales returns the factor of the features of each object: 1 or, if k is normalised, one
// over the length of its image, or 0 for length 0.
func featureScales(ctx context.Context, k Kernel, x dataset.Objects) ([]float64, error) {
	scale := slices.Repeat([]float64{1}, x.Len())
	p, err := singlePart(k, x)
	if err != nil || !p.Values.Switch(normalize.Name) {
		return scale, err
	}
	self, err := p.row.self(ctx, p.Values, x)
	for i, v := range self {
		scale[i] = 0
		if v > 0 {
			scale[i] = 1 / math.Sqrt(v)
		}
	}
	return scale, err
}

// Heaviest lists the features with the largest weights in magnitude, at most n positive and n
// negative ones, in descending order of weight.
func (w *Weights) Heaviest(n int) []Feature {
	weights := w.over.weights()
	var above, below []int
	for a, v := range weights {
		switch {
		case v > 0:
			above = append(above, a)
		case v < 0:
			below = append(below, a)
		}
	}
	heavier := func(a, b int) int { return cmp.Or(cmp.Compare(math.Abs(weights[b]), math.Abs(weights[a])), a-b) }
	slices.SortFunc(above, heavier)
	slices.SortFunc(below, heavier)
	below = below[:min(n, len(below))]
	slices.Reverse(below)
	most := slices.Concat(above[:min(n, len(above))], below)
	return lists.Map(most, func(a int) Feature { return Feature{w.over.name(a), weights[a]} })
}

// Parts returns the contributions of the parts of each object, its symbols or nodes in order, to f;
// they sum to f. Errors: objects that the kernel does not take, ctx.Err().
func (w *Weights) Parts(ctx context.Context, x dataset.Objects) ([][]float64, error) {
	scale, err := featureScales(ctx, w.k, x)
	if err != nil {
		return nil, err
	}
	parts, err := w.over.parts(ctx, x)
	for i := range parts {
		floats.Scale(scale[i], parts[i])
	}
	return parts, err
}

// partsOf calls of for each object, on all processors.
func partsOf(ctx context.Context, x dataset.Objects, of func(i int) []float64) ([][]float64, error) {
	parts := make([][]float64, x.Len())
	return parts, eachRow(ctx, x.Len(), func(i int) { parts[i] = of(i) })
}
