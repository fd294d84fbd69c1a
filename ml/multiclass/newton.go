package multiclass

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/rows"
)

// A large C leaves many nearly flat directions among the free variables, along which small steps
// zigzag for a long time. A Newton step instead solves
//
//	(H + rho I) d + A'beta = g,  A d = 0
//
// for the free variables, where H holds the second derivatives of -D and A the contributions of
// each variable to the sums sum_i u_ic that must not change. Variables that d would move beyond a
// bound are moved to the bound, and the system is solved again for the others. The step then
// follows d to the maximum of D or to the first bound, so that it never lowers D. rho keeps d
// short along flat directions, where a variable would otherwise move to its bound without gain.

// variable is a direction of change of u_i: u_{i,plus} rises and u_{i,minus} falls by the same
// amount, between down <= 0 and up. The variables of a point have the same plus, and their sum is at
// most both.
type variable struct {
	i, plus, minus int
	down, up, both float64
}

// times returns the factor of K_ij in the second derivative by v and w.
func (v variable) times(w variable) (sign float64) {
	if v.plus == w.plus {
		sign++
	}
	if v.minus == w.minus {
		sign++
	}
	if v.plus == w.minus {
		sign--
	}
	if v.minus == w.plus {
		sign--
	}
	return sign
}

// derivative returns the derivative of D by v.
func (m *machine[T]) derivative(v variable) float64 {
	g := m.f[v.minus][v.i] - m.f[v.plus][v.i]
	switch m.y[v.i] {
	case v.plus:
		g++
	case v.minus:
		g--
	}
	return g
}

// line is a direction for all points with free variables, and the step along it.
type line struct {
	move, change [][]float64 // by class: change of u at these points, of F at all points
	full         float64     // step to the maximum, +Inf if there is none
	step, gain   float64     // feasible step and its gain in D
}

// newton makes a Newton step on the free variables and returns its gain. If a bound cuts a step along
// a flat direction short, it makes up to flatSteps steps, each without the variables that have
// reached their bounds: with a low-rank kernel, more variables are free than the rank allows.
func newton[T rows.Real](p problem[T], free []variable, violation float64) (gained float64, err error) {
	m := p.base()
	m.factors = 0
	for range flatSteps {
		if m.Iterations >= m.Limit {
			break
		}
		best, points, err := m.ascent(p, free, violation)
		for v := violation / 1000; err == nil && best.full > 2; v /= 1000 { // rho keeps d too short
			var next line
			if next, _, err = m.ascent(p, free, v); !(next.gain > best.gain) {
				break
			}
			best = next
		}
		if err != nil || !(best.gain > 0) {
			return gained, err
		}
		m.follow(p, points, best)
		gained += best.gain
		before := len(free)
		if free = p.free(); best.step > flat*best.full || len(free) >= before || len(free) < 2 {
			return gained, nil
		}
	}
	return gained, nil
}

// ascent returns the better line along the two Newton directions, and the points that it moves.
func (m *machine[T]) ascent(p problem[T], free []variable, violation float64) (best line, points []int, err error) {
	place := make([]int, len(free)) // index into points
	for a, v := range free {
		if len(points) == 0 || points[len(points)-1] != v.i {
			points = append(points, v.i)
		}
		place[a] = len(points) - 1
	}
	k := make([][]float64, len(points)) // rows among these points
	for a, i := range points {
		row, err := m.rows.Row(i)
		if err != nil {
			return best, nil, err
		}
		k[a] = lists.Map(points, func(j int) float64 { return float64(row[j]) })
		if m.Ended(len(row)) {
			return best, nil, nil
		}
	}
	for _, d := range m.directions(p, free, place, k, violation) {
		l, err := m.line(p, free, place, points, d)
		if err != nil {
			return best, nil, err
		}
		if l.gain > best.gain {
			best = l
		}
	}
	return best, points, nil
}

