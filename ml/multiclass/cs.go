package multiclass

import (
	"cmp"
	"math"
	"slices"

	"marginlab/ml/lists"
	"marginlab/ml/rows"
)

// crammerSinger solves the problem of Crammer and Singer (JMLR 2, 2001), with no biases and one
// slack per point, for the wrong class with the largest f:
//
//	minimise  1/2 sum_c |w_c|² + C sum_i xi_i
//	subject to  f_{y_i}(x_i) - f_c(x_i) >= 1 - xi_i  for all c != y_i,  xi_i >= 0
//
// In its dual, D(u) of machine.go is subject to sum_c alpha_ic <= C for every point i, so that
// only F couples the points. "No class" counts as one more class, with derivative 0 and the rest
// of C as its share. At the maximum, moving alpha from a class with a positive share to class c must
// not raise D. The KKT conditions are therefore
//
//	v_i = (largest g_ic) - (smallest g_ic of classes with a share) <= 0
//
// for all i, both over the wrong classes and "no class". Certificate: with slacks xi_i = max(0,
// largest g_ic) the primal objective exceeds D by sum_i (C xi_i - sum_c alpha_ic g_ic) <= C sum_i
// v_i.
//
// The method is sequential dual coordinate ascent (Keerthi, Sundararajan, Chang, Hsieh, Lin, KDD
// 2008): it sets all alpha_ic of one point to their joint maximum by a threshold on k numbers,
// see Maximise. It visits the points with v_i above a quarter of the largest until none is left,
// then recomputes the largest.
type crammerSinger[T rows.Real] struct {
	*machine[T]
	v      []float64 // most recently computed v_i
	least  []float64 // smallest g_ic of classes with a share, used in v_i
	change []float64 // of u_i, by class
	shares []Share
}

// Share is the part alpha_ic of a point's C for one wrong class, and the derivative of D by it.
type Share struct {
	Class          int
	Size, Gradient float64
}

func newCrammerSinger[T rows.Real](m *machine[T]) *crammerSinger[T] {
	return &crammerSinger[T]{machine: m, v: make([]float64, m.n), least: make([]float64, m.n), change: make([]float64, len(m.u))}
}

func (p *crammerSinger[T]) on(m *machine[T]) problem[T] { return newCrammerSinger(m) }

// gradient returns g_ic.
func (p *crammerSinger[T]) gradient(i, c int) float64 { return 1 - p.f[p.y[i]][i] + p.f[c][i] }

// at returns the largest g_ic and the smallest g_ic of classes with a share.
func (p *crammerSinger[T]) at(i int) (most, least float64) {
	y := p.y[i]
	most, least = 0, math.Inf(1)
	if p.u[y][i] < p.c {
		least = 0
	}
	own := p.f[y][i]
	for c, f := range p.f {
		if c == y {
			continue
		}
		g := 1 - own + f[i]
		most = max(most, g)
		if p.u[c][i] < 0 {
			least = min(least, g)
		}
	}
	return most, least
}

func (p *crammerSinger[T]) violation() float64 {
	for y, u := range p.u {
		from, to := p.start[y], p.start[y+1]
		most, least := p.v[from:to], p.least[from:to]
		clear(most)
		for k, share := range u[from:to] {
			least[k] = math.Inf(1)
			if share < p.c {
				least[k] = 0
			}
		}
		for c := range p.u {
			if c != y {
				rows.Bracket(most, least, p.f[y][from:to], p.f[c][from:to], p.u[c][from:to])
			}
		}
	}
	worst := 0.0
	for i, least := range p.least {
		p.v[i] -= least
		if p.v[i] > worst || math.IsNaN(p.v[i]) {
			worst = p.v[i]
		}
	}
	return worst
}

// unsettled omits the points with a single share whose g_ic is the largest by more than the
// violation.
func (p *crammerSinger[T]) unsettled() []int {
	worst := p.violation()
	var points []int
	for i, y := range p.y {
		first, second := math.Inf(-1), math.Inf(-1)
		share := 0
		note := func(g float64, has bool) {
			if has {
				share++
			}
			switch {
			case g > first:
				first, second = g, first
			case g > second:
				second = g
			}
		}
		note(0, p.u[y][i] < p.c)
		for c := range p.f {
			if c != y {
				note(p.gradient(i, c), p.u[c][i] < 0)
			}
		}
		if most, least := p.at(i); share > 1 || most > least || first-second <= worst {
			points = append(points, i)
		}
	}
	return points
}

// free pairs, for each point, the class with the largest share and every other class with a share.
// The point's own class has the share of "no class".
func (p *crammerSinger[T]) free() (vs []variable) {
	for i, y := range p.y {
		has := func(c int) float64 {
			if c == y {
				return p.c - p.u[y][i]
			}
			return -p.u[c][i]
		}
		most := y
		for c := range p.u {
			if has(c) > has(most) {
				most = c
			}
		}
		for c := range p.u {
			if s := has(c); c != most && s > 0 {
				vs = append(vs, variable{i: i, plus: most, minus: c, down: -s, up: math.Inf(1), both: has(most)})
			}
		}
	}
	return vs
}

