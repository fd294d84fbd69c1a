package mcm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/trace"
)

// matrix is an m x n matrix accessed through products.
type matrix interface {
	// mulT sets dst = A'z; len(z) = m, len(dst) = n.
	mulT(dst, z []float64)
	// mul sets dst = sum_t x_t A[:, cols_t]; len(dst) = m.
	mul(dst []float64, cols []int, x []float64)
}

// simplex solves a linear program in boxed form,
//
//	minimise c'x   subject to   A x + s = 0,   lo <= (x, s) <= up,
//
// where A is m x n and s holds one slack per row: a row is an equation if its slack is fixed at 0
// and a range otherwise. Variable j < n is x_j, variable n+i is s_i.
//
// The method is the revised dual simplex. Since every variable is boxed, any basis is dual
// feasible once each nonbasic variable is at the bound indicated by the sign of its reduced cost.
// There is no phase 1, and after a change of bounds, costs or rows the solver continues from the
// current basis.
//
//   - Pricing is dual steepest edge (Forrest and Goldfarb 1992). The weights are
//     the squared norms of the rows of the basis inverse, within some percent; it is kept dense.
//   - The ratio test passes breakpoints as long as the dual objective rises,
//     moving the boxed variables it passes to their other bound (Maros 2003), and
//     takes the largest pivot among nearly tied breakpoints (Harris 1973). It is
//     an exact line search on the piecewise linear dual function.
//   - When the objective stalls, costs are perturbed at random against cycling;
//     restore undoes that.
//   - The inverse is rebuilt from the columns of the basis at intervals, when a
//     pivot differs between its row and its column, and when iterative refinement
//     finds it inaccurate. A slack replaces a dependent column. Optimality is
//     declared only for freshly computed x and d.
type simplex struct {
	a      matrix
	m, n   int
	cost   []float64 // given costs
	lo, up []float64

	head []int     // basic variable at each position
	inv  inverse   // of the basis
	x    []float64 // values of all variables
	dir  []float64 // +1 at the lower bound, -1 at the upper, 0 basic or fixed
	pos  []int     // position in the basis, or -1
	d    []float64 // reduced costs
	c    []float64 // current costs: cost, perturbed or shifted

	feasTol, optTol float64 // primal and dual tolerance, see tolerance
	known           float64 // relative to the largest |x|: accuracy of a basic variable
	perturbations   int     // number of perturbations of the costs
	restored        int     // number of restorations of the costs
	shifted         bool    // c differs from cost
	restoring       bool    // costs were just restored; x and d are not yet recomputed
	stalled         int     // iterations since the dual objective last rose
	stale           bool    // x and d must be recomputed
	fresh           bool    // x and d are freshly computed
	age             int     // pivots since the inverse was built
	scale           float64 // largest |x| since x was computed

	iterations, maxIter int
	report              func(s *simplex)

	alpha    []float64 // pivot row, all variables
	col, z   []float64 // m
	row      []float64 // m, row of inv at the leaving position
	sum      []float64 // m, of the columns of flips times steps
	moved    []float64 // m, B^-1 sum
	breaks   breakpoints
	lastStep float64 // of the reduced costs
	passed   []breakpoint
	flips    []int
	tied     []int
	steps    []float64
}

const (
	pivotTol    = 1e-9  // smaller entries of the pivot row count as zero
	goodPivot   = 1e-5  // smaller pivots are avoided if possible
	dependent   = 1e-10 // a basis column whose largest pivot is smaller is dependent
	flipTol     = 1e-7  // reduced costs with a smaller error are corrected by a shift
	rounding    = 1e-13 // accuracy of a basic variable, relative to the largest |x|, or of a reduced cost, relative to the largest multiplier
	idleLimit   = 50    // consecutive computations of x and d without progress before giving up
	stallLimit  = 30    // steps without progress before costs are perturbed
	minRebuild  = 100   // minimal number of pivots between rebuilds of the inverse
	inaccurate  = 1e-7  // an error that refinement leaves above this requires rebuilding the inverse
	refinements = 4     // of x or d at most; nearly parallel columns need more than one
)

