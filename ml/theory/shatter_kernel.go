package theory

import (
	"math"

	"marginlab/ml/param"

	"gonum.org/v1/gonum/mat"
)

// ShatterKernel goes through all labellings of the 1 to MaxShatter points of the
// Gram matrix k and decides for each whether some f = sum_j u_j k(x_j, ·) + b
// realises it, that is, whether a hyperplane separates the classes in feature
// space. The points of largest margin on f = ±1 determine f, so all sets of
// points are tried.
//
// The decision is numerical: a margin below one part in 10 000 of the distance
// between the mean and the farthest point counts as none (or below one in a
// million of the largest |phi(x_i)|, where rounding hides it). So under a very wide
// RBF kernel, which in theory shatters any number of distinct points, some
// dichotomies are lost; Rank counts directions of at least that extent. It is an
// error when k is not positive semidefinite.
func ShatterKernel(k mat.Symmetric) (Shattering, error) {
	n := k.SymmetricDim()
	if err := checkShatter(n); err != nil {
		return Shattering{}, err
	}
	s, err := Mercer(k)
	if err != nil {
		return Shattering{}, err
	}
	if !s.PSD {
		return Shattering{}, param.Refuse("choose a positive semidefinite kernel", "the Gram matrix has a negative eigenvalue: without a feature space there is nothing to separate")
	}
	c := centred(k) // where the origin lies does not matter to a machine with bias
	smallest := max(1e-4*MaxNorm(c), 1e-6*MaxNorm(k))
	if s, err = Mercer(c); err != nil {
		return Shattering{}, err
	}
	rank := 1
	for _, v := range s.Values {
		if v > smallest*smallest {
			rank++
		}
	}
	beside := Dichotomy{Realisable: true, W: make([]float64, n), B: 1, Margin: math.Inf(1)}
	return newShattering(n, rank, beside, func(y []float64) Dichotomy {
		d := separateByKernel(c, smallest, y)
		if d.Realisable {
			d.B += shift(k, c, d.W)
		}
		return d
	}), nil
}

// shift returns the change of b when k replaces the centred matrix c:
// sum_j u_j (c_ij - k_ij), the same for all i since the u_j sum to 0.
func shift(k, c mat.Symmetric, u []float64) float64 {
	sum := 0.0
	for j, v := range u {
		sum += v * (c.At(0, j) - k.At(0, j))
	}
	return sum
}

// separateByKernel returns the maximal margin machine for the labels y, both
// present, with a margin above smallest, by trying every set of points as those
// on f = ±1.
func separateByKernel(k mat.Symmetric, smallest float64, y []float64) Dichotomy {
	n := len(y)
	var best Dichotomy
	scale := MaxNorm(k)
	scale *= scale
	if scale == 0 { // all points coincide
		return best
	}
	for set := 1; set < 1<<n; set++ {
		var on []int
		for i := range n {
			if set>>i&1 == 1 {
				on = append(on, i)
			}
		}
		// [K 1; 1' 0] (u, b) = (y, 0), with K scaled to entries of order 1
		m := len(on)
		a := mat.NewDense(m+1, m+1, nil)
		rhs := mat.NewVecDense(m+1, nil)
		for r, i := range on {
			for c, j := range on {
				a.Set(r, c, k.At(i, j)/scale)
			}
			a.Set(r, m, 1)
			a.Set(m, r, 1)
			rhs.SetVec(r, y[i])
		}
		var lu mat.LU
		lu.Factorize(a)
		if !(lu.Cond() < 1e12) {
			continue
		}
		var sol mat.VecDense
		if lu.SolveVecTo(&sol, false, rhs) != nil {
			continue
		}
		d := Dichotomy{Realisable: true, W: make([]float64, n), B: sol.AtVec(m)}
		for r, i := range on {
			d.W[i] = sol.AtVec(r) / scale
		}
		norm := 0.0 // |w|²
		for i := range n {
			f := d.B
			for _, j := range on {
				f += k.At(i, j) * d.W[j]
			}
			norm += d.W[i] * (f - d.B)
			d.Realisable = d.Realisable && y[i]*f >= 1-1e-6
		}
		d.Margin = 1 / math.Sqrt(norm)
		if d.Realisable && d.Margin > max(best.Margin, smallest) {
			best = d
		}
	}
	return best
}
