package theory

import (
	"math"

	"marginlab/ml/lists"
	"marginlab/ml/param"

	"gonum.org/v1/gonum/mat"
)

// ShatterKernel enumerates all labellings of the 1 to MaxShatter points of the Gram matrix k and
// decides for each whether some f = sum_j u_j k(x_j, ·) + b realises it, that is, whether a
// hyperplane in feature space separates the classes. The points on the margin, f = ±1, determine
// f, so it tries all subsets of points.
//
// The decision is numerical: a margin below 1e-4 of the distance from the mean to the farthest
// point counts as zero (or below 1e-6 of the largest |phi(x_i)|, where rounding hides it). Some
// dichotomies are therefore lost under a very wide RBF kernel, which in theory shatters any
// number of distinct points; Rank counts directions of at least that extent. It returns an error
// if k is not positive semidefinite.
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
		return Shattering{}, param.Refuse("choose a positive semidefinite kernel", "the Gram matrix has a negative eigenvalue: there is no feature space to separate in")
	}
	c := centred(k) // the origin is irrelevant for a machine with bias
	smallest := max(1e-4*MaxNorm(c), 1e-6*MaxNorm(k))
	if s, err = Mercer(c); err != nil {
		return Shattering{}, err
	}
	rank := 1 + lists.Count(s.Values, func(v float64) bool { return v > smallest*smallest })
	beside := Dichotomy{Realisable: true, W: make([]float64, n), B: 1, Margin: math.Inf(1)}
	return newShattering(n, rank, beside, func(y []float64) Dichotomy {
		d := separateByKernel(c, smallest, y)
		if d.Realisable {
			d.B += shift(k, c, d.W)
		}
		return d
	}), nil
}

// shift returns the change of b if k replaces the centred matrix c: sum_j u_j (c_ij - k_ij), the
// same for all i since the u_j sum to 0.
func shift(k, c mat.Symmetric, u []float64) float64 {
	sum := 0.0
	for j, v := range u {
		sum += v * (c.At(0, j) - k.At(0, j))
	}
	return sum
}

// separateByKernel returns the maximal margin machine for the labels y, both present, if its
// margin is above smallest, trying every subset of points on f = ±1.
func separateByKernel(k mat.Symmetric, smallest float64, y []float64) Dichotomy {
	n := len(y)
	var best Dichotomy
	scale := MaxNorm(k)
	scale *= scale
	if scale == 0 { // all points coincide
		return best
	}
	for set := 1; set < 1<<n; set++ {
		on := lists.Where(n, func(i int) bool { return set>>i&1 == 1 })
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
