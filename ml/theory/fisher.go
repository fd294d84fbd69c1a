package theory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
	"marginlab/ml/dense"
)

// ScatterTraces returns tr S_b and tr S_w of the rows of z, images in a feature space (M x D),
// with labels y of -1 and +1: mean squared distances of the class means from the overall mean,
// and of the rows from their class mean (MCM notes, "Kernel optimization"). Their quotient is the
// Fisher scalar J.
func ScatterTraces(z *mat.Dense, y []float64) (between, within float64, err error) {
	rows, d := z.Dims()
	if err := checkLabels(y, rows); err != nil {
		return 0, 0, err
	}
	mean, n := map[float64][]float64{}, map[float64]float64{}
	all := make([]float64, d)
	for i, label := range y {
		if mean[label] == nil {
			mean[label] = make([]float64, d)
		}
		floats.Add(mean[label], z.RawRowView(i))
		floats.Add(all, z.RawRowView(i))
		n[label]++
	}
	floats.Scale(1/float64(rows), all)
	for label := range mean {
		floats.Scale(1/n[label], mean[label])
	}
	for i, label := range y {
		b, w := floats.Distance(mean[label], all, 2), floats.Distance(z.RawRowView(i), mean[label], 2)
		between += b * b
		within += w * w
	}
	return between / float64(rows), within / float64(rows), nil
}

// MeanEntries returns the mean off-diagonal entries of a kernel matrix for pairs within a class
// and between classes, with labels y (±1). A mean over no pairs is NaN: within if no class has
// two points, between if a class is missing.
func MeanEntries(k mat.Symmetric, y []float64) (within, between float64, err error) {
	if err := checkGram(k); err != nil {
		return 0, 0, err
	}
	if err := checkLabels(y, k.SymmetricDim()); err != nil {
		return 0, 0, err
	}
	var same, other int
	for i := range y {
		for j := range i {
			if y[i] == y[j] {
				within += k.At(i, j)
				same++
			} else {
				between += k.At(i, j)
				other++
			}
		}
	}
	return within / float64(same), between / float64(other), nil
}

// RidgeSpectrum returns the n+1 eigenvalues of Q = K1'(W0 + D I)K1 in ascending order, for n
// arbitrary cores, the gamma of their kernel and the ridge D. If columns of K1 are linearly
// dependent, as with repeated cores, some are 0 for every D, so package conformal solves P
// alpha = g Q alpha in a basis of the range of K1. The MCM notes add the ridge "for stability".
func RidgeSpectrum(ctx context.Context, k conformal.Matrix, x *mat.Dense, y []float64, cores [][]float64, gamma, ridge float64) ([]float64, error) {
	_, d := x.Dims()
	for j, a := range cores {
		if len(a) != d {
			return nil, fmt.Errorf("theory: core %d has %d coordinates, the points have %d", j+1, len(a), d)
		}
	}
	k1 := conformal.CoreMatrix(x, cores, gamma)
	_, q, err := conformal.Scatter(ctx, k, y, k1)
	if err != nil {
		return nil, err
	}
	var own mat.SymDense
	own.SymOuterK(ridge, k1.T())
	q.AddSym(q, &own)
	values, _, ok := dense.Eigen(q, false)
	if !ok {
		return nil, errors.New("theory: the eigenvalues of Q did not converge")
	}
	return values, nil
}

// RidgedJ returns c'B0c / c'(W0 + D I)c, the quotient maximised by the eigenvector of package
// conformal, for factors c of the M rows and the ridge D. For D = 0 it is J.
func RidgedJ(ctx context.Context, k conformal.Matrix, y, c []float64, ridge float64) (float64, error) {
	b, w, err := conformal.Scatter(ctx, k, y, mat.NewDense(len(c), 1, slices.Clone(c)))
	if err != nil {
		return 0, err
	}
	return b.At(0, 0) / (w.At(0, 0) + ridge*floats.Dot(c, c)), nil
}