func (p *crammerSinger[T]) each() int { return 2 }

func (p *crammerSinger[T]) bounds(i, c int) (lo, hi float64) {
	if c == p.y[i] {
		return 0, p.c
	}
	return -p.c, 0
}

func (p *crammerSinger[T]) balanced() bool { return false }

func (p *crammerSinger[T]) climb(goal float64, steps int) (bool, error) {
	end := min(p.Iterations+steps, p.Limit)
	for p.Iterations < end {
		worst := p.violation()
		if p.Ended(2 * len(p.y) * len(p.u)) {
			return false, nil
		}
		p.Report(worst)
		if !(worst > goal) {
			return true, nil
		}
		enough, before := max(goal, worst/4), p.Iterations
		turn := lists.Where(len(p.v), func(i int) bool { return p.v[i] > enough })
		for len(turn) > 0 && p.Iterations < end {
			next := turn[:0]
			for _, i := range turn {
				if most, least := p.at(i); !(most-least > enough) || !p.best(i) {
					continue
				}
				next = append(next, i)
				if err := p.add(i, p.change); err != nil {
					return false, err
				}
				if p.Iterations++; p.Iterations >= end || p.Ended(0) {
					break
				}
			}
			turn = next
			if p.Ended(len(turn)) {
				return false, nil
			}
		}
		if p.Iterations == before {
			return true, nil
		}
	}
	return true, nil
}

// best moves the variables of point i to their joint maximum of D with all others fixed, stores the
// change of u_i in change, and reports whether u_i changed.
func (p *crammerSinger[T]) best(i int) bool {
	y, curvature := p.y[i], p.diag[i]
	p.shares = p.shares[:0]
	for c := range p.u {
		if p.change[c] = -p.u[c][i]; c != y {
			p.shares = append(p.shares, Share{c, -p.u[c][i], p.gradient(i, c)})
		}
	}
	full := Maximise(p.shares, p.u[y][i], curvature, p.c)
	gain := 0.0
	for _, e := range p.shares {
		gain += (e.Size + p.u[e.Class][i]) * e.Gradient
		p.u[e.Class][i] = 0 - e.Size // and not -0
	}
	p.own(i)
	if full { // exactly, so that it counts as bounded
		p.u[y][i] = p.c
	}
	square, changed := 0.0, false
	for c := range p.u {
		p.change[c] += p.u[c][i]
		square += p.change[c] * p.change[c]
		changed = changed || p.change[c] != 0
	}
	p.Objective += gain - curvature*square/2
	return changed
}

// dust is the size of a sum, relative to its terms, below which it counts as a rounding error.
const dust = 0x1p-44

// Maximise sets the shares of all wrong classes of a point to the joint maximum of D with all
// other points fixed, sorts them in descending order, and reports whether their sum is C. sum is
// the current sum of the shares and curvature is K_ii. With e_c = alpha_ic + sum + g_ic / K_ii
// the maximum is
//
//	alpha_ic = max(0, e_c - t),
//
// where t is the new sum if that is at most C; otherwise t makes the sum C.
func Maximise(shares []Share, sum, curvature, c float64) (full bool) {
	terms := sum // the largest term in the sums e_c
	for k := range shares {
		e := &shares[k]
		if curvature > 0 {
			terms = max(terms, math.Abs(e.Gradient/curvature))
			e.Size = sum + e.Size + e.Gradient/curvature
		} else { // a corner is the maximum
			e.Size = e.Gradient
		}
	}
	slices.SortFunc(shares, func(a, b Share) int { return cmp.Compare(b.Size, a.Size) })
	if !(curvature > 0) {
		full = shares[0].Size > 0
		for k := range shares {
			shares[k].Size = 0
		}
		if full {
			shares[0].Size = c
		}
		return full
	}
	t := 0.0
	sum = 0
	for k, e := range shares {
		if e.Size <= t {
			break
		}
		sum += e.Size
		t = sum / float64(k+2)
	}
	if full = t >= c; full {
		sum, t = -c, math.Inf(-1)
		for k, e := range shares {
			if e.Size <= t {
				break
			}
			sum += e.Size
			t = sum / float64(k+1)
		}
	}
	rest := c
	for k, e := range shares {
		if shares[k].Size = min(max(0, e.Size-t), rest); shares[k].Size < dust*terms {
			shares[k].Size = 0
		}
		rest -= shares[k].Size
	}
	if full {
		shares[0].Size = min(shares[0].Size+rest, c) // left by rounding
	}
	return full
}

// biases returns zeros.
func (p *crammerSinger[T]) biases() []float64 { return make([]float64, len(p.u)) }

// slack returns the slack of the wrong class with the largest f.
func (p *crammerSinger[T]) slack(i int, _ []float64) float64 {
	most, _ := p.at(i)
	return most
}
