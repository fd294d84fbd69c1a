package theory

import (
	"fmt"
	"math"
	"slices"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/param"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// PSDTolerance is the size, relative to the largest absolute eigenvalue, up to which a negative
// eigenvalue counts as rounding.
const PSDTolerance = 1e-10

// Spectrum is the result of Mercer's test on one Gram matrix. A negative eigenvalue proves that
// the function is not a kernel; the absence of one proves nothing (SVM notes 13.2; slides, "What
// is a valid kernel?").
type Spectrum struct {
	Values []float64 // eigenvalues in descending order
	PSD    bool      // no eigenvalue below -PSDTolerance times the largest in absolute value
	// Witness is a unit vector c with c'Kc equal to the smallest eigenvalue if the matrix is not
	// PSD, nil otherwise. Its largest entry is positive.
	Witness []float64
}

// Mercer computes the eigenvalues of the Gram matrix k (M x M, M >= 1) in O(M³): a third of a
// second for 1000 points, or three seconds if the matrix is not PSD, as the witness is an
// eigenvector.
func Mercer(k mat.Symmetric) (Spectrum, error) {
	values, _, err := eigen(k, false)
	if err != nil {
		return Spectrum{}, err
	}
	n := len(values)
	s := Spectrum{Values: values}
	s.PSD = values[n-1] >= -s.Zero()
	if s.PSD {
		return s, nil
	}
	_, vectors, err := eigen(k, true)
	if err != nil {
		return Spectrum{}, err
	}
	s.Witness = mat.Col(nil, n-1, vectors)
	return s, nil
}

// Zero returns the size up to which an eigenvalue counts as rounding: PSDTolerance times the
// largest absolute eigenvalue.
func (s Spectrum) Zero() float64 { return PSDTolerance * floats.Norm(s.Values, math.Inf(1)) }

// Negative returns the number of eigenvalues below zero by more than rounding.
func (s Spectrum) Negative() int {
	return lists.Count(s.Values, func(v float64) bool { return v < -s.Zero() })
}

// EffectiveRank returns exp(-sum p_i ln p_i), where p are the positive eigenvalues divided by
// their sum (Roy and Vetterli 2007): 1 for the matrix of ones, M for the identity, otherwise the
// number of relevant directions. It is 0 without a positive eigenvalue.
func (s Spectrum) EffectiveRank() float64 {
	sum := 0.0
	for _, v := range s.Values {
		sum += max(v, 0)
	}
	if sum == 0 {
		return 0
	}
	entropy := 0.0
	for _, v := range s.Values {
		if p := v / sum; p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	return math.Exp(entropy)
}

// SchurTerms returns the terms in Schur's proof that the product of two kernels is a kernel: with
// the eigenvalues lambda_m and eigenvectors q_m of k1 and the elementwise product *,
//
//	v'(k1*k2)v = sum_m lambda_m (v*q_m)' k2 (v*q_m) .
//
// They are in descending order; if both matrices are positive semidefinite, none is negative
// beyond rounding. k1 and k2 are M x M, v has M entries.
func SchurTerms(k1, k2 mat.Symmetric, v []float64) ([]float64, error) {
	n := len(v)
	if k1.SymmetricDim() != n || k2.SymmetricDim() != n {
		return nil, fmt.Errorf("theory: Schur's terms of a vector with %d entries and matrices of size %d and %d", n, k1.SymmetricDim(), k2.SymmetricDim())
	}
	values, vectors, err := eigen(k1, true)
	if err != nil {
		return nil, err
	}
	terms := make([]float64, n)
	for m, lambda := range values {
		u := mat.NewVecDense(n, mat.Col(nil, m, vectors))
		u.MulElemVec(u, mat.NewVecDense(n, v))
		terms[m] = lambda * mat.Inner(u, k2, u)
	}
	slices.Sort(terms)
	slices.Reverse(terms)
	return terms, nil
}

// Closeness measures where a Gram matrix lies between the identity, where every point is similar
// only to itself, and the matrix of ones, where all points are alike; the width of the RBF kernel
// controls this (SVM notes, section 14). Entries are cosines K_ij / sqrt(K_ii K_jj), which equal
// K_ij for the RBF kernel.
type Closeness struct {
	MeanOffDiagonal float64 // 0 for the identity, 1 for the matrix of ones
	ToIdentity      float64 // root mean square of the off-diagonal entries
	ToOnes          float64 // root mean square of 1 minus the off-diagonal entries
}

// NewCloseness computes the closeness of k (M x M, M >= 2, positive diagonal).
func NewCloseness(k mat.Symmetric) (Closeness, error) {
	if err := checkGram(k); err != nil {
		return Closeness{}, err
	}
	n := k.SymmetricDim()
	if n < 2 {
		return Closeness{}, param.Refuse("use at least two", "a single point has no similarity to others")
	}
	for i := range n {
		if k.At(i, i) <= 0 {
			return Closeness{}, param.Refuse("leave the point out or choose another kernel", "K_ii of point %d is %g, but cosines need a positive diagonal", i+1, k.At(i, i))
		}
	}
	var c Closeness
	for i := range n {
		for j := range i {
			v := k.At(i, j) / math.Sqrt(k.At(i, i)) / math.Sqrt(k.At(j, j))
			c.MeanOffDiagonal += v
			c.ToIdentity += v * v
			c.ToOnes += (1 - v) * (1 - v)
		}
	}
	pairs := float64(n*(n-1)) / 2
	return Closeness{c.MeanOffDiagonal / pairs, math.Sqrt(c.ToIdentity / pairs), math.Sqrt(c.ToOnes / pairs)}, nil
}

// Components holds the leading principal components in feature space.
type Components struct {
	Scores *mat.Dense // M x r: coordinates of the points, centred; column j has mean 0 and sum of squares Values[j]
	Values []float64  // r leading eigenvalues of the centred Gram matrix, descending
	Shares []float64  // explained variance: Values divided by the sum of all positive eigenvalues
}

// KernelPCA returns up to r >= 1 principal components of the points of the Gram matrix k in
// feature space (Schölkopf, Smola and Müller 1998): distances between rows of Scores approximate
// those in feature space and equal them once r reaches the rank. Components without variance, or
// with a negative eigenvalue of an indefinite kernel, are omitted, so there may be fewer than r.
// Signs make the largest entry of each column positive. It returns an error if all points
// coincide in feature space. A thousand points take three seconds.
func KernelPCA(k mat.Symmetric, r int) (Components, error) {
	if r < 1 {
		return Components{}, fmt.Errorf("theory: %d principal components; use at least 1", r)
	}
	if err := checkGram(k); err != nil {
		return Components{}, err
	}
	values, vectors, err := eigen(centred(k), true)
	if err != nil {
		return Components{}, err
	}
	n := len(values)
	top, total := 0.0, 0.0
	for i, v := range values {
		top = max(top, math.Abs(k.At(i, i)))
		total += max(v, 0)
	}
	var c Components
	for _, v := range values {
		if len(c.Values) < r && v > 1e-12*float64(n)*top {
			c.Values = append(c.Values, v)
			c.Shares = append(c.Shares, v/total)
		}
	}
	if len(c.Values) == 0 {
		return Components{}, param.Refuse("choose other points", "all points coincide in feature space, so there is no variance to show")
	}
	c.Scores = mat.NewDense(n, len(c.Values), nil)
	for j, v := range c.Values {
		for i := range n {
			c.Scores.Set(i, j, math.Sqrt(v)*vectors.At(i, j))
		}
	}
	return c, nil
}

// centred returns the Gram matrix of the points centred in feature space.
func centred(k mat.Symmetric) *mat.SymDense {
	n := k.SymmetricDim()
	mean := make([]float64, n)
	all := 0.0
	for i := range n {
		for j := range n {
			mean[i] += k.At(i, j) / float64(n)
		}
		all += mean[i] / float64(n)
	}
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			c.SetSym(i, j, k.At(i, j)-mean[i]-mean[j]+all)
		}
	}
	return c
}

// eigen returns the eigenvalues in descending order and, on request, the unit eigenvectors as
// columns, with the first entry of largest absolute value positive.
func eigen(k mat.Symmetric, vectors bool) ([]float64, *mat.Dense, error) {
	if err := checkGram(k); err != nil {
		return nil, nil, err
	}
	values, rising, ok := dense.Eigen(k, vectors)
	if !ok {
		return nil, nil, param.Refuse("scale the points", "the eigenvalues of the Gram matrix did not converge")
	}
	slices.Reverse(values)
	if !vectors {
		return values, nil, nil
	}
	n := len(values)
	descending := mat.NewDense(n, n, nil)
	for j := range n {
		col := mat.Col(nil, n-1-j, rising)
		top := 0
		for i, v := range col {
			if math.Abs(v) > math.Abs(col[top])*(1+1e-9) {
				top = i
			}
		}
		if col[top] < 0 {
			floats.Scale(-1, col)
		}
		descending.SetCol(j, col)
	}
	return values, descending, nil
}
