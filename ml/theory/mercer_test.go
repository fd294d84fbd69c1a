package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func TestMercerKnownSpectra(t *testing.T) {
	t.Parallel()
	// (1-r) I + r 11' has the eigenvalues 1 + (M-1) r once and 1 - r otherwise.
	for _, r := range []float64{0, 0.3, 1, -0.5} {
		k := mat.NewSymDense(4, nil)
		for i := range 4 {
			for j := range i {
				k.SetSym(i, j, r)
			}
			k.SetSym(i, i, 1)
		}
		want := []float64{1 + 3*r, 1 - r, 1 - r, 1 - r}
		if r < 0 {
			want = []float64{1 - r, 1 - r, 1 - r, 1 + 3*r}
		}
		s := require.Value(theory.Mercer(k))(t)
		require.Check(t, floats.EqualApprox(s.Values, want, 1e-12) && s.PSD == (r >= 0),
			"r = %g: %+v, want %v", r, s, want)
		if rank := map[float64]float64{0: 4, 1: 1}[r]; rank > 0 {
			near(t, "effective rank", s.EffectiveRank(), rank, 1e-9)
		}
	}
	near(t, "effective rank of nothing", theory.Spectrum{Values: []float64{0, -1}}.EffectiveRank(), 0, 0)
	near(t, "effective rank of 3/4 and 1/4", theory.Spectrum{Values: []float64{6, 2, -1}}.EffectiveRank(), math.Pow(4.0/3, 0.75)*math.Pow(4, 0.25), 1e-12)
}

func TestMercerWitness(t *testing.T) {
	t.Parallel()
	indefinite := 0
	for seed := range uint64(10) {
		x := random(seed, 8, 2)
		for _, k := range []kernel.Kernel{linear, quadratic, rbf(0.5)} {
			s, err := theory.Mercer(gram(k, x))
			require.Check(t, err == nil && s.PSD && s.Witness == nil, "%s: %+v, %v", k.Name, s, err)
		}
		g := gram(kernel.Sigmoid(1, -1), x)
		s := require.Value(theory.Mercer(g))(t)
		trace := 0.0
		for i := range 8 {
			trace += g.At(i, i)
		}
		near(t, "sum of eigenvalues", floats.Sum(s.Values), trace, 1e-12)
		if s.PSD {
			continue
		}
		indefinite++
		sum := 0.0
		for i, ci := range s.Witness {
			for j, cj := range s.Witness {
				sum += ci * cj * g.At(i, j)
			}
		}
		near(t, "length of the witness", floats.Norm(s.Witness, 2), 1, 1e-12)
		near(t, "c'Kc", sum, s.Values[7], 1e-12)
		require.Check(t, sum < 0, "c'Kc = %g", sum)
	}
	require.Check(t, indefinite != 0, "the sigmoid kernel passed on every set of points")
}

// A wide RBF kernel is near the matrix of ones, a narrow one the identity (notes 14.2 and 14.3).
func TestClosenessFollowsTheWidth(t *testing.T) {
	t.Parallel()
	x := random(2, 15, 2)
	var last theory.Closeness
	lastRank := 0.0
	for i, gamma := range []float64{1e-6, 0.01, 0.3, 3, 1e6} {
		k := gram(rbf(gamma), x)
		c := require.Value(theory.NewCloseness(k))(t)
		s := require.Value(theory.Mercer(k))(t)
		require.Check(t, i == 0 || c.MeanOffDiagonal < last.MeanOffDiagonal && c.ToIdentity < last.ToIdentity && c.ToOnes > last.ToOnes && s.EffectiveRank() > lastRank,
			"gamma = %g: %+v after %+v, effective rank %g after %g", gamma, c, last, s.EffectiveRank(), lastRank)
		switch gamma {
		case 1e-6:
			near(t, "mean off the diagonal, wide", c.MeanOffDiagonal, 1, 1e-4)
			near(t, "distance to ones, wide", c.ToOnes, 0, 1e-4)
			near(t, "effective rank, wide", s.EffectiveRank(), 1, 1e-3)
		case 1e6:
			near(t, "distance to the identity, narrow", c.ToIdentity, 0, 1e-9)
			near(t, "effective rank, narrow", s.EffectiveRank(), 15, 1e-9)
		}
		last, lastRank = c, s.EffectiveRank()
	}
	// cosines do not depend on the norm of a point
	c, err := theory.NewCloseness(mat.NewSymDense(2, []float64{4, 3, 3, 9}))
	require.Check(t, err == nil && c == (theory.Closeness{MeanOffDiagonal: 0.5, ToIdentity: 0.5, ToOnes: 0.5}),
		"%+v, %v", c, err)
}

