// Package conformal reshapes kernels: k~(x,z) = c(x) c(z) k0(x,z) with
// c(x) = alpha_0 + sum_j alpha_j exp(-gamma |x - a_j|²) over cores a_j.
package conformal

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Map is the conformal factor c(x) as data.
type Map struct {
	Gamma  float64     `json:"core_gamma"`
	Alpha0 float64     `json:"alpha0"`
	Alpha  []float64   `json:"alpha"` // one per core
	Cores  [][]float64 `json:"cores"` // in the space the kernel sees (scaled)
}

// Matrix is a symmetric M x M kernel matrix given row by row.
type Matrix interface {
	Len() int
	Diag(i int) float64
	Row(dst []float64, i int)
}

// Row is one method of the table.
type Row struct {
	Name, Label, Formula, Help string
	Params                     []param.Param // core_gamma, core_ridge, core_step as they apply
	fit                        func(ctx context.Context, p *problem) error
}

type problem struct{}

// Settings of Fit.
type Settings struct {
	Gamma float64 // width of the core kernel, > 0
	Ridge float64 // D >= 0; 0 means none; the default of the form is 1e-3
	Steps int     // gradient method: 0 means 200
	Rate  float64 // gradient method: eta0, 0 means a default that is documented there
}

// Stats of Fit.
type Stats struct {
	JBefore, JAfter float64 // Fisher scalar c'B0c / c'W0c for c = 1 and for the fitted c
	Eigenvalue      float64 // eigen: largest g of P alpha = g Q alpha
	Residual        float64 // eigen: |P alpha - g Q alpha| / |P alpha|
	BasisRank       int     // eigen: rank of range(K1)
	Steps           int     // gradient steps taken
	SignChange      bool    // c takes both signs on the training rows
}

// Fit finds the map of the named method ("eigen", "gradient", "amari") for the
// kernel matrix k of the rows of x, labels y (±1) and the given core rows.
func Fit(ctx context.Context, method string, k Matrix, x *mat.Dense, y []float64, cores []int, s Settings) (*Map, Stats, error) {
	panic("todo")
}

// At returns c(x).
func (m *Map) At(x []float64) float64 { panic("todo") }

// Factors returns c at every row of x.
func (m *Map) Factors(x *mat.Dense) []float64 { panic("todo") }