// newSimplex returns the solver at the all-slack basis of A with the given costs and bounds of x,
// followed by the bounds of the slacks.
func newSimplex(a matrix, cost, lo, up []float64, rows int) *simplex {
	n := len(cost)
	s := &simplex{
		a: a, n: n,
		cost: append(make([]float64, 0, n+rows), cost...),
		lo:   append(make([]float64, 0, n+rows), lo[:n]...),
		up:   append(make([]float64, 0, n+rows), up[:n]...),
		x:    make([]float64, n, n+rows), dir: make([]float64, n, n+rows), d: make([]float64, n, n+rows),
		pos: make([]int, n, n+rows), c: append(make([]float64, 0, n+rows), cost...),
		alpha:   make([]float64, n, n+rows),
		maxIter: math.MaxInt,
	}
	s.loosen()
	for j := range s.pos {
		s.pos[j] = -1
		s.setNonbasic(j, cost[j] < 0)
	}
	for i := range rows {
		s.appendRow(lo[n+i], up[n+i])
	}
	s.stale = true
	return s
}

// addRow registers a new last row of A whose slack has the given bounds. The slack becomes basic,
// in general outside its bounds.
func (s *simplex) addRow(lo, up float64) {
	i := s.m
	s.appendRow(lo, up)
	clear(s.z)
	s.z[i] = 1
	s.a.mulT(s.alpha[:s.n], s.z) // the new row
	row := s.inv.rows[i]
	for k, j := range s.head[:i] {
		if j < s.n && s.alpha[j] != 0 {
			floats.AddScaled(row, -s.alpha[j], s.inv.rows[k])
		}
	}
	s.inv.norm[i] = floats.Dot(row, row)
	s.x[s.n+i] = -floats.Dot(s.alpha[:s.n], s.x[:s.n])
}

// appendRow allocates a zero row.
func (s *simplex) appendRow(lo, up float64) {
	s.inv.append()
	s.head, s.pos = append(s.head, s.n+s.m), append(s.pos, s.m)
	s.cost, s.c, s.d = append(s.cost, 0), append(s.c, 0), append(s.d, 0)
	s.lo, s.up = append(s.lo, lo), append(s.up, up)
	s.x, s.dir, s.alpha = append(s.x, 0), append(s.dir, 0), append(s.alpha, 0)
	for _, v := range []*[]float64{&s.col, &s.z, &s.row, &s.moved, &s.sum} {
		*v = append(*v, 0)
	}
	s.m++
	s.fresh = false
}

// dropRow registers that row i of A, whose slack is basic, has been replaced by the last row and
// the last row removed.
func (s *simplex) dropRow(i int) {
	last := s.m - 1
	// Move the slack's position to the end, then remove the end.
	p := s.pos[s.n+i]
	s.inv.drop(p, i)
	s.head[p] = s.head[last]
	s.pos[s.head[p]] = p
	s.head = s.head[:last]
	for _, v := range []*[]float64{&s.col, &s.z, &s.row, &s.moved, &s.sum} {
		*v = (*v)[:last]
	}
	a, b := s.n+i, s.n+last
	if a != b {
		for _, v := range [][]float64{s.cost, s.c, s.d, s.lo, s.up, s.x, s.dir} {
			v[a] = v[b]
		}
		s.pos[a] = s.pos[b]
		if s.pos[a] >= 0 {
			s.head[s.pos[a]] = a
		}
	}
	for _, v := range []*[]float64{&s.cost, &s.c, &s.d, &s.lo, &s.up, &s.x, &s.dir, &s.alpha} {
		*v = (*v)[:b]
	}
	s.pos = s.pos[:b]
	s.m = last
	s.fresh = false
}

// setBasis makes the given structural variables basic, and all slacks but those of the rows starting
// at row.
func (s *simplex) setBasis(row int, vars []int) {
	for i, j := range s.head {
		if j < s.n {
			s.pos[j] = -1
			s.setNonbasic(j, s.d[j] < 0)
		}
		s.head[i], s.pos[s.n+i], s.dir[s.n+i] = s.n+i, i, 0
	}
	for k, j := range vars {
		slack := s.n + row + k
		s.setNonbasic(slack, false)
		s.pos[slack] = -1
		s.head[row+k], s.pos[j], s.dir[j] = j, row+k, 0
	}
	s.restoring = true
	s.age = math.MaxInt
}

