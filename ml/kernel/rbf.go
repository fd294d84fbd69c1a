package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/simd"
)

var rbf = Entry{
	Name: "rbf", Label: "RBF (Gaussian)", Formula: "k(x, z) = exp(−γ |x − z|²)", Takes: dataset.KindVectors, PSD: true,
	Help:   "Similarity that fades with distance; the width is s = 1/√(2γ).",
	Params: []param.Param{gamma},
	bind:   func(k Kernel) function { return gaussian{k.Values.Number("gamma")} },
}

// RBF returns the Gaussian kernel exp(-gamma |x-z|²).
func RBF(gamma float64) Kernel {
	return Kernel{Name: rbf.Name, Values: param.Values{"gamma": param.Of(gamma)}}
}

// gaussian has its own inner loops, see packed.go.
type gaussian struct{ gamma float64 }

// self returns 1, or NaN for a point that is not finite.
func (gaussian) self(x []float64) float64 {
	distance := 0.0
	for _, v := range x {
		distance += v - v
	}
	return 1 + distance
}

func (k gaussian) width() float64 { return k.gamma }

func (k gaussian) row(dst []float64, x packed, z []float64) { k.rows(dst, x, x.list(z), 1) }

func (k gaussian) rows(dst []float64, x packed, z listed, m int) {
	gaussianRowsAt(simd.Current(), dst, x, z, m, k.gamma)
}

func (k gaussian) row32(dst []float32, x packed, z listed) {
	gaussianRow32At(simd.Current(), dst, x, z, k.gamma)
}

func (k gaussian) add(dst []float64, x packed, z listed, w []float64) {
	gaussianSumAt(simd.Current(), dst, x, z, w, k.gamma)
}

func (k gaussian) add32(dst []float64, x packed, z listed, w []float64) {
	gaussianSum32At(simd.Current(), dst, x, z, w, k.gamma)
}

func (k gaussian) total(ctx context.Context, dst []float64, x, z blas64.General, w []float64, most float64) (work int) {
	return sumInCells(ctx, dst, x, z, w, k.gamma, most)
}

// grid uses that on a plane with orthogonal axes the squared distance to z splits into
// |o + s u + t v - z|² = |u|²(s-a)² + |v|²(t-b)² + r, where (a, b) is the projection of z onto the
// plane and r its squared distance from the plane. Every summand is at least 0, so no exponential
// exceeds 1.
func (k gaussian) grid(ctx context.Context, s *Sum, dst []float64, p Plane, ss, ts []float64) bool {
	a, b, off, uu, vv, ok := s.projections(p)
	if !ok {
		return false
	}
	expScaled(off, -k.gamma)
	floats.Mul(off, s.w)
	s.gridProducts(ctx, dst, ss, ts, func(first int, left, right blas64.General) {
		a, b, off := a[first:][:right.Rows], b[first:][:left.Cols], off[first:][:left.Cols]
		for i, t := range ts {
			row := left.Data[i*left.Stride:][:left.Cols]
			for j, bj := range b {
				row[j] = (t - bj) * (t - bj)
			}
			expScaled(row, -k.gamma*vv)
			floats.Mul(row, off)
		}
		for j, aj := range a {
			row := right.Data[j*right.Stride:][:len(ss)]
			for i, si := range ss {
				row[i] = (si - aj) * (si - aj)
			}
			expScaled(row, -k.gamma*uu)
		}
	})
	return true
}

// projections returns the projection (a, b) of each z onto the plane, its squared distance off from
// the plane, and the squared lengths of the axes. ok is false if the axes are not orthogonal.
func (s *Sum) projections(p Plane) (a, b, off []float64, uu, vv float64, ok bool) {
	uu, vv = floats.Dot(p.U, p.U), floats.Dot(p.V, p.V)
	if math.Abs(floats.Dot(p.U, p.V)) > 1e-14*math.Sqrt(uu*vv) {
		return nil, nil, nil, 0, 0, false
	}
	n := len(s.w)
	a, b, off = make([]float64, n), make([]float64, n), make([]float64, n)
	rest := make([]float64, len(p.Origin))
	for j := range off {
		floats.SubTo(rest, s.z.Data[j*s.z.Stride:][:s.z.Cols], p.Origin)
		a[j], b[j] = project(rest, p.U, uu), project(rest, p.V, vv)
		floats.AddScaled(rest, -a[j], p.U)
		floats.AddScaled(rest, -b[j], p.V)
		off[j] = floats.Dot(rest, rest)
	}
	return a, b, off, uu, vv, true
}

// project returns the coordinate of x along an axis with squared length aa, or 0 if aa is 0.
func project(x, axis []float64, aa float64) float64 {
	if aa == 0 {
		return 0
	}
	return floats.Dot(x, axis) / aa
}
