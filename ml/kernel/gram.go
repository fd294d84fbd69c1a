package kernel

import "gonum.org/v1/gonum/mat"

// Gram is the M x M kernel matrix of the M rows of X, optionally scaled on both
// sides by a conformal factor: K_ij = c_i c_j k(x_i, x_j). Rows are computed on
// demand, so that nothing of size M x M is held. K_ij and K_ji are equal to the
// last bit. Its methods may be called from several goroutines at once.
type Gram struct {
	k    Kernel
	row  Row
	x    *mat.Dense
	c    []float64 // nil: all ones
	diag []float64
}

// NewGram returns the kernel matrix of the rows of x (M x d). x is kept, not
// copied, and must not change afterwards.
func NewGram(k Kernel, x *mat.Dense) *Gram {
	g := &Gram{k: k, row: of(k), x: x, diag: make([]float64, x.RawMatrix().Rows)}
	if !g.row.ofDistance {
		for i := range g.diag {
			xi := x.RawRowView(i)
			for _, v := range xi {
				g.diag[i] += v * v
			}
		}
	}
	g.row.apply(k, g.diag)
	return g
}

// Scaled returns the Gram matrix with entries c_i c_j K_ij. c (length M) is kept,
// not copied; it replaces an earlier scaling.
func (g *Gram) Scaled(c []float64) *Gram {
	s := *g
	s.c = c
	return &s
}

// Len is M.
func (g *Gram) Len() int { return len(g.diag) }

// Diag returns K_ii.
func (g *Gram) Diag(i int) float64 {
	if g.c != nil {
		return g.c[i] * g.c[i] * g.diag[i]
	}
	return g.diag[i]
}

// Row writes row i into dst, which has length M.
func (g *Gram) Row(dst []float64, i int) {
	g.row.values(g.k, dst, g.x.RawMatrix(), g.x.RawRowView(i))
	if g.c != nil {
		ci := g.c[i]
		for j, cj := range g.c {
			dst[j] *= ci * cj
		}
	}
}