// setBox changes the bounds of variable j.
func (s *simplex) setBox(j int, lo, up float64) {
	s.lo[j], s.up[j] = lo, up
	if s.pos[j] < 0 {
		s.setNonbasic(j, s.dir[j] < 0)
	}
	s.stale = true
}

// multipliers returns pi = c_B' B^-1, the multipliers of the rows: the reduced cost of x_j is
// c_j - pi'a_j. It is valid after solve.
func (s *simplex) multipliers() []float64 {
	return lists.Make(s.m, func(i int) float64 { return -s.d[s.n+i] }) // zero if the slack is basic
}

// objective returns the dual objective of the current basis, a lower bound on the optimum if the
// reduced costs have the right signs.
func (s *simplex) objective() float64 { return floats.Dot(s.c, s.x) }

// infeasibility returns the largest violation of a bound by a basic variable.
func (s *simplex) infeasibility() float64 {
	v := 0.0
	for _, j := range s.head {
		v = max(v, s.lo[j]-s.x[j], s.x[j]-s.up[j])
	}
	return v
}

// solve runs the dual simplex from the current basis. The status is Converged if the basis is
// optimal, within the tolerances, for the current costs (see restore). It is Numerical if the
// program seems infeasible, no usable pivot is left, the objective stalls because rounding
// cancels the gains of the pivots, or a number overflows.
func (s *simplex) solve(ctx context.Context) trace.Status {
	trouble, idle, best := 0, 0, math.Inf(-1)
	for {
		if pace.Look(ctx) != nil {
			return trace.Cancelled
		}
		if s.iterations >= s.maxIter {
			return trace.IterationLimit
		}
		if s.age >= max(minRebuild, s.m) && !s.rebuild(ctx) {
			return trace.Cancelled
		}
		if s.stale && !s.recompute() && s.age > 0 {
			s.age = math.MaxInt
			continue
		}
		if s.fresh {
			obj := s.objective()
			if math.IsNaN(obj) || math.IsInf(obj, 0) {
				return trace.Numerical
			}
			if idle++; obj > best+1e-12*math.Abs(obj) {
				idle, best = 0, obj
			}
			if idle > idleLimit {
				return trace.Numerical
			}
		}
		r := s.leaving()
		if r < 0 {
			if s.fresh {
				return trace.Converged
			}
			s.stale = true
			continue
		}
		q := s.entering(r)
		if q >= 0 {
			if s.columns(q); !s.accurate(r, q) {
				q = -1
			}
		}
		if q < 0 {
			if s.fresh && s.age == 0 {
				if trouble++; trouble > 3 {
					return trace.Numerical
				}
				s.feasTol *= 10
			}
			s.age = math.MaxInt
			continue
		}
		s.update(r, q)
		if s.stalled > stallLimit {
			s.perturb()
		}
		if s.iterations++; s.report != nil && s.iterations%256 == 0 {
			s.report(s)
		}
	}
}

// accurate reports whether the pivot agrees in its row r and its column q; otherwise the inverse has
// lost accuracy. Right after a rebuild they may differ more, as nothing better is to be had.
func (s *simplex) accurate(r, q int) bool {
	row, col := s.alpha[q], s.col[r]
	off := math.Abs(row - col)
	return !(off > 0.5*math.Abs(row) || s.age > 0 && off > 1e-7*(1+math.Abs(col)))
}

// leaving returns the position of the basic variable to leave by the steepest-edge rule, or -1 if
// all are within their bounds.
func (s *simplex) leaving() int {
	r, best := -1, 0.0
	for i, j := range s.head {
		v := max(s.lo[j]-s.x[j], s.x[j]-s.up[j])
		if v > 0 && v*v > best*s.inv.norm[i] && v > s.tolerance(j) {
			r, best = i, v*v/s.inv.norm[i]
		}
	}
	return r
}

