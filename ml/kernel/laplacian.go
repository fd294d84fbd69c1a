package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

var laplacian = Entry{
	Name: "laplacian", Label: "Laplacian", Formula: "k(x, z) = exp(−γ |x − z|₁)", Takes: dataset.KindVectors, PSD: true,
	Help:   "Similarity that fades with the sum of absolute feature differences: sharply peaked at each point.",
	Params: []param.Param{gamma},
	bind:   func(k Kernel) function { return cityBlock{k.Values.Number("gamma")} },
}

type cityBlock struct{ gamma float64 }

func (k cityBlock) row(dst []float64, x packed, z []float64) {
	clear(dst)
	x.blocks(len(dst), func(first, size int, x []float64) {
		v := dst[first:][:size]
		for i, zi := range z {
			for j, xj := range x[i*lanes:][:size] {
				v[j] += math.Abs(xj - zi)
			}
		}
	})
	expScaled(dst, -k.gamma)
}

// grid uses that the distance is a sum over coordinates: if each coordinate changes along at most
// one axis of the plane, |o + s u + t v - z|₁ = g(s) + h(t).
func (k cityBlock) grid(ctx context.Context, s *Sum, dst []float64, p Plane, ss, ts []float64) bool {
	for i, u := range p.U {
		if u != 0 && p.V[i] != 0 {
			return false
		}
	}
	s.gridProducts(ctx, dst, ss, ts, func(first int, left, right blas64.General) {
		for j := range right.Rows {
			z := s.z.Data[(first+j)*s.z.Stride:][:s.z.Cols]
			row := right.Data[j*right.Stride:][:len(ss)]
			clear(row)
			for i, u := range p.U {
				if u != 0 {
					for a, sa := range ss {
						row[a] += math.Abs(p.Origin[i] + sa*u - z[i])
					}
				}
			}
			expScaled(row, -k.gamma)
			for b, tb := range ts {
				d := 0.0
				for i, v := range p.V {
					if p.U[i] == 0 {
						d += math.Abs(p.Origin[i] + tb*v - z[i])
					}
				}
				left.Data[b*left.Stride+j] = d
			}
		}
		for b := range ts {
			row := left.Data[b*left.Stride:][:left.Cols]
			expScaled(row, -k.gamma)
			for j, w := range s.w[first:][:len(row)] {
				row[j] *= w
			}
		}
	})
	return true
}
