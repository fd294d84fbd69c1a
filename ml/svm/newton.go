package svm

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A large C leaves many nearly flat directions among the free points, along which
// steps on pairs zigzag for very long. A Newton step goes there at once: it solves
//
//	K_FF d + beta 1 = g_F,  1'd = 0
//
// for the free points F, and moves along d to the maximum of the objective or to
// the first bound. It only ever gains, as steps on pairs do, and it leaves the
// choice of the free points to them (the active-set view of Scheinberg, "An
// efficient implementation of an active set method for SVMs", JMLR 7, 2006).
const (
	newtonFree  = 400   // free points for which the factorisation is affordable
	newtonAfter = 40    // steps on pairs for each point, before it is worth its price
	newtonSteps = 5     // in a row, each but the last ending at a bound
	newtonRidge = 1e-12 // added to the diagonal, relative: flat directions stay finite
)

// newton makes Newton steps while they end at bounds.
func (o *smo[T]) newton() error {
	for range newtonSteps {
		free := make([]int, 0, newtonFree)
		for i := range o.m {
			if o.up[i] == 0 && o.low[i] == 0 {
				free = append(free, i)
			}
		}
		if len(free) < 2 || len(free) > min(newtonFree, o.rows.size) {
			return nil
		}
		rows := make([][]T, len(free))
		for a, i := range free {
			row, err := o.rows.row(i)
			if err != nil || o.ended(len(row)) {
				return err
			}
			rows[a] = row
		}
		if !o.newtonStep(free, rows) || o.ended(len(free)*len(o.g)) {
			return nil
		}
	}
	return nil
}

// newtonStep makes one step and reports whether it ended at a bound.
func (o *smo[T]) newtonStep(free []int, rows [][]T) bool {
	n := len(free)
	k := mat.NewSymDense(n, nil)
	ridge := newtonRidge * floats.Max(o.diag)
	g, ones := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for a, i := range free {
		for b := a; b < n; b++ {
			k.SetSym(a, b, float64(rows[a][free[b]]))
		}
		k.SetSym(a, a, float64(rows[a][i])+ridge)
		g.SetVec(a, o.g[i])
		ones.SetVec(a, 1)
	}
	var factor mat.Cholesky
	if !factor.Factorize(k) {
		return false
	}
	var d, e mat.VecDense
	if !solve(&factor, &d, g) || !solve(&factor, &e, ones) {
		return false
	}
	d.AddScaledVec(&d, -mat.Sum(&d)/mat.Sum(&e), &e)
	move := d.RawVector().Data
	floats.AddConst(-floats.Sum(move)/float64(n), move) // what rounding left

	change := make([]float64, len(o.g)) // K d
	for a, row := range rows {
		addScaled(change, move[a], row)
	}
	var slope, curvature float64
	for a, i := range free {
		slope += move[a] * o.g[i]
		curvature += move[a] * change[i]
	}
	if !(slope > 0 && curvature > 0) {
		return false
	}
	step, first := slope/curvature, -1
	for a, i := range free {
		room := o.hi[i] - o.u[i]
		if move[a] < 0 {
			room = o.lo[i] - o.u[i]
		}
		if t := room / move[a]; t < step {
			step, first = t, i
		}
	}
	for a, i := range free {
		o.u[i] = min(max(o.u[i]+step*move[a], o.lo[i]), o.hi[i])
		if i == first && move[a] > 0 {
			o.u[i] = o.hi[i]
		} else if i == first {
			o.u[i] = o.lo[i]
		}
		o.mark(i)
	}
	floats.AddScaled(o.g, -step, change)
	o.objective += step * (slope - step*curvature/2)
	return first >= 0
}

// solve reports false only when there is no solution; that one is inaccurate for
// an ill-conditioned matrix does not matter to a direction of search.
func solve(factor *mat.Cholesky, dst, b *mat.VecDense) bool {
	err := factor.SolveVecTo(dst, b)
	_, inaccurate := err.(mat.Condition)
	return err == nil || inaccurate
}