// line returns the step along d to the maximum of D or to the first bound.
func (m *machine[T]) line(p problem[T], free []variable, place, points []int, d []float64) (line, error) {
	l := line{step: math.Inf(1)}
	for range m.u {
		l.move = append(l.move, make([]float64, len(points)))
	}
	l.change = byClass(len(m.u), m.n)
	along := make([]float64, len(m.u)) // by class
	var slope, curvature float64
	for a, v := range free {
		l.move[v.plus][place[a]] += d[a]
		l.move[v.minus][place[a]] -= d[a]
		slope += d[a] * m.derivative(v)
	}
	for q, i := range points {
		row, err := m.rows.Row(i)
		if err != nil || m.Ended(0) {
			return l, err
		}
		for c, move := range l.move {
			along[c] = move[q]
		}
		m.Work += len(along) * len(row)
		rows.AddEach(together(l.change), along, row)
	}
	for c, move := range l.move {
		for q, i := range points {
			curvature += move[q] * l.change[c][i]
			lo, hi := p.bounds(i, c)
			if move[q] > 0 {
				l.step = min(l.step, (hi-m.u[c][i])/move[q])
			} else if move[q] < 0 {
				l.step = min(l.step, (lo-m.u[c][i])/move[q])
			}
		}
	}
	rises := !(curvature > 0) // within rounding, if K is positive semidefinite
	if !(slope > 0) || rises && !rows.Definite(m.k) {
		return l, nil
	}
	l.full = math.Inf(1)
	if !rises {
		l.full = slope / curvature
	}
	if l.step = min(l.step, l.full); math.IsInf(l.step, 1) { // unbounded
		return l, nil
	}
	l.gain = l.step * (slope - l.step*curvature/2)
	return l, nil
}

// follow makes the step of l.
func (m *machine[T]) follow(p problem[T], points []int, l line) {
	farthest := 0.0
	for _, move := range l.move {
		farthest = max(farthest, l.step*floats.Norm(move, math.Inf(1)))
	}
	for q, i := range points {
		for c, move := range l.move {
			lo, hi := p.bounds(i, c)
			switch d := l.step * move[q]; { // exactly, so that a variable at its bound counts as bounded
			case d == 0:
			case d >= hi-m.u[c][i]:
				m.u[c][i] = hi
			case d <= lo-m.u[c][i]:
				m.u[c][i] = lo
			default:
				m.u[c][i] += d
				if !p.balanced() && c != m.y[i] && -m.u[c][i] < dust*farthest {
					m.u[c][i] = 0
				}
			}
		}
		if _, hi := p.bounds(i, m.y[i]); m.u[m.y[i]][i] < hi {
			m.own(i)
		}
	}
	for c, change := range l.change {
		floats.AddScaled(m.f[c], l.step, change)
	}
	m.exact = false
	m.Iterations++
	m.Objective += l.gain
}

// directions returns two moves of the free variables: one that ends at the bounds it would cross,
// and one that ignores them.
func (m *machine[T]) directions(p problem[T], free []variable, place []int, k [][]float64, violation float64) (moves [][]float64) {
	largest := 0.0
	for _, u := range m.u {
		largest = max(largest, floats.Norm(u, math.Inf(1)))
	}
	rho := newtonRho * violation / largest
	move, left := make([]float64, len(free)), make([]float64, len(free)) // d, and g without the moves to bounds
	inside := make([]int, len(free))
	for a, v := range free {
		inside[a], left[a] = a, m.derivative(v)
	}
	given, taken := make([]float64, len(k)), make([]float64, len(k)) // total of the moves to bounds, by point
	sums := make([]float64, len(m.u))                                // contributions of the moves to bounds to sum_i u_ic
	for len(inside) > 0 {
		var d []float64
		if p.balanced() {
			d = m.balancedMoves(free, inside, place, k, left, rho, sums)
		} else if h := m.second(free, inside, place, k, rho); h.Rows > 0 {
			d = lists.At(left, inside)
			dense.Solve(h, d)
		}
		if d == nil {
			break
		}
		if moves == nil {
			moves = [][]float64{d}
		}
		for q, a := range inside {
			move[a] = min(max(d[q], free[a].down), free[a].up)
		}
		clear(given)
		clear(taken)
		for a := range free {
			given[place[a]] += max(0, move[a])
			taken[place[a]] -= min(0, move[a])
		}
		var stay, gone []int
		for q, a := range inside {
			v := free[a]
			over := given[place[a]] > v.both+taken[place[a]]
			if over && move[a] > 0 {
				move[a] *= (v.both + taken[place[a]]) / given[place[a]]
			}
			if over || d[q] <= v.down || d[q] >= v.up {
				gone = append(gone, a)
			} else {
				stay = append(stay, a)
			}
		}
		if len(gone) == 0 {
			return append([][]float64{move}, moves...)
		}
		for _, a := range gone {
			v := free[a]
			sums[v.plus] += move[a]
			sums[v.minus] -= move[a]
			for _, b := range stay {
				if sign := v.times(free[b]); sign != 0 {
					left[b] -= move[a] * sign * k[place[a]][place[b]]
				}
			}
		}
		inside = stay
	}
	if len(inside) == 0 && moves != nil && !p.balanced() {
		return append([][]float64{move}, moves...)
	}
	return moves
}

