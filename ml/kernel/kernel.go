// Package kernel holds the kernel functions, their Gram matrices and their sums
// over a plane. One parameterisation throughout, LIBSVM's (MATH: conventions):
//
//	linear   x·z
//	poly     (gamma x·z + coef0)^degree
//	rbf      exp(-gamma |x-z|²)
//	sigmoid  tanh(gamma x·z + coef0)
package kernel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Kernel is a kernel function as data. Only the parameters its row of Table
// names have a meaning; the others are zero.
type Kernel struct {
	Name   string  `json:"name"`
	Gamma  float64 `json:"gamma,omitempty"`
	Coef0  float64 `json:"coef0,omitempty"`
	Degree int     `json:"degree,omitempty"`
}

// Row is one kernel of the table.
type Row struct {
	Name    string
	Label   string
	Formula string // plain text with Unicode, as shown beside the controls
	Help    string
	Params  []param.Param
	PSD     bool // every Gram matrix is positive semidefinite

	// ofProduct is the kernel as a function of s = x·z, or nil for kernels of
	// the squared distance.
	ofProduct func(k Kernel, s float64) float64
	// ofDistance is the kernel as a function of |x-z|².
	ofDistance func(k Kernel, d2 float64) float64
}

var (
	gamma = param.Param{
		Name: "gamma", Label: "gamma", Symbol: "γ", Kind: param.Number, Default: "auto", Words: []string{"auto", "scale"},
		Min: 0, OpenMin: true, Max: 1e9, Low: 1e-3, High: 1e3, Log: true,
		Help: "Scale of the kernel. Large: each point is felt only nearby. auto is 1/d, scale is 1/(d·variance).",
	}
	coef0 = param.Param{
		Name: "coef0", Label: "coef0", Symbol: "r", Kind: param.Number, Default: "0",
		Min: -1e6, Max: 1e6, Low: -5, High: 5, Help: "Constant added to the scaled inner product.",
	}
	degree = param.Param{
		Name: "degree", Label: "degree", Symbol: "p", Kind: param.Integer, Default: "3",
		Min: 1, Max: 20, Low: 1, High: 8, Help: "Degree of the polynomial.",
	}
)

// Table lists the kernels in the order pages show them.
var Table = []Row{
	{
		Name: "linear", Label: "Linear", Formula: "k(x, z) = x·z", PSD: true,
		Help:      "A straight line between the classes.",
		ofProduct: func(_ Kernel, s float64) float64 { return s },
	},
	{
		Name: "poly", Label: "Polynomial", Formula: "k(x, z) = (γ x·z + r)^p", PSD: true,
		Help:   "Products of up to p features. Positive semidefinite for r ≥ 0.",
		Params: []param.Param{gamma, coef0, degree},
		ofProduct: func(k Kernel, s float64) float64 {
			return powi(k.Gamma*s+k.Coef0, k.Degree)
		},
	},
	{
		Name: "rbf", Label: "RBF (Gaussian)", Formula: "k(x, z) = exp(−γ |x − z|²)", PSD: true,
		Help:       "Similarity that fades with distance; the width is s = 1/√(2γ).",
		Params:     []param.Param{gamma},
		ofDistance: func(k Kernel, d2 float64) float64 { return math.Exp(-k.Gamma * d2) },
	},
	{
		Name: "sigmoid", Label: "Sigmoid", Formula: "k(x, z) = tanh(γ x·z + r)",
		Help:   "Borrowed from neural networks; not positive semidefinite in general.",
		Params: []param.Param{gamma, coef0},
		ofProduct: func(k Kernel, s float64) float64 {
			return math.Tanh(k.Gamma*s + k.Coef0)
		},
	},
}

// Lookup returns the table row of a kernel.
func Lookup(name string) (Row, error) {
	for _, r := range Table {
		if r.Name == name {
			return r, nil
		}
	}
	return Row{}, fmt.Errorf("kernel %q is not known; use linear, poly, rbf or sigmoid", name)
}

// powi is x^n for n >= 0 by repeated squaring; exact signs, no math.Pow.
func powi(x float64, n int) float64 {
	r := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= x
		}
		x *= x
	}
	return r
}

// Eval returns k(x, z); x and z have the same length.
func (k Kernel) Eval(x, z []float64) float64 {
	panic("todo")
}

// Gram is the M x M kernel matrix of the M rows of X, optionally scaled on both
// sides by a conformal factor: K_ij = c_i c_j k(x_i, x_j). Rows are computed on
// demand, so that nothing of size M x M is held.
type Gram struct {
	k Kernel
	x *mat.Dense
	c []float64 // nil: all ones
}

// NewGram returns the kernel matrix of the rows of x (M x d). x is kept, not copied.
func NewGram(k Kernel, x *mat.Dense) *Gram { return &Gram{k: k, x: x} }

// Scaled returns the Gram matrix with entries c_i c_j K_ij. c (length M) is kept.
func (g *Gram) Scaled(c []float64) *Gram { panic("todo") }

// Len is M.
func (g *Gram) Len() int { panic("todo") }

// Diag returns K_ii.
func (g *Gram) Diag(i int) float64 { panic("todo") }

// Row writes row i into dst, which has length M.
func (g *Gram) Row(dst []float64, i int) { panic("todo") }

// Sum is the function x -> sum_j w_j k(z_j, x), ready to be evaluated often.
type Sum struct {
	k Kernel
	z *mat.Dense
	w []float64
}

// NewSum returns the function sum_j w_j k(z_j, ·) over the rows z_j of z (n x d,
// n may be 0: the zero function).
func NewSum(k Kernel, z *mat.Dense, w []float64) *Sum { return &Sum{k, z, w} }

// At returns the sum at x (length d).
func (s *Sum) At(x []float64) float64 { panic("todo") }

// Plane is the affine map (s, t) -> Origin + s U + t V into R^d.
type Plane struct{ Origin, U, V []float64 }

// Grid writes the sum at every point (s_i, t_j) of the plane into dst, row-major
// with t as the row: dst[j*len(ss)+i]. The RBF kernel is evaluated by two tables
// and a matrix product, the others by products only.
func (s *Sum) Grid(dst []float64, p Plane, ss, ts []float64) { panic("todo") }
