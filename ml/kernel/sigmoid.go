package kernel

import (
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

var sigmoid = Entry{
	Name: "sigmoid", Label: "Sigmoid", Formula: "k(x, z) = tanh(γ x·z + r)", Takes: dataset.KindVectors,
	Help:   "Borrowed from neural networks; not positive semidefinite in general.",
	Params: []param.Param{gamma, coef0},
	bind:   func(k Kernel) function { return tangent{k.Values.Number("gamma"), k.Values.Number("coef0")} },
}

// Sigmoid returns the kernel tanh(gamma x·z + coef0).
func Sigmoid(gamma, coef0 float64) Kernel {
	return Kernel{Name: sigmoid.Name, Values: param.Values{"gamma": param.Of(gamma), "coef0": param.Of(coef0)}}
}

type tangent struct{ gamma, coef0 float64 }

func (tangent) width() float64 { return 0 }

func (k tangent) row(dst []float64, x packed, z []float64) { k.rows(dst, x, x.list(z), 1) }

func (k tangent) rows(dst []float64, x packed, z listed, m int) {
	productRows(dst, x, z, m)
	tangents(dst, k.gamma, k.coef0)
}
