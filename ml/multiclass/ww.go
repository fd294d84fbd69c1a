package multiclass

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
)

// westonWatkins solves the problem of Weston and Watkins (ESANN 1999), with a bias per class and
// a slack for every wrong class of every point:
//
//	minimise  1/2 sum_c |w_c|² + C sum_i sum_{c != y_i} xi_ic
//	subject to  f_{y_i}(x_i) - f_c(x_i) >= 1 - xi_ic,  xi_ic >= 0
//
// In its dual, D(u) of machine.go, alpha_ic is in [0, C], and the biases require sum_i u_ic = 0
// for every class c. So alpha is a circulation between the classes: alpha_ic flows from y_i to c,
// and inflow equals outflow. It can be changed along cycles of classes. Let
//
//	M_dc = the largest of  g_ic over the points of d with alpha_ic < C
//	                 and  -g_id over the points of c with alpha_id > 0:
//
// be the derivative of D by flow from d to c. The KKT conditions are that biases exist with
// b_d - b_c >= M_dc for all d != c, which holds if and only if no cycle has a positive sum of M.
// The violation is 2 lambda, with lambda the largest mean of M over a cycle; for two classes it is
// m(a) - M(a) of their binary machine. Let P_dc be the largest sum of M - lambda on a path from d to
// c. Biases with b_d - b_c >= M_dc - lambda, in the middle of the feasible range, are
//
//	b_c = 1/2k sum_d (P_cd - P_dc).
//
// Their sum is 0. Certificate: with slacks xi_ic = max(0, g_ic - b_{y_i} + b_c) the primal objective
// exceeds D by sum_ic (C xi_ic - alpha_ic (g_ic - b_{y_i} + b_c)), to which every variable adds at
// most C lambda.
//
// The method is sequential minimal optimisation on cycles. If the worst cycle has two classes,
// they are trained as a binary machine: pairs of their points are selected by second-order gain
// (Fan, Chen, Lin, JMLR 6, 2005) until the violation is halved; then F is updated for the points of
// other classes. On a longer cycle, the variables that attain its M make a step; then only its
// classes are considered until their violation is halved.
type westonWatkins[T rows.Real] struct {
	*machine[T]
	edges [][]edge    // M by the class that flow leaves and the class it enters
	all   []int       // the classes
	best  [][]float64 // scratch of worst
	from  [][]int     // scratch of worst

	// State of a turn. The points of one class are followed by the points of the other.
	v, h     []float64 // signed variables and their derivatives
	up, low  []float64 // see package rows
	pairDiag []float64 // K_ii
	ki, kj   []T       // parts of two rows
	sum      []float64 // change of F
	moved    []int     // indices moved in the turn
}

// edge is an M_dc and the point whose variable attains it, -1 if there is none.
type edge struct {
	gain  float64
	point int
}

func newWestonWatkins[T rows.Real](m *machine[T]) *westonWatkins[T] {
	p := &westonWatkins[T]{machine: m}
	for c := range m.u {
		p.edges = append(p.edges, make([]edge, len(m.u)))
		p.all = append(p.all, c)
	}
	for range len(m.u) + 1 {
		p.best, p.from = append(p.best, make([]float64, len(m.u))), append(p.from, make([]int, len(m.u)))
	}
	size := rows.Padded(m.n)
	for _, v := range []*[]float64{&p.v, &p.h, &p.up, &p.low, &p.pairDiag, &p.sum} {
		*v = make([]float64, size)
	}
	p.ki, p.kj = make([]T, size), make([]T, size)
	return p
}

func (p *westonWatkins[T]) on(m *machine[T]) problem[T] { return newWestonWatkins(m) }

// look computes all M among the given classes.
func (p *westonWatkins[T]) look(classes []int) {
	for _, d := range classes {
		for _, c := range classes {
			p.edges[d][c] = edge{math.Inf(-1), -1}
		}
	}
	for _, d := range classes {
		from, to := p.start[d], p.start[d+1]
		own := p.f[d][from:to]
		for _, c := range classes {
			if c == d {
				continue
			}
			out, in, outAt, inAt := rows.Look(own, p.f[c][from:to], p.u[c][from:to], p.c)
			if out > p.edges[d][c].gain {
				p.edges[d][c] = edge{out, from + outAt}
			}
			if in > p.edges[c][d].gain {
				p.edges[c][d] = edge{in, from + inAt}
			}
		}
	}
}