// tolerance returns the allowed bound violation of variable j: relative to the width of its box,
// or to the other variables if it is fixed or wider, but at least the rounding error.
func (s *simplex) tolerance(j int) float64 {
	width := s.up[j] - s.lo[j]
	if width == 0 || width > s.scale {
		width = s.scale
	}
	return max(s.feasTol*width, s.known*s.scale)
}

// entering computes the pivot row of position r and returns the variable to enter, or -1 if there
// is none. It sets s.flips to the variables that the step moves to their other bound, and s.tied
// to those whose reduced cost gets the wrong sign, within the tolerance.
func (s *simplex) entering(r int) int {
	s.inv.row(s.row, r)
	s.a.mulT(s.alpha[:s.n], s.row)
	copy(s.alpha[s.n:], s.row)

	j := s.head[r]
	sign, slope := 1.0, s.x[j]-s.up[j]
	if under := s.lo[j] - s.x[j]; under > 0 {
		sign, slope = -1, under
	}
	b := s.candidates(sign, slope)

	// Pass breakpoints while the objective rises, up to the blocking one and breakpoints nearly
	// tied with it.
	passed := s.passed[:0]
	block, limit := -1, math.Inf(1)
	for len(b) > 0 && b[0].at <= limit {
		p := b.pop()
		if block < 0 {
			if slope -= p.pivot * (s.up[p.j] - s.lo[p.j]); slope < 0 {
				block = len(passed)
			}
		}
		if block >= 0 {
			limit = min(limit, p.at+s.optTol/p.pivot)
		}
		passed = append(passed, p)
	}
	s.passed = passed
	if block < 0 { // unbounded: the row cannot be satisfied
		return -1
	}
	// Take the largest pivot among the tied ones, or else the last good one before them.
	best := block
	for k := block + 1; k < len(passed); k++ {
		if passed[k].pivot > passed[best].pivot {
			best = k
		}
	}
	for k := block - 1; k >= 0 && (passed[best].pivot < goodPivot || passed[k].at == passed[block].at); k-- {
		if passed[k].pivot > passed[best].pivot {
			best = k
		}
	}
	q := passed[best].j
	s.flips, s.steps, s.tied = s.flips[:0], s.steps[:0], s.tied[:0]
	theta := s.step(q)
	for k, p := range passed[:best] {
		switch j := p.j; {
		case k >= block:
			s.tied = append(s.tied, j)
		case (s.d[j]-theta*s.alpha[j])*s.dir[j] < 0:
			s.flips, s.steps = append(s.flips, j), append(s.steps, s.opposite(j)-s.x[j])
		}
	}
	return q
}

// step returns the length of the dual step that makes the reduced cost of q zero, or 0 if the cost has the wrong
// sign (within the tolerance), so that the step never goes backwards.
func (s *simplex) step(q int) float64 {
	if s.d[q]*s.dir[q] < 0 {
		return 0
	}
	return s.d[q] / s.alpha[q]
}

// columns computes the products of the inverse with the column of q and with the sum of the columns that flip.
func (s *simplex) columns(q int) {
	s.sumColumns(s.z, []int{q}, []float64{1})
	dst, x := [][]float64{s.col}, [][]float64{s.z}
	if len(s.flips) > 0 {
		s.sumColumns(s.sum, s.flips, s.steps)
		dst, x = append(dst, s.moved), append(x, s.sum)
	}
	s.inv.mul(dst, x...)
}

// candidates returns a heap of all breakpoints up to a step length beyond which the objective no
// longer rises. A step passes few breakpoints, so it first searches up to about the length of the
// last step and extends the range if needed.
func (s *simplex) candidates(sign, slope float64) breakpoints {
	b := s.breaks
	for reach := 2*s.lastStep + s.optTol; ; reach *= 16 {
		b = b[:0]
		last := !(reach <= 1e12) // also if the last step was NaN
		if last {
			reach = math.Inf(1)
		}
		left := slope
		for j, a := range s.alpha {
			dir := s.dir[j]
			a *= sign * dir
			// In this order, since few are in range but about half have a pivot.
			if d := s.d[j] * dir; d <= reach*a && a > pivotTol {
				b = append(b, breakpoint{max(0, d) / a, a, j})
				left -= a * (s.up[j] - s.lo[j])
			}
		}
		if left < 0 || last {
			s.breaks = b
			b.init()
			return b
		}
	}
}

