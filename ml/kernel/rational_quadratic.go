package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

var rationalQuadratic = Entry{
	Name: "rational_quadratic", Label: "Rational quadratic", Formula: "k(x, z) = (1 + γ |x − z|² / a)⁻ᵃ", Takes: dataset.KindVectors, PSD: true,
	Help: "An average of RBF kernels of all widths: fades like them nearby and more slowly far away.",
	Params: []param.Param{gamma, {
		Name: "shape", Label: "shape", Symbol: "a", Kind: param.Number, Default: "1",
		Min: 0, OpenMin: true, Max: 1e3, Low: 0.1, High: 100, Log: true, Telling: true,
		Help: "How fast similarity fades far away. Small: slowly; large: nearly as fast as the RBF kernel.",
	}},
	bind: func(k Kernel) function {
		shape := k.Values.Number("shape")
		return rational{scale: k.Values.Number("gamma") / shape, shape: shape}
	},
}

type rational struct{ scale, shape float64 } // scale = gamma/shape

func (k rational) row(dst []float64, x packed, z []float64) {
	squares(dst, x, z)
	floats.Scale(k.scale, dst)
	k.power(dst)
}

// power replaces every v by (1 + v)^-shape.
func (k rational) power(v []float64) {
	const most = 8 // for larger shapes, products have larger rounding errors than the logarithm
	halves := int(2 * k.shape)
	switch {
	case k.shape == 1:
		for i, x := range v {
			v[i] = 1 / (1 + x)
		}
	case k.shape <= most && float64(halves) == 2*k.shape:
		for i, x := range v {
			r := 1 / (1 + x)
			v[i] = powi(r, halves/2)
			if halves%2 == 1 {
				v[i] *= math.Sqrt(r)
			}
		}
	default:
		for i, x := range v {
			v[i] = math.Log1p(x)
		}
		expScaled(v, -k.shape)
	}
}

// grid uses, like the Gaussian kernel, that on a plane with orthogonal axes the squared distance to
// z is a function of s plus a function of t.
func (k rational) grid(ctx context.Context, s *Sum, dst []float64, p Plane, ss, ts []float64) bool {
	a, b, off, uu, vv, ok := s.projections(p)
	if !ok {
		return false
	}
	along, v := make([]float64, len(ss)), make([]float64, len(ss))
	for j, w := range s.w {
		if j%16 == 0 && checkpoint(ctx, j, len(s.w)) != nil {
			break
		}
		a, b, off := a[j], b[j], off[j]
		for i, si := range ss {
			along[i] = k.scale * uu * (si - a) * (si - a)
		}
		for i, t := range ts {
			copy(v, along)
			floats.AddConst(k.scale*(vv*(t-b)*(t-b)+off), v)
			k.power(v)
			floats.AddScaled(dst[i*len(ss):][:len(ss)], w, v)
		}
	}
	return true
}