// worst returns the cycle with the largest mean (Karp 1978) among the given classes, in the order of
// flow, and that mean, or nil and -Inf if there is no cycle.
func (p *westonWatkins[T]) worst(classes []int) (cycle []int, mean float64) {
	k := len(classes)
	best, from := p.best[:k+1], p.from[:k+1] // largest sum of a walk of l edges that ends at classes[c], and the index of its previous class
	clear(best[0])
	for l := 1; l <= k; l++ {
		for c, cc := range classes {
			most, at := math.Inf(-1), 0
			for d, dd := range classes {
				if v := best[l-1][d] + p.edges[dd][cc].gain; d != c && v > most {
					most, at = v, d
				}
			}
			best[l][c], from[l][c] = most, at
		}
	}
	end, mean := -1, math.Inf(-1)
	for c, whole := range best[k][:k] {
		if math.IsInf(whole, -1) {
			continue
		}
		least := math.Inf(1)
		for l := range k {
			if !math.IsInf(best[l][c], -1) {
				least = min(least, (whole-best[l][c])/float64(k-l))
			}
		}
		if least > mean {
			end, mean = c, least
		}
	}
	if end < 0 {
		return nil, mean
	}
	// The walk of k edges to end contains a cycle.
	walk := []int{end}
	for l := k; ; l-- {
		c := from[l][walk[len(walk)-1]]
		if at := slices.Index(walk, c); at >= 0 {
			cycle = walk[at:]
			break
		}
		walk = append(walk, c)
	}
	slices.Reverse(cycle) // found in reverse
	for a, c := range cycle {
		cycle[a] = classes[c]
	}
	mean = 0
	for a, d := range cycle {
		mean += p.edges[d][cycle[(a+1)%len(cycle)]].gain
	}
	return cycle, mean / float64(len(cycle))
}

func (p *westonWatkins[T]) violation() float64 {
	p.look(p.all)
	_, mean := p.worst(p.all)
	if math.IsNaN(mean) {
		return mean
	}
	return max(0, 2*mean)
}

func (p *westonWatkins[T]) biases() []float64 {
	p.look(p.all)
	_, mean := p.worst(p.all)
	k := len(p.u)
	path := make([][]float64, k)
	for d := range k {
		path[d] = make([]float64, k)
		for c := range k {
			if c != d {
				path[d][c] = p.edges[d][c].gain - mean
			}
		}
	}
	for e := range k {
		for d := range k {
			for c := range k {
				if c != d {
					path[d][c] = max(path[d][c], path[d][e]+path[e][c])
				}
			}
		}
	}
	b := make([]float64, k)
	for c := range k {
		for d := range k {
			b[c] += (path[c][d] - path[d][c]) / float64(2*k)
		}
	}
	return b
}

// unsettled omits the points whose variables are all at bounds, pushed there by g for all possible
// biases.
func (p *westonWatkins[T]) unsettled() []int {
	b := p.biases()
	_, mean := p.worst(p.all)
	var points []int
	for i, y := range p.y {
		for c := range p.u {
			if c == y {
				continue
			}
			r := 1 - p.f[y][i] + p.f[c][i] - b[y] + b[c]
			if u := p.u[c][i]; !(u == 0 && r < -mean || u == -p.c && r > mean) {
				points = append(points, i)
				break
			}
		}
	}
	return points
}

// free returns the variables strictly between 0 and C.
func (p *westonWatkins[T]) free() (vs []variable) {
	for i, y := range p.y {
		for c := range p.u {
			if u := p.u[c][i]; c != y && -p.c < u && u < 0 {
				vs = append(vs, variable{i: i, plus: y, minus: c, down: u, up: p.c + u, both: math.Inf(1)})
			}
		}
	}
	return vs
}

func (p *westonWatkins[T]) each() int { return 4 }

func (p *westonWatkins[T]) bounds(i, c int) (lo, hi float64) {
	if c == p.y[i] {
		return math.Inf(-1), math.Inf(1)
	}
	return -p.c, 0
}

func (p *westonWatkins[T]) balanced() bool { return true }