// update exchanges the variable at position r for q.
func (s *simplex) update(r, q int) {
	leave := s.head[r]
	below := s.x[leave] < s.lo[leave]

	theta := s.step(q)
	if s.d[q]*s.dir[q] < 0 {
		s.shift(q, 0)
	}
	if math.Abs(theta) > s.optTol {
		s.stalled = 0
	} else {
		s.stalled++
	}
	s.lastStep = math.Abs(theta)
	floats.AddScaled(s.d, -theta, s.alpha)
	for _, j := range s.head {
		s.d[j] = 0
	}
	s.d[q], s.d[leave] = 0, -theta

	// A bound flip of the tied variables would overshoot, so their costs are shifted.
	for _, j := range s.tied {
		if s.d[j]*s.dir[j] < 0 {
			s.shift(j, 0)
		}
	}

	// Bound flips.
	for _, j := range s.flips {
		s.x[j], s.dir[j] = s.opposite(j), -s.dir[j]
	}
	if len(s.flips) > 0 {
		for i, j := range s.head {
			s.x[j] -= s.moved[i]
		}
	}

	// Primal step: the leaving variable moves to the bound it violates.
	bound := s.up[leave]
	if below {
		bound = s.lo[leave]
	}
	step := (s.x[leave] - bound) / s.col[r]
	for i, j := range s.head {
		s.x[j] -= step * s.col[i]
	}
	s.x[q] += step
	s.scale = max(s.scale, math.Abs(s.x[q]))
	s.setNonbasic(leave, !below)
	if s.m < large {
		s.inv.pivot(r, s.col)
	} else {
		s.inv.collect(r, s.col, s.row)
	}
	s.enter(r, q)
	s.fresh = false
	s.age++
}

// enter makes variable q basic at position r.
func (s *simplex) enter(r, q int) {
	s.pos[s.head[r]] = -1
	s.head[r], s.pos[q], s.dir[q] = q, r, 0
}

// setNonbasic places variable j at one of its bounds.
func (s *simplex) setNonbasic(j int, upper bool) {
	s.x[j], s.dir[j] = s.lo[j], 1
	if upper {
		s.x[j], s.dir[j] = s.up[j], -1
	}
	if s.lo[j] == s.up[j] {
		s.dir[j] = 0
	}
}

func (s *simplex) opposite(j int) float64 {
	if s.dir[j] > 0 {
		return s.up[j]
	}
	return s.lo[j]
}

// shift changes the cost of nonbasic j so that its reduced cost becomes d.
func (s *simplex) shift(j int, d float64) {
	s.c[j] += d - s.d[j]
	s.d[j] = d
	s.shifted = true
}

// perturb perturbs the costs of the nonbasic variables at random, each to the side where its
// reduced cost keeps its sign. The size is well above the dual tolerance, so that the ratio test
// sees it, and decreases with each restoration of the costs.
func (s *simplex) perturb() {
	s.stalled = 0
	s.perturbations++
	size := max(1e-6*math.Pow(0.1, float64(s.restored)), 10*s.optTol)
	seed := uint64(s.perturbations) * 0x9e3779b97f4a7c15
	for j, dir := range s.dir {
		seed = seed*6364136223846793005 + 1442695040888963407
		if dir != 0 && s.lo[j] < s.up[j] {
			s.shift(j, s.d[j]+dir*size*(0.5+float64(seed>>40)/(1<<24)))
		}
	}
}

// restore restores the original costs and reports whether the next solve must correct for that.
// It gives up after ten restorations, when the perturbations are of the size of the tolerance.
func (s *simplex) restore() bool {
	if !s.shifted || s.restored == 10 || floats.Distance(s.c, s.cost, math.Inf(1)) < s.optTol {
		return false
	}
	s.restored++
	copy(s.c, s.cost)
	s.shifted, s.restoring = false, true
	s.stalled = 0
	s.stale = true
	return true
}

