package svm

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/rows"
)

// A large C leaves many nearly flat directions among the free points, along which
// steps on pairs zigzag for very long. A Newton step goes there at once: it solves
//
//	(K_FF + rho I) d + beta 1 = g_F,  1'd = 0
//
// for the free points F. Those that d would take beyond a bound go to the bound,
// and it solves for the others again. The step then goes along d to the maximum of
// the objective. It only ever gains, as steps on pairs do, and it leaves the choice
// of the free points to them (the active-set view of Scheinberg, "An efficient
// implementation of an active set method for SVMs", JMLR 7, 2006).
//
// rho keeps d short along directions that are flat altogether (the proximal point
// method, Rockafellar 1976): there a free point would go to its bound for nothing.
// What is left of g_F is rho d, a fraction of the violation.
// newton makes a Newton step, unless too many points are free.
func (o *smo[T]) newton(free []int) error {
	o.newtonAt = o.Iterations
	if len(free) < 2 || len(free) > max(newtonFree, nearSize) || !o.rows.Hold(len(free)) {
		return nil
	}
	held := make([][]T, len(free))
	for a, i := range free {
		row, err := o.rows.Row(i)
		if err != nil || o.Ended(len(row)) {
			return err
		}
		held[a] = row
	}
	var best line
	for _, move := range o.directions(free, held) {
		if l := o.line(free, held, move); l.gain > best.gain {
			best = l
		}
	}
	if best.gain > 0 {
		o.follow(free, best)
	}
	return nil
}

// line is a step along the moves of the free points.
type line struct {
	move, change []float64 // d of the free points, K d of all
	step, gain   float64   // how far to go, what the objective gains by it
}

// line finds the step along move to the maximum of the objective or to the first
// bound.
func (o *smo[T]) line(free []int, held [][]T, move []float64) line {
	l := line{move: move, change: make([]float64, len(o.g))}
	for a, row := range held {
		rows.AddScaled(l.change, move[a], row)
	}
	var slope, curvature float64
	for a, i := range free {
		slope += move[a] * o.g[i]
		curvature += move[a] * l.change[i]
	}
	if !(slope > 0 && curvature > 0) {
		return l
	}
	l.step = slope / curvature
	for a, i := range free {
		if move[a] > 0 {
			l.step = min(l.step, (o.hi[i]-o.u[i])/move[a])
		} else if move[a] < 0 {
			l.step = min(l.step, (o.lo[i]-o.u[i])/move[a])
		}
	}
	l.gain = l.step * (slope - l.step*curvature/2)
	return l
}

// follow makes the step.
func (o *smo[T]) follow(free []int, l line) {
	for a, i := range free {
		switch d := l.step * l.move[a]; { // exactly, so that a bounded point is known as such
		case d >= o.hi[i]-o.u[i]:
			o.place(i, o.hi[i])
		case d <= o.lo[i]-o.u[i]:
			o.place(i, o.lo[i])
		default:
			o.place(i, o.u[i]+d)
		}
	}
	floats.AddScaled(o.g, -l.step, l.change)
	o.exact = false
	o.Iterations++
	o.Objective += l.gain
}

// directions returns two moves of the free points: with those
// that would cross their bounds ending there, and as if there were no bounds.
func (o *smo[T]) directions(free []int, held [][]T) (moves [][]float64) {
	high, low := o.interval()
	rho := newtonRho * (high - low) / floats.Norm(o.u, math.Inf(1))
	move, left := make([]float64, len(free)), make([]float64, len(free)) // d, and g without the moves to bounds
	inside := make([]int, len(free))                                     // places in free
	for a, i := range free {
		inside[a], left[a] = a, o.g[i]
	}
	sum := 0.0 // of the moves to bounds
	k := make([]float64, len(free)*len(free))
	for len(inside) > 1 {
		d := o.newtonSolve(free, inside, held, k, left, rho, -sum)
		if d == nil {
			break
		}
		if moves == nil {
			moves = [][]float64{d}
		}
		var stay []int
		for p, a := range inside {
			i := free[a]
			move[a] = d[p]
			if u := o.u[i] + d[p]; o.lo[i] < u && u < o.hi[i] {
				stay = append(stay, a)
				continue
			}
			if d[p] > 0 {
				move[a] = o.hi[i] - o.u[i]
			} else {
				move[a] = o.lo[i] - o.u[i]
			}
			sum += move[a]
			row := held[a]
			for b, j := range free {
				left[b] -= move[a] * float64(row[j])
			}
		}
		if len(stay) == len(inside) {
			return append([][]float64{move}, moves...)
		}
		inside = stay
	}
	return moves
}

// newtonSolve returns the moves of the points inside that add up to sum, nil when
// the matrix is not positive definite or ctx has ended. Its matrix overwrites block.
func (o *smo[T]) newtonSolve(free, inside []int, held [][]T, block, left []float64, rho, sum float64) []float64 {
	n := len(inside)
	k := blas64.General{Rows: n, Cols: n, Stride: n, Data: block[:n*n]} // upper triangle
	d, e, points := make([]float64, n), make([]float64, n), make([]int, n)
	for p, a := range inside {
		d[p], e[p], points[p] = left[a], 1, free[a]
	}
	for p, a := range inside {
		from, row := held[a], k.Data[p*n:][:n]
		for q := p; q < n; q++ {
			row[q] = float64(from[points[q]])
		}
		row[p] = o.diag[points[p]] + rho
	}
	if ok, err := dense.Cholesky(o.Context, k); !ok || err != nil {
		return nil
	}
	dense.Solve(k, d)
	dense.Solve(k, e)
	floats.AddScaled(d, (sum-floats.Sum(d))/floats.Sum(e), e)
	floats.AddConst((sum-floats.Sum(d))/float64(len(d)), d) // what rounding left
	return d
}