// second returns the Cholesky factor of H + rho I for the variables inside, empty if that is not
// positive definite or ctx has ended.
func (m *machine[T]) second(free []variable, inside, place []int, k [][]float64, rho float64) blas64.General {
	m.factors++
	n, part := len(inside), make([]float64, len(m.u))
	h := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)} // upper triangle
	for q, a := range inside {
		row, v, ka := h.Data[q*n:][:n], free[a], k[place[a]]
		part[v.plus], part[v.minus] = 1, -1
		for r := q; r < n; r++ {
			b := inside[r]
			row[r] = (part[free[b].plus] - part[free[b].minus]) * ka[place[b]]
		}
		part[v.plus], part[v.minus] = 0, 0
		row[q] += rho
	}
	if ok, err := dense.Cholesky(m.Context, h); !ok || err != nil {
		return blas64.General{}
	}
	return h
}

// balancedMoves solves for d with A d = -sums. Among connected classes one sum follows from the
// others and is left out of A.
func (m *machine[T]) balancedMoves(free []variable, inside, place []int, k [][]float64, left []float64, rho float64, sums []float64) []float64 {
	group := lists.Make(len(m.u), func(c int) int { return c }) // first class that each is connected to
	for _, a := range inside {
		from, to := group[free[a].plus], group[free[a].minus]
		for c, g := range group {
			if g == max(from, to) {
				group[c] = min(from, to)
			}
		}
	}
	rest := make([]float64, len(m.u))
	for c, g := range group {
		rest[g] += sums[c]
	}
	if floats.Norm(rest, 1) > 0x1p-40*floats.Norm(sums, 1) {
		return nil // nothing inside can restore the sum of a class
	}
	h := m.second(free, inside, place, k, rho)
	if h.Rows == 0 {
		return nil
	}
	d := lists.At(left, inside)
	dense.Solve(h, d)
	var classes []int
	var columns [][]float64 // of H⁻¹ A'
	for c, g := range group {
		if c == g {
			continue
		}
		e := lists.Map(inside, func(a int) float64 { return free[a].adds(c) })
		dense.Solve(h, e)
		classes, columns = append(classes, c), append(columns, e)
	}
	n := len(classes)
	if n == 0 {
		return nil
	}
	s := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)} // A H⁻¹ A'
	for r, c := range classes {
		for q, a := range inside {
			if sign := free[a].adds(c); sign != 0 {
				for t := r; t < n; t++ {
					s.Data[r*n+t] += sign * columns[t][q]
				}
			}
		}
	}
	if ok, err := dense.Cholesky(m.Context, s); !ok || err != nil {
		return nil
	}
	beta := make([]float64, n)
	for range 3 { // refinement against rounding
		for r, c := range classes {
			beta[r] = sums[c]
			for q, a := range inside {
				beta[r] += free[a].adds(c) * d[q]
			}
		}
		dense.Solve(s, beta)
		for r, e := range columns {
			floats.AddScaled(d, -beta[r], e)
		}
	}
	return d
}

// adds returns the contribution of v to sum_i u_ic.
func (v variable) adds(c int) float64 {
	switch c {
	case v.plus:
		return 1
	case v.minus:
		return -1
	}
	return 0
}

const (
	newtonFree = 1500 // maximal number of free variables
	newtonRho  = 3    // rho, as a multiple of the violation over the largest coefficient
	flat       = 1e-6 // fraction of the full step below which a direction counts as flat
	flatSteps  = 8    // maximal number of steps within a Newton step
)

// newtonSteps returns the number of small steps before a Newton step: about as many as take the same
// time, and at least each per point, for n points.
func newtonSteps(free, n, each int) int { return max(each*n, free*free/40*free/n) }
