package stepwise

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
	"marginlab/ml/trace"
)

// FisherAscent maximises the Fisher scalar of the kernel matrix k by the gradient method of
// package conformal and keeps every iterate: the coefficients alpha of the factor c(x), the
// constant first, then one per core, normalised to length one. The start is (1, 0, ..., 0), the
// original kernel. It takes s.Steps steps, at least 1, or fewer if it reaches a stationary point.
//
// k is M x M, x M x d, y ±1 with both present, cores have length d. It returns the errors of
// [conformal.FitAt].
func FisherAscent(ctx context.Context, k conformal.Matrix, x *mat.Dense, y []float64, cores [][]float64, s conformal.Settings) (*trace.Replay[[]float64], error) {
	if s.Steps < 1 {
		return nil, fmt.Errorf("stepwise: %d steps of the ascent; use at least 1", s.Steps)
	}
	var err error
	r := trace.Record(ctx, s.Steps, func(yield func([]float64) bool) trace.Status {
		s.Visit = func(alpha []float64) { yield(alpha) }
		var stats conformal.Stats
		if _, stats, err = conformal.FitAt(ctx, "gradient", k, x, y, cores, s); stats.Steps == s.Steps {
			return trace.IterationLimit
		}
		return trace.Converged
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}
