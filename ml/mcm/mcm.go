// Package mcm trains Minimal Complexity Machines.
package mcm

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
	C       float64      // weight of the slacks, > 0; +Inf is the hard margin
	Rho     float64      // weight of sum |lambda|, >= 0
	RankTol float64      // rank cut of the pivoted Cholesky factor relative to the largest diagonal; 0 means 1e-3; unused when Rho > 0
	MaxIter int          // simplex iterations; 0 means 50 000 + 200 M
	Report  trace.Report // progress, may be nil
}

// Result of Train.
type Result struct {
	Lambda []float64    // coefficients, length M: f(x) = sum lambda_j k(x_j, x) + B
	B      float64      // bias
	Status trace.Status // converged, iteration-limit, cancelled, numerical
	F      []float64    // f(x_i) on the training points, length M

	H              float64 // largest functional margin, at least 1
	SlackSum       float64 // sum q_i
	Objective      float64 // H + C sum q_i + Rho sum |lambda_j|
	DualObjective  float64 // certificate
	Gap            float64 // (Objective - DualObjective) / max(1, |Objective|)
	L1             float64 // sum |lambda_j|
	Rank           int     // columns of the factor (Rho = 0), otherwise columns generated
	Iterations     int     // simplex iterations
	SupportVectors int     // |lambda_j| > 1e-6 max |lambda|
}

// Train is documented in simplex.go.
func Train(ctx context.Context, k Matrix, y []float64, s Settings) (*Result, error) { panic("todo") }
