package stepwise

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mixture"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// EM maximises the likelihood of a mixture of Gaussians on the rows of x (M x d) from the mixture
// begin, as package mixture does, and keeps every iteration including the start. It uses the fields
// MaxIter, at least 1, Floor, which must be positive, and Tol of s. It returns an error for an
// invalid mixture, a likelihood that is not finite, or a context that has ended before the start.
func EM(ctx context.Context, x *mat.Dense, begin mixture.Mixture, s mixture.Settings) (*trace.Replay[mixture.State], error) {
	_, d := x.Dims()
	if err := begin.Check(d); err != nil {
		return nil, err
	}
	if s.MaxIter < 1 || !(s.Floor > 0) {
		return nil, fmt.Errorf("stepwise: %d steps of EM with the lowest variance %g; use at least 1 step and a variance above 0", s.MaxIter, s.Floor)
	}
	r := trace.Record(ctx, s.MaxIter, func(yield func(mixture.State) bool) trace.Status {
		return mixture.Climb(ctx, x, begin, s, yield)
	})
	switch {
	case r.Len() > 0:
		return r, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, param.Refuse("scale the points", "the likelihood of the initial mixture is not finite")
}