func (p *westonWatkins[T]) climb(goal float64, steps int) (bool, error) {
	end := min(p.Iterations+steps, p.Limit)
	classes, half := p.all, 0.0
	for p.Iterations < end {
		p.look(classes)
		cycle, mean := p.worst(classes)
		if p.Ended(2 * len(p.y) * len(classes)) {
			return false, nil
		}
		whole := len(classes) == len(p.all)
		if whole {
			p.Report(2 * mean)
			if !(2*mean > goal) {
				return true, nil
			}
		} else if !(mean > half) {
			classes = p.all
			continue
		}
		before := p.Iterations
		var err error
		if len(cycle) == 2 {
			err = p.turn(cycle[0], cycle[1], max(goal, mean), end)
		} else {
			if whole {
				half = max(goal, mean) / 2
			}
			classes = slices.Sorted(slices.Values(cycle))
			err = p.step(cycle, mean*float64(len(cycle)))
		}
		if err != nil || p.Ended(0) {
			return false, err
		}
		if p.Iterations == before {
			if whole {
				return true, nil
			}
			classes = p.all
		}
	}
	return true, nil
}

// step changes the flow along a cycle to the maximum of D or to the first bound. slope is the sum of
// M over the cycle.
func (p *westonWatkins[T]) step(cycle []int, slope float64) error {
	k := len(cycle)
	room, curvature := math.Inf(1), 0.0
	point := func(a int) int { return p.edges[cycle[a%k]][cycle[(a+1)%k]].point }
	for a, d := range cycle {
		out, in := point(a), point(a+k-1)
		room = min(room, p.room(out, d, cycle[(a+1)%k]))
		row, err := p.rows.Row(out)
		if err != nil {
			return err
		}
		curvature += p.diag[out] + p.diag[in] - 2*float64(row[in])
	}
	step := min(room, slope/rows.Guarded(curvature))
	if math.IsNaN(step) || math.IsInf(step, 0) {
		return ErrOverflow
	}
	moved := false
	change := make([]float64, len(p.u))
	for a, d := range cycle {
		c, i := cycle[(a+1)%k], point(a)
		was := p.u[d][i]
		if p.y[i] == d {
			p.hold(i, c, towards(-p.u[c][i], step, p.c))
		} else {
			p.hold(i, d, towards(-p.u[d][i], -step, p.c))
		}
		moved = moved || p.u[d][i] != was
		clear(change)
		change[d], change[c] = step, -step
		if err := p.add(i, change); err != nil {
			return err
		}
	}
	if moved {
		p.Iterations++
		p.Objective += step * (slope - step*curvature/2)
	}
	return nil
}

// room returns the largest change of the variable of point i for the flow from d to c.
func (p *westonWatkins[T]) room(i, d, c int) float64 {
	if p.y[i] == d {
		return p.c + p.u[c][i]
	}
	return -p.u[d][i]
}

// towards returns alpha after a step, clipped to [0, c].
func towards(alpha, step, c float64) float64 {
	switch {
	case step >= c-alpha:
		return c
	case step <= -alpha:
		return 0
	}
	return alpha + step
}

// side is one class of a turn, the other class, its points and the bounds of their v.
type side struct {
	class, other int
	from, to     int
	lo, hi       float64
}

// turn makes steps on pairs of points of classes a and b until their violation is at most goal, the
// iteration end is reached or a step changes nothing. The two classes are a binary machine with the
// kernel 2K and positive class a: its variables are v_i = alpha_ib or -alpha_ia, with the derivatives
// h_i = ±1 - F_ai + F_bi.
func (p *westonWatkins[T]) turn(a, b int, goal float64, end int) error {
	sides := [2]side{
		{class: a, other: b, from: p.start[a], to: p.start[a+1], hi: p.c},
		{class: b, other: a, from: p.start[b], to: p.start[b+1], lo: -p.c},
	}
	n := sides[0].to - sides[0].from + sides[1].to - sides[1].from
	size := rows.Padded(n)
	h, up, low, diag, ki, kj := p.h[:size], p.up[:size], p.low[:size], p.pairDiag[:size], p.ki[:size], p.kj[:size]
	for k := n; k < size; k++ {
		up[k], low[k] = math.Inf(-1), math.Inf(1)
	}
	k := 0
	for at, sign := range []float64{1, -1} {
		s := sides[at]
		u := p.u[s.other][s.from:s.to]
		copy(diag[k:], p.diag[s.from:s.to])
		floats.ScaleTo(p.v[k:][:len(u)], -sign, u)
		rows.Pair(h[k:], up[k:], low[k:], p.f[a][s.from:s.to], p.f[b][s.from:s.to], u, sign, p.c)
		k += len(u)
	}
	i := p.place(sides, p.edges[a][b].point)
	p.moved = p.moved[:0]
	for end = min(end, p.Iterations+2*n); p.Iterations < end; {
		if err := p.pick(ki, sides, i); err != nil {
			return err
		}
		j, violation := rows.Partner(h, low, diag, ki, h[i], diag[i])
		if violation <= goal || j < 0 {
			break
		}
		if err := p.pick(kj, sides, j); err != nil {
			return err
		}
		step, err := p.pair(sides, i, j, float64(ki[j]))
		if err != nil {
			return err
		}
		if step == 0 {
			break
		}
		p.Iterations++
		p.moved = append(p.moved, i, j)
		i = rows.Update(h, up, ki, kj, 2*step)
		if p.Ended(4 * n) {
			break
		}
	}
	return p.settle(sides)
}

