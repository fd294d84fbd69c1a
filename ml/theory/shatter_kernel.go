package theory

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ShatterKernel goes through all labellings of the 1 to MaxShatter points of the
// Gram matrix k and decides for each whether some f = sum_j u_j k(x_j, ·) + b
// realises it, that is, whether a hyperplane separates the classes in feature
// space. The points of largest margin on f = ±1 determine f, so the sets of
// points are tried; numbers are floating point, and systems of condition above
// 1e10 count as singular: a kernel so wide that its points nearly coincide is
// taken for one in which they do. It is an error when k is not positive
// semidefinite.
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
		return Shattering{}, errors.New("theory: the Gram matrix has a negative eigenvalue; without a feature space there is nothing to separate, choose a positive semidefinite kernel")
	}
	rank := 1
	if c, err := Mercer(centred(k)); err == nil {
		for _, v := range c.Values {
			if v > 1e-10*s.Values[0] {
				rank++
			}
		}
	}
	beside := Dichotomy{Realisable: true, W: make([]float64, n), B: 1, Margin: math.Inf(1)}
	return newShattering(n, rank, beside, func(y []float64) Dichotomy {
		return separateByKernel(k, s.Values[0], y)
	}), nil
}

// separateByKernel returns the maximal margin machine for the labels y, both
// present, by trying every set of points as those on f = ±1; scale is the size of
// the entries of k.
func separateByKernel(k mat.Symmetric, scale float64, y []float64) Dichotomy {
	n := len(y)
	var best Dichotomy
	if scale == 0 {
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
		if !(lu.Cond() < 1e10) {
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
		norm := 0.0
		for i := range n {
			f := d.B
			for _, j := range on {
				f += k.At(i, j) * d.W[j]
			}
			norm += d.W[i] * (f - d.B)
			d.Realisable = d.Realisable && y[i]*f >= 1-1e-6
		}
		d.Margin = 1 / math.Sqrt(norm)
		if d.Realisable && d.Margin > best.Margin {
			best = d
		}
	}
	return best
}
