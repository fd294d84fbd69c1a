package kernel

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

var poly = Entry{
	Name: "poly", Label: "Polynomial", Formula: "k(x, z) = (γ x·z + r)ᵖ", Takes: dataset.KindVectors, PSD: true,
	Help: "Products of up to p features. Positive semidefinite for r ≥ 0.",
	Params: []param.Param{gamma, coef0, {
		Name: "degree", Label: "degree", Symbol: "p", Kind: param.Integer, Default: "3",
		Min: 1, Max: 20, Low: 1, High: 8, Telling: true, Help: "Degree of the polynomial.",
	}},
	bind: func(k Kernel) function {
		return powers{k.Values.Number("gamma"), k.Values.Number("coef0"), k.Values.Int("degree")}
	},
}

// Polynomial returns the kernel (gamma x·z + coef0)^degree.
func Polynomial(gamma, coef0 float64, degree int) Kernel {
	return Kernel{Name: poly.Name, Values: param.Values{"gamma": param.Of(gamma), "coef0": param.Of(coef0), "degree": param.Of(degree)}}
}

type powers struct {
	gamma, coef0 float64
	degree       int
}

func (powers) width() float64 { return 0 }

func (k powers) row(dst []float64, x packed, z []float64) { k.rows(dst, x, x.list(z), 1) }

func (k powers) rows(dst []float64, x packed, z listed, m int) {
	productRows(dst, x, z, m)
	for i, s := range dst {
		dst[i] = powi(k.gamma*s+k.coef0, k.degree)
	}
}

// powi returns x^n for n >= 0 by repeated squaring.
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

func (k powers) grid(ctx context.Context, s *Sum, dst []float64, p Plane, ss, ts []float64) bool {
	return s.gridPolynomial(ctx, dst, p, ss, ts, k.gamma, k.coef0, k.degree)
}

// gridPolynomial uses that (gamma z·x + coef0)^p is a polynomial in s on each line t = const. With
// q = base + h·slope and h = s - mid, measured from the middle of the range of s, the magnitudes of
// the binomial terms sum to at most the largest |q|^p on the line, so the expansion loses no digits.
func (s *Sum) gridPolynomial(ctx context.Context, dst []float64, p Plane, ss, ts []float64, gamma, coef0 float64, degree int) bool {
	n := len(s.w)
	base, slope, rise := make([]float64, n), make([]float64, n), make([]float64, n)
	productRow(slope, s.p, p.U)
	productRow(rise, s.p, p.V)
	middle := make([]float64, len(p.Origin))
	mid := (floats.Min(ss) + floats.Max(ss)) / 2
	p.point(middle, mid, 0)
	productRow(base, s.p, middle)
	for j := range base {
		base[j] = gamma*base[j] + coef0
		slope[j] *= gamma
		rise[j] *= gamma
	}
	binomial := make([]float64, degree+1)
	binomial[0] = 1
	for m := 1; m <= degree; m++ {
		binomial[m] = binomial[m-1] * float64(degree-m+1) / float64(m)
	}
	coef, power := make([]float64, degree+1), make([]float64, degree+1)
	for j, t := range ts {
		if checkpoint(ctx, j, len(ts)) != nil {
			break
		}
		clear(coef)
		for i, w := range s.w {
			q, b := base[i]+t*rise[i], slope[i]
			power[degree] = w
			for m := degree; m > 0; m-- {
				power[m-1] = power[m] * q
			}
			sm := 1.0
			for m := range coef {
				coef[m] += power[m] * sm
				sm *= b
			}
		}
		floats.Mul(coef, binomial)
		row := dst[j*len(ss):][:len(ss)]
		for i, si := range ss {
			h := si - mid
			f := coef[degree]
			for m := degree - 1; m >= 0; m-- {
				f = f*h + coef[m]
			}
			row[i] = f
		}
	}
	return true
}
