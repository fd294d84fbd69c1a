package kernel

import (
	"context"

	"marginlab/ml/dataset"
)

var linear = Entry{
	Name: "linear", Label: "Linear", Formula: "k(x, z) = x·z", Takes: dataset.KindVectors, PSD: true,
	Help: "A straight line between the classes.",
	bind: func(Kernel) function { return products{} },
}

// Linear returns the kernel x·z.
func Linear() Kernel { return Kernel{Name: linear.Name} }

type products struct{}

func (products) width() float64 { return 0 }

func (products) row(dst []float64, x packed, z []float64) { productRow(dst, x, z) }

func (products) rows(dst []float64, x packed, z listed, m int) { productRows(dst, x, z, m) }

func (products) grid(ctx context.Context, s *Sum, dst []float64, p Plane, ss, ts []float64) bool {
	return s.gridPolynomial(ctx, dst, p, ss, ts, 1, 0, 1)
}
