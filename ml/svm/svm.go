// Package svm trains support vector machines.
package svm

import (
	"context"

	"marginlab/ml/trace"
)

// Matrix is a symmetric M x M kernel matrix given row by row.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// Settings of Train.
type Settings struct {
	C          float64      // upper bound of alpha, > 0; +Inf is the hard margin
	Tol        float64      // stop when the maximal KKT violation m(a)-M(a) <= Tol; 0 means 1e-3
	MaxIter    int          // 0 means max(10 000 000, 100 M)
	CacheBytes int64        // memory of the row cache; 0 means 400 MB
	Report     trace.Report // progress, may be nil
}

// Result of Train.
type Result struct {
	Alpha  []float64    // dual variables, 0 <= alpha_i <= C, length M
	B      float64      // bias
	Status trace.Status // converged, iteration-limit, cancelled
	F      []float64    // f(x_i) on the training points, length M

	Dual, Primal float64 // objectives; Primal - Dual is the duality gap
	Gap          float64 // (Primal-Dual) / max(1, |Primal|)
	KKTViolation float64 // m(a)-M(a) at the end
	SlackSum     float64 // sum of max(0, 1 - y_i f(x_i))
	WNorm        float64 // |w| = sqrt(u'Ku)
	Margin       float64 // 1/|w|
	Iterations   int
	// Support vectors: all, and the three kinds. Free: 0 < alpha < C. Bounded at
	// C: inside the margin (slack <= 1) or misclassified (slack > 1).
	SupportVectors, Free, BoundedInside, BoundedMisclassified int
}

// Train is documented in smo.go.
func Train(ctx context.Context, k Matrix, y []float64, s Settings) (*Result, error) { panic("todo") }
