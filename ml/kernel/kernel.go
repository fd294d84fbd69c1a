// Package kernel holds the kernel functions, their Gram matrices and their sums
// over a plane. One parameterisation throughout, LIBSVM's:
//
//	linear   x·z
//	poly     (gamma x·z + coef0)^degree
//	rbf      exp(-gamma |x-z|²)
//	sigmoid  tanh(gamma x·z + coef0)
package kernel

import (
	"fmt"
	"math"

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
	PSD     bool // every Gram matrix is positive semidefinite (poly: for coef0 >= 0)

	// apply turns inner products x·z into values of the kernel, in place. The
	// Gaussian kernel has loops of its own, see packed.go.
	apply    func(k Kernel, v []float64)
	gaussian bool
	// grid is a faster Sum.Grid; nil evaluates every point by itself.
	grid func(s *Sum, dst []float64, p Plane, ss, ts []float64)
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
		Help:  "A straight line between the classes.",
		apply: func(Kernel, []float64) {},
		grid:  (*Sum).gridPolynomial,
	},
	{
		Name: "poly", Label: "Polynomial", Formula: "k(x, z) = (γ x·z + r)^p", PSD: true,
		Help:   "Products of up to p features. Positive semidefinite for r ≥ 0.",
		Params: []param.Param{gamma, coef0, degree},
		apply: func(k Kernel, v []float64) {
			for i, s := range v {
				v[i] = powi(k.Gamma*s+k.Coef0, k.Degree)
			}
		},
		grid: (*Sum).gridPolynomial,
	},
	{
		Name: "rbf", Label: "RBF (Gaussian)", Formula: "k(x, z) = exp(−γ |x − z|²)", PSD: true,
		Help:     "Similarity that fades with distance; the width is s = 1/√(2γ).",
		Params:   []param.Param{gamma},
		gaussian: true,
		grid:     (*Sum).gridGaussian,
	},
	{
		Name: "sigmoid", Label: "Sigmoid", Formula: "k(x, z) = tanh(γ x·z + r)",
		Help:   "Borrowed from neural networks; not positive semidefinite in general.",
		Params: []param.Param{gamma, coef0},
		apply: func(k Kernel, v []float64) {
			for i, s := range v {
				v[i] = math.Tanh(k.Gamma*s + k.Coef0)
			}
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

// of returns the table row of k. A kernel that Table does not know is NaN
// everywhere: names are checked by Lookup, before there are numbers.
func of(k Kernel) Row {
	r, err := Lookup(k.Name)
	if err != nil {
		r.apply = func(_ Kernel, v []float64) {
			for i := range v {
				v[i] = math.NaN()
			}
		}
	}
	return r
}

// Eval returns k(x, z); x and z have the same length. It is NaN when Table does
// not hold the kernel's name.
func (k Kernel) Eval(x, z []float64) float64 {
	var v [1]float64
	p := packed{d: len(x), v: make([]float64, lanes*len(x))}
	p.set(0, x)
	of(k).values(k, v[:], p, z)
	return v[0]
}

// values writes k(x_j, z) for the first len(dst) points x_j of p.
func (r Row) values(k Kernel, dst []float64, p packed, z []float64) {
	if r.gaussian {
		gaussianRow(dst, p, z, k.Gamma)
		return
	}
	productRow(dst, p, z)
	r.apply(k, dst)
}