// rebuild computes the inverse by Gauss-Jordan elimination of the columns of the basis, a panel at a
// time, so that most of the work is products of matrices. It returns false if ctx ends first; the solver
// then has no usable basis.
func (s *simplex) rebuild(ctx context.Context) bool {
	basic := make([]int, 0, s.m)
	// open marks the rows whose slack is not in the basis.
	open := lists.Make(s.m, func(i int) bool { return s.pos[s.n+i] < 0 })
	for _, j := range s.head {
		if j < s.n {
			basic = append(basic, j)
		}
		s.pos[j] = -1
	}
	s.inv.reset()
	for i := range s.head {
		s.head[i], s.pos[s.n+i] = s.n+i, i
	}
	for vars := range slices.Chunk(basic, panel) {
		if pace.Look(ctx) != nil {
			return false
		}
		terms := s.terms(vars)
		for c, q := range vars {
			for i := range s.col {
				s.col[i] = terms.Data[i*terms.Stride+c]
			}
			s.inv.correct(s.col)
			r := -1
			for i, v := range s.col {
				if open[i] && math.Abs(v) > dependent && (r < 0 || math.Abs(v) > math.Abs(s.col[r])) {
					r = i
				}
			}
			if r < 0 { // dependent: leaves the basis
				s.setNonbasic(q, s.d[q] < 0)
				continue
			}
			open[r] = false
			s.inv.collect(r, s.col, nil)
			s.enter(r, q)
		}
		s.inv.apply()
	}
	for i := range open { // rows without a column get their slack
		if p := s.pos[s.n+i]; p >= 0 {
			s.dir[s.n+i] = 0
		}
	}
	s.age, s.stale = 0, true
	return true
}

// terms returns the columns of structural variables in terms of the basis, during rebuild: slacks are at their own
// positions.
func (s *simplex) terms(vars []int) blas64.General {
	a, terms := general(s.m, len(vars)), general(s.m, len(vars))
	for c, j := range vars {
		s.a.mul(s.z, []int{j}, []float64{1})
		for k, v := range s.z {
			a.Data[k*a.Stride+c] = v
		}
	}
	var used []int // columns of the inverse that differ from the identity and meet an element other than zero
	for k, j := range s.head {
		row := line(a, k)
		switch {
		case j == s.n+k:
			copy(line(terms, k), row)
		case floats.Norm(row, math.Inf(1)) != 0:
			copy(line(a, len(used)), row)
			used = append(used, k)
		}
	}
	if len(used) == 0 {
		return terms
	}
	a.Rows = len(used)
	part := general(min(block, s.m), len(used))
	for from := 0; from < s.m; from += block {
		part.Rows = min(block, s.m-from)
		for i := range part.Rows {
			gather(line(part, i), s.inv.rows[from+i], used)
		}
		dense.Add(dense.Block(terms, from, from+part.Rows, 0, terms.Cols), blas.NoTrans, part, a)
	}
	return terms
}

// recompute computes d and x from the basis. It reports whether the inverse is accurate enough
// for iterative refinement to converge.
func (s *simplex) recompute() bool {
	ok := s.setDual()
	ok = s.setPrimal() && ok
	s.stale, s.fresh, s.restoring = false, true, false
	return ok
}

// setDual computes the reduced costs, with iterative refinement, and moves every nonbasic
// variable to the bound that its reduced cost indicates. If only rounding gives a reduced cost the
// wrong sign, flips could alternate forever, so its cost is shifted instead, except right after the
// costs were restored.
func (s *simplex) setDual() bool {
	s.inv.apply()
	pi := s.z
	clear(pi)
	for i, j := range s.head {
		floats.AddScaled(pi, s.c[j], s.inv.rows[i])
	}
	var miss float64
	for pass := 0; ; pass++ {
		s.a.mulT(s.alpha[:s.n], pi)
		copy(s.alpha[s.n:], pi)
		floats.SubTo(s.d, s.c, s.alpha)
		miss = 0
		for _, j := range s.head {
			miss = max(miss, math.Abs(s.d[j]))
		}
		if pass > 0 && miss < inaccurate || pass == refinements {
			break
		}
		for i, j := range s.head {
			floats.AddScaled(pi, s.d[j], s.inv.rows[i])
		}
	}
	for _, j := range s.head {
		s.d[j] = 0
	}
	known := max(flipTol, rounding*floats.Norm(pi, math.Inf(1))) // accuracy of the reduced costs
	for j, d := range s.d {
		wrong := -d * s.dir[j]
		switch {
		case s.pos[j] >= 0 || wrong <= s.optTol:
		case wrong > known || s.restoring:
			s.x[j], s.dir[j] = s.opposite(j), -s.dir[j]
		default:
			s.shift(j, 0)
		}
	}
	return miss < inaccurate
}

