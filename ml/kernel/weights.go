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

// Weights are a sum f(x) = sum_j u_j k(z_j, x) over objects that are no vectors, written out
// over the features that the kernel counts in them: f(x) = sum_a w_a phi_a(x). They are
// exact.
type Weights struct {
	k    Kernel
	over weighed
}

// Feature is something a kernel counts in objects, with its weight in a sum: the weight of one
// occurrence in an object whose image has length one, where the kernel is normalised.
type Feature struct {
	Name   string
	Weight float64
}

// weighed is a sum over objects as an entry of the table writes it out; nothing in it is
// normalised. Its methods may be called from several goroutines at once.
type weighed interface {
	// weights are those of all features, in an order of their own, and name tells what the
	// feature of a number in it is.
	weights() []float64
	name(feature int) string
	// parts returns for each x_i what each of its parts, symbols or nodes, adds to the sum at x_i:
	// a feature that has several parts belongs to each of them alike.
	parts(ctx context.Context, x dataset.Objects) ([][]float64, error)
}

// errHeavy is returned for sums whose features are too many to be listed.
var errHeavy = errors.New("too many features to list")

// CanWeigh reports whether Weigh can write sums over the objects z out, in little time and
// memory.
func CanWeigh(k Kernel, z dataset.Objects) bool {
	p, err := alone(k, z)
	return err == nil && p.row.weigh != nil && p.row.canWeigh(p.Values, z)
}

// alone is k where it is no sum or product of others, whose features nobody counts.
func alone(k Kernel, x dataset.Objects) (part, error) {
	e, err := takes(k, x)
	switch {
	case err != nil:
		return part{}, err
	case e.root.kind != isPart:
		return part{}, fmt.Errorf("kernel %s: %w", k.Name, errHeavy)
	}
	return e.parts[0], nil
}

// Weigh writes the sum over z with coefficients u out. Errors: a kernel or objects that
// CanWeigh does not allow, the end of ctx.
func Weigh(ctx context.Context, k Kernel, z dataset.Objects, u []float64) (*Weights, error) {
	if !CanWeigh(k, z) {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, errHeavy)
	}
	p, err := alone(k, z)
	if err != nil {
		return nil, err
	}
	scale, err := lengths(ctx, k, z)
	if err != nil {
		return nil, err
	}
	over, err := p.row.weigh(ctx, p.Values, z, floats.MulTo(make([]float64, len(u)), u, scale))
	if err != nil {
		return nil, err
	}
	return &Weights{k, over}, ctx.Err()
}

// lengths returns the factors of the features of each object: 1, or if k is
// normalised, one over the length of its image, 0 where that has none.
func lengths(ctx context.Context, k Kernel, x dataset.Objects) ([]float64, error) {
	scale := slices.Repeat([]float64{1}, x.Len())
	p, err := alone(k, x)
	if err != nil || !p.Values.Switch(normalizes.Name) {
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

// Heaviest lists the features of the largest weights, at most n above 0 and n below, the
// largest first and the lowest last.
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

// Parts returns for every object of x what each of its parts, its symbols or nodes in order,
// adds to f there; together they are f. It returns the errors of Sum and of ctx.
func (w *Weights) Parts(ctx context.Context, x dataset.Objects) ([][]float64, error) {
	scale, err := lengths(ctx, w.k, x)
	if err != nil {
		return nil, err
	}
	parts, err := w.over.parts(ctx, x)
	for i := range parts {
		floats.Scale(scale[i], parts[i])
	}
	return parts, err
}

// partsOf does the work of parts object by object on all processors.
func partsOf(ctx context.Context, x dataset.Objects, of func(i int) []float64) ([][]float64, error) {
	parts := make([][]float64, x.Len())
	return parts, eachRow(ctx, x.Len(), func(i int) { parts[i] = of(i) })
}