// of returns the side and the index of the k-th point of a turn.
func (p *westonWatkins[T]) of(sides [2]side, k int) (side, int) {
	if first := sides[0].to - sides[0].from; k >= first {
		return sides[1], sides[1].from + k - first
	}
	return sides[0], sides[0].from + k
}

// place returns the position of point i in a turn.
func (p *westonWatkins[T]) place(sides [2]side, i int) int {
	if s := sides[0]; i >= s.from && i < s.to {
		return i - s.from
	}
	return sides[0].to - sides[0].from + i - sides[1].from
}

// pick copies the columns of both classes from the row of the k-th point of a turn.
func (p *westonWatkins[T]) pick(dst []T, sides [2]side, k int) error {
	_, i := p.of(sides, k)
	row, err := p.rows.Row(i)
	if err != nil {
		return err
	}
	n := copy(dst, row[sides[0].from:sides[0].to])
	copy(dst[n:], row[sides[1].from:sides[1].to])
	return nil
}

// mark records whether v_k can increase and decrease.
func (p *westonWatkins[T]) mark(k int, s side) {
	p.up[k], p.low[k] = 0, 0
	if p.v[k] >= s.hi {
		p.up[k] = math.Inf(-1)
	}
	if p.v[k] <= s.lo {
		p.low[k] = math.Inf(1)
	}
}

// pair moves v_i up and v_j down by the same amount to the maximum of D or to the first bound,
// and returns the amount.
func (p *westonWatkins[T]) pair(sides [2]side, i, j int, kij float64) (float64, error) {
	si, _ := p.of(sides, i)
	sj, _ := p.of(sides, j)
	curvature := 2 * (p.pairDiag[i] + p.pairDiag[j] - 2*kij)
	slope := p.h[i] - p.h[j]
	toHi, toLo := si.hi-p.v[i], p.v[j]-sj.lo
	step := min(toHi, toLo, slope/rows.Guarded(curvature))
	if math.IsNaN(step) || math.IsInf(step, 0) {
		return 0, ErrOverflow
	}
	vi, vj := p.v[i]+step, p.v[j]-step
	if step == toHi { // exactly, so that the variable counts as bounded
		vi = si.hi
	}
	if step == toLo {
		vj = sj.lo
	}
	if vi == p.v[i] && vj == p.v[j] {
		return 0, nil
	}
	p.v[i], p.v[j] = vi, vj
	p.mark(i, si)
	p.mark(j, sj)
	p.Objective += step * (slope - step*curvature/2)
	return step, nil
}

// settle copies the variables changed by a turn to u and updates F.
func (p *westonWatkins[T]) settle(sides [2]side) error {
	clear(p.sum)
	for _, k := range p.moved {
		s, i := p.of(sides, k)
		sign := 1.0
		if s == sides[1] {
			sign = -1
		}
		change := p.v[k] + sign*p.u[s.other][i]
		if change == 0 { // moved twice
			continue
		}
		row, err := p.rows.Row(i)
		if err != nil {
			return err
		}
		rows.AddScaled(p.sum, change, row)
		p.Work += len(row)
		p.hold(i, s.other, sign*p.v[k])
		p.exact = false
	}
	floats.Add(p.f[sides[0].class], p.sum)
	floats.Sub(p.f[sides[1].class], p.sum)
	return nil
}

// slack returns the sum of the slacks of all wrong classes.
func (p *westonWatkins[T]) slack(i int, b []float64) (sum float64) {
	y := p.y[i]
	for c := range p.u {
		if c != y {
			sum += max(0, 1-p.f[y][i]+p.f[c][i]-b[y]+b[c])
		}
	}
	return sum
}