// For the linear kernel the components equal PCA, by singular values of the centred points.
func TestKernelPCAIsPCAForTheLinearKernel(t *testing.T) {
	t.Parallel()
	x := random(11, 20, 4)
	c := require.Value(theory.KernelPCA(gram(linear, x), 10))(t)
	centred := mat.DenseCopyOf(x)
	for j := range 4 {
		mean := floats.Sum(mat.Col(nil, j, x)) / 20
		for i := range 20 {
			centred.Set(i, j, x.At(i, j)-mean)
		}
	}
	var svd mat.SVD
	require.Must(t, svd.Factorize(centred, mat.SVDThin), "no singular values")
	var u mat.Dense
	svd.UTo(&u)
	require.Must(t, len(c.Values) == 4, "%d components of 4", len(c.Values))
	near(t, "sum of shares", floats.Sum(c.Shares), 1, 1e-12)
	total := floats.Sum(c.Values)
	for j, s := range svd.Values(nil) {
		near(t, "eigenvalue", c.Values[j], s*s, 1e-10)
		near(t, "share", c.Shares[j], s*s/total, 1e-10)
		got, want := mat.Col(nil, j, c.Scores), mat.Col(nil, j, &u)
		floats.Scale(s, want)
		if math.Abs(floats.Min(want)) > floats.Max(want) {
			floats.Scale(-1, want)
		}
		require.Check(t, floats.EqualApprox(got, want, 1e-9), "component %d: %v, want %v", j+1, got, want)
	}
}

func TestKernelPCAKeepsDistances(t *testing.T) {
	t.Parallel()
	k := gram(rbf(0.8), random(12, 12, 2))
	c := require.Value(theory.KernelPCA(k, 12))(t)
	for i := range 12 {
		for j := range i {
			d := floats.Distance(c.Scores.RawRowView(i), c.Scores.RawRowView(j), 2)
			near(t, "squared distance", d*d, 2-2*k.At(i, j), 1e-9)
		}
	}
	two := require.Value(theory.KernelPCA(k, 2))(t)
	r, cols := two.Scores.Dims()
	require.Check(t, r == 12 && cols == 2 && two.Shares[0] == c.Shares[0], "%d x %d scores, shares %v", r, cols, two.Shares)
}

// The terms sum to the product's form; none is negative unless a kernel is indefinite.
func TestSchurTerms(t *testing.T) {
	t.Parallel()
	x := random(3, 9, 2)
	v := []float64{1, -2, 0.5, 3, -1, 0, 2, -0.3, 1.1}
	for _, c := range []struct {
		k1   kernel.Kernel
		want bool // no negative term
	}{{rbf(0.5), true}, {kernel.Sigmoid(1, -1), false}} {
		k1, k2 := gram(c.k1, x), gram(rbf(0.1), x)
		terms := require.Value(theory.SchurTerms(k1, k2, v))(t)
		whole, size := 0.0, 0.0
		for i := range v {
			for j := range v {
				part := v[i] * v[j] * k1.At(i, j) * k2.At(i, j)
				whole, size = whole+part, size+math.Abs(part)
			}
		}
		near(t, "sum of the terms of "+c.k1.Name, floats.Sum(terms), whole, 1e-10*size)
		require.Check(t, (floats.Min(terms) >= -1e-12*size) == c.want && terms[0] == floats.Max(terms),
			"%s: terms %v", c.k1.Name, terms)
		s, err := theory.Mercer(k1)
		require.Check(t, err == nil && (s.Negative() == 0) == c.want,
			"%s: %d eigenvalues below zero, %v", c.k1.Name, s.Negative(), err)
	}
	require.Fails(t, require.Err(theory.SchurTerms(gram(linear, x), gram(linear, x), v[1:])), "", "nine points took a vector of eight entries")
}