// setPrimal computes the basic variables, with iterative refinement.
func (s *simplex) setPrimal() bool {
	for _, j := range s.head {
		s.x[j] = 0
	}
	miss, allowed := math.Inf(1), 0.0
	for pass := 0; pass < 2 || miss >= allowed && pass <= refinements; pass++ {
		s.residual(s.z)
		s.inv.mul([][]float64{s.col}, s.z)
		miss = floats.Norm(s.col, math.Inf(1))
		for i, j := range s.head {
			s.x[j] -= s.col[i]
		}
		s.scale = floats.Norm(s.x, math.Inf(1))
		allowed = inaccurate * s.scale
	}
	return miss < allowed
}

// residual sets dst = A x + s.
func (s *simplex) residual(dst []float64) {
	s.flips, s.steps = s.flips[:0], s.steps[:0]
	for j, x := range s.x {
		if x != 0 {
			s.flips, s.steps = append(s.flips, j), append(s.steps, x)
		}
	}
	s.sumColumns(dst, s.flips, s.steps)
}

// sumColumns sets dst to the sum of x_t times the column of variable vars_t, including slacks, and moves the
// slacks in vars and x to the end.
func (s *simplex) sumColumns(dst []float64, vars []int, x []float64) {
	// Move slacks behind the structural variables.
	k := len(vars)
	for i := 0; i < k; {
		if vars[i] >= s.n {
			k--
			vars[i], vars[k] = vars[k], vars[i]
			x[i], x[k] = x[k], x[i]
			continue
		}
		i++
	}
	s.a.mul(dst, vars[:k], x[:k])
	for t := k; t < len(vars); t++ {
		dst[vars[t]-s.n] += x[t]
	}
}

// breakpoint is a step length at which the reduced cost of variable j becomes zero.
type breakpoint struct {
	at, pivot float64 // pivot = |alpha_j|
	j         int
}

// less compares step lengths, breaking ties by index so that the solver is deterministic.
func (p breakpoint) less(q breakpoint) bool {
	return p.at < q.at || p.at == q.at && p.j < q.j
}

// breakpoints is a binary heap, smallest first.
type breakpoints []breakpoint

func (b breakpoints) init() {
	for i := len(b)/2 - 1; i >= 0; i-- {
		b.down(i)
	}
}

func (b *breakpoints) pop() breakpoint {
	h := *b
	top, last := h[0], len(h)-1
	h[0] = h[last]
	*b = h[:last]
	(*b).down(0)
	return top
}

func (b breakpoints) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(b) {
			return
		}
		if c+1 < len(b) && b[c+1].less(b[c]) {
			c++
		}
		if !b[c].less(b[i]) {
			return
		}
		b[i], b[c] = b[c], b[i]
		i = c
	}
}

// loosen resets the tolerances to their initial values.
func (s *simplex) loosen() {
	s.feasTol, s.optTol, s.known = 1e-11, 1e-10, rounding
	s.perturbations, s.restored = 0, 0
}

// resume prepares another program with the same columns, starting from the current basis.
func (s *simplex) resume() {
	s.loosen()
	copy(s.c, s.cost)
	s.shifted, s.restoring, s.stalled, s.stale = false, true, 0, true
}

// tighten divides the tolerances by ten for the next solve.
func (s *simplex) tighten() {
	s.feasTol /= 10
	s.known = max(s.known/10, 1e-15)
	s.optTol = max(s.optTol/10, 1e-14)
	s.restored = 0
	s.age = math.MaxInt
}
