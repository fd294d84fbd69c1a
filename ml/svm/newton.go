package svm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/rows"
)

// A large C leaves many nearly flat directions among the free points, along which steps on pairs
// zigzag for a long time. A Newton step instead solves
//
//	(K_FF + rho I) d + beta 1 = g_F,  1'd = 0
//
// for the free points F. Points that d would move beyond a bound are moved to the bound, and the
// system is solved again for the others. The step then follows d to the maximum of the objective.
// Like a step on a pair it never lowers the objective, and it leaves the choice of the free
// points to those steps (the active-set view of Scheinberg, "An efficient implementation of an
// active set method for SVMs", JMLR 7, 2006).
//
// rho keeps d short along flat directions (the proximal point method, Rockafellar 1976), where a
// free point would otherwise move to its bound without any gain. The residual of g_F is rho d, a
// fraction of the violation. It also lets a factor of low rank stand for K_FF (lowrank.go).

// block is the kernel matrix K_FF of n free points.
type block interface {
	// curvature returns d'Kd.
	curvature(d []float64) float64

	// equations returns those of a Newton step for the points inside, with right-hand side left
	// and moves that add up to sum, or nil if the matrix is not positive definite or the context
	// has ended.
	equations(inside []int, left []float64, rho, sum float64) equations

	// subtract subtracts the columns of K of some points, times their entries of d, from left.
	subtract(left, d []float64, points []int)
}

// equations holds the equations of a Newton step, solved while points are fixed at their bounds one after
// another.
type equations interface {
	// fix prescribes the moves of further points, or reports false if so many are fixed that new
	// equations for the others are cheaper.
	fix(points []int, at []float64) bool

	// solve returns the moves, or nil after rounding trouble or if the context has ended.
	solve() []float64
}

// newton makes a Newton step, unless too many points are free. If a step along a flat direction
// is cut short by bounds, further steps follow without the points that have reached them: with a
// low-rank kernel more points are free than the rank allows, and they reach their bounds one
// after another. It overwrites free.
func (o *smo[T]) newton(free []int) error {
	defer o.weigh(&o.newtons, o.spent, o.Objective)
	if len(free) > newtonFree {
		return nil
	}
	held := min(len(free), newtonHeld)
	scratch := o.rows.Memory.Scratch(held*held + factorSize(len(free)))
	for most := o.spent + 4*o.newtonWork(len(free), o.m); len(free) > 1 && o.Iterations < o.Limit && o.spent < most; {
		high, low := o.interval()
		rho := newtonRho * (high - low) / floats.Norm(o.u, math.Inf(1))
		k, err := o.among(free, rho, scratch)
		if k == nil || err != nil {
			return err
		}
		var best line
		for _, move := range o.directions(free, k, rho) {
			if l := o.line(free, move, k.curvature(move)); l.gain > best.gain {
				best = l
			}
		}
		_, best.rough = k.(*lowRank)
		if !(best.gain > 0) {
			return nil
		}
		if err := o.follow(free, best); err != nil || best.step > flat*best.full {
			return err
		}
		before := len(free)
		free = slices.DeleteFunc(free, func(i int) bool { return o.up[i] != 0 || o.low[i] != 0 })
		if len(free) == before {
			return nil
		}
	}
	return nil
}

// among returns the matrix of the free points, or nil if the context ends: of low rank if that
// suits rho. Its memory is scratch.
func (o *smo[T]) among(free []int, rho float64, scratch []float64) (block, error) {
	if low := o.lowRank(free, rho, scratch); low != nil {
		return low, nil
	}
	s, err := o.square(free, scratch)
	if s == nil {
		return nil, err
	}
	return s, nil
}

// square is the whole matrix of the free points, with memory for its factor.
type square struct {
	*state
	free    []int
	rows    [][]float64                      // of at most newtonHeld points
	cut     func(dst []float64, a int) error // writes row a
	own     []float64
	scratch []float64
}

// square returns nil if the context ends. The rows are cut out of those of all points if these fit
// in memory, and computed otherwise; of more than newtonHeld points whenever they are needed.
func (o *smo[T]) square(free []int, scratch []float64) (*square, error) {
	n := len(free)
	part, own := o.k, []T(nil)
	hold := o.rows.Hold(n)
	if !hold {
		part, own = rows.Subset(o.k, free), make([]T, n)
	}
	s := &square{state: o.state, free: free, scratch: scratch}
	s.cut = func(dst []float64, a int) error {
		if hold {
			row, err := o.rows.Row(free[a])
			if err != nil {
				return err
			}
			for b, j := range free {
				dst[b] = float64(row[j])
			}
			return nil
		}
		o.spent += n
		rows.Row(part, own, a)
		for b, v := range own {
			dst[b] = float64(v)
		}
		return nil
	}
	if n > newtonHeld {
		s.own = make([]float64, n)
	} else {
		s.rows, s.scratch = make([][]float64, n), scratch[n*n:]
	}
	for a := range free {
		row := s.own
		if s.rows != nil {
			row = scratch[a*n:][:n]
			s.rows[a] = row
		} else if !hold {
			break
		}
		if err := s.cut(row, a); err != nil {
			return nil, err
		}
		if o.Ended(rows.Padded(o.m)) {
			return nil, nil
		}
	}
	return s, nil
}

// row returns row a, until the next call.
func (s *square) row(a int) []float64 {
	if s.rows != nil {
		return s.rows[a]
	}
	_ = s.cut(s.own, a) // without error, as square has called it if it may have one
	return s.own
}

func (s *square) curvature(d []float64) (sum float64) {
	s.spent += len(d) * len(d) / 2
	for a := range s.free {
		change := 0.0
		for b, v := range s.row(a) {
			change += d[b] * v
		}
		sum += d[a] * change
	}
	return sum
}

func (s *square) subtract(left, d []float64, points []int) {
	for _, a := range points {
		floats.AddScaled(left, -d[a], s.row(a))
	}
}

// newtonWithin makes a Newton step if it takes at most the given work.
func (o *smo[T]) newtonWithin(work int) error {
	free := o.free()
	if o.without.newton || o.newtonWork(len(free), o.m) > work {
		return nil
	}
	return o.newton(free)
}

// line is a step along the moves of the free points.
type line struct {
	move       []float64
	rough      bool // the curvature comes from a factor of low rank
	slope      float64
	full       float64 // step to the maximum, +Inf if there is none
	step, gain float64 // step to make and its gain in the objective
}

// flat is the fraction of the full step below which a direction counts as flat: only rounding and
// rho give it curvature.
const flat = 1e-6

// line returns the step along move to the maximum of the objective or to the first bound.
func (o *smo[T]) line(free []int, move []float64, curvature float64) line {
	l := line{move: move}
	for a, i := range free {
		l.slope += move[a] * o.g[i]
	}
	rises := !(curvature > 0) // within rounding, if K is positive semidefinite
	if !(l.slope > 0) || rises && !rows.Definite(o.k) {
		return l
	}
	l.full = math.Inf(1)
	if !rises {
		l.full = l.slope / curvature
	}
	l.step = l.full
	for a, i := range free {
		if move[a] > 0 {
			l.step = min(l.step, (o.hi(i)-o.u[i])/move[a])
		} else if move[a] < 0 {
			l.step = min(l.step, (o.lo(i)-o.u[i])/move[a])
		}
	}
	if math.IsInf(l.step, 1) { // unbounded
		return l
	}
	l.gain = l.step * (l.slope - l.step*curvature/2)
	return l
}

// follow makes the step, or a shorter one if the gradients show more curvature than a factor of low
// rank. If the rows of the points do not fit in memory, the gradient changes by a product, which may be
// summed in cells.
func (o *smo[T]) follow(free []int, l line) error {
	change := make([]float64, len(o.g))
	o.exact = false
	if o.rows.Hold(len(free)) {
		for a, i := range free {
			row, err := o.rows.Row(i)
			if err != nil {
				return err
			}
			rows.AddScaled(change, l.move[a], row)
		}
		o.spent += len(free) * o.m / 2
	} else if o.addProduct(change[:o.m], free, l.move) != nil {
		return nil // as if it had not been tried: the context has ended
	}
	if l.rough {
		curvature := 0.0
		for a, i := range free {
			curvature += l.move[a] * change[i]
		}
		if curvature*l.step > l.slope {
			l.step = l.slope / curvature
		}
		l.gain = l.step * (l.slope - l.step*curvature/2)
	}
	far := l.step * floats.Norm(l.move, math.Inf(1)) // scale of the rounding errors of the moves
	for a, i := range free {
		o.reach[i] = max(o.reach[i], far)
		switch d := l.step * l.move[a]; { // exactly on the bound, so that the point counts as bounded
		case d >= o.hi(i)-o.u[i]:
			o.place(i, o.hi(i))
		case d <= o.lo(i)-o.u[i]:
			o.place(i, o.lo(i))
		default:
			o.place(i, o.u[i]+d)
		}
	}
	floats.AddScaled(o.g, -l.step, change)
	o.Iterations++
	o.Objective += l.gain
	return nil
}

// directions returns two moves of the free points: one that ends at the bounds it would cross,
// and one that ignores them.
func (o *smo[T]) directions(free []int, k block, rho float64) (moves [][]float64) {
	move, left := make([]float64, len(free)), make([]float64, len(free)) // d, and g without the moves to bounds
	inside := make([]int, len(free))                                     // places in free
	for a, i := range free {
		inside[a], left[a] = a, o.g[i]
	}
	sum := 0.0 // of the moves to bounds
	for len(inside) > 1 {
		f := k.equations(inside, left, rho, -sum)
		if least := untold * o.size; f == nil && rho < least && moves == nil && rows.Definite(o.k) { // not positive definite because of rounding
			rho = least
			continue
		}
		if f == nil {
			break
		}
		d := f.solve()
		if moves == nil {
			moves = [][]float64{slices.Clone(d)}
		}
		stay := slices.Clone(inside)
		var fixed []int // places in free
		for {
			cross, at := o.crossings(free, inside, stay, d)
			for p, a := range inside {
				move[a] = d[p]
			}
			if len(cross) == 0 {
				return append([][]float64{move}, moves...)
			}
			for k, p := range cross {
				move[inside[p]] = at[k]
				fixed = append(fixed, inside[p])
			}
			if !f.fix(cross, at) {
				break
			}
			if d = f.solve(); d == nil {
				return moves
			}
		}
		for _, a := range fixed {
			sum += move[a]
		}
		k.subtract(left, move, fixed)
		inside = slices.DeleteFunc(stay, func(a int) bool { return a < 0 })
	}
	return moves
}

// crossings returns the places in inside whose moves d would cross a bound, for the first time, and the
// moves to these bounds. It sets stay there to -1.
func (o *smo[T]) crossings(free, inside, stay []int, d []float64) (cross []int, at []float64) {
	for p, a := range inside {
		i := free[a]
		if u := o.u[i] + d[p]; stay[p] < 0 || o.lo(i) < u && u < o.hi(i) {
			continue
		}
		stay[p] = -1
		cross = append(cross, p)
		if d[p] > 0 {
			at = append(at, o.hi(i)-o.u[i])
		} else {
			at = append(at, o.lo(i)-o.u[i])
		}
	}
	return cross, at
}

// factor is the Cholesky factor U of K_FF + rho I. It solves the equations of a Newton step while
// points are fixed at their bounds one after another: as long as these are few, the update uses
// the columns of the inverse for the fixed points, which is far cheaper than another
// factorisation.
type factor struct {
	*monitor
	u     blas64.General // upper triangle
	d, e  []float64      // solutions for g and for ones
	sum   float64        // of the moves
	v     blas64.General // U⁻ᵀ of the unit vectors of the fixed points, in its first columns
	fixed []int
	at    []float64 // their moves
}

// factorSize returns the memory that the factor for n points needs.
func factorSize(n int) int { return n*n + n*(n/4) }

func (s *square) equations(inside []int, left []float64, rho, sum float64) equations {
	n := len(inside)
	f := &factor{
		monitor: s.monitor, u: blas64.General{Rows: n, Cols: n, Stride: n, Data: s.scratch[:n*n]},
		v: blas64.General{Rows: n, Stride: n / 4, Data: s.scratch[n*n : factorSize(n)]},
		d: make([]float64, n), e: make([]float64, n), sum: sum,
	}
	for p, a := range inside {
		f.d[p], f.e[p] = left[a], 1
		if s.rows == nil && s.Ended(n) {
			return nil
		}
		row, own := f.u.Data[p*n:][:n], s.row(a)
		for q := p; q < n; q++ {
			row[q] = own[inside[q]]
		}
		row[p] = s.diag[s.free[a]] + rho
	}
	s.spent += n*n + n*n*n/36
	if ok, err := dense.Cholesky(s.Context, f.u); !ok || err != nil {
		return nil
	}
	dense.Solve(f.u, f.d)
	dense.Solve(f.u, f.e)
	return f
}

func (f *factor) fix(points []int, at []float64) bool {
	first, n := len(f.fixed), len(f.d)
	f.fixed, f.at = append(f.fixed, points...), append(f.at, at...)
	if len(f.fixed) > n/4 {
		return false
	}
	if first == 0 {
		clear(f.v.Data)
	}
	f.v.Cols = len(f.fixed)
	for k, p := range points {
		f.v.Data[p*f.v.Stride+first+k] = 1
	}
	f.spent += n * n * len(points) / 12
	_ = dense.Divide(f.Context, blas.Trans, f.u, dense.Block(f.v, 0, n, first, f.v.Cols)) // solve checks ctx
	return true
}

func (f *factor) solve() []float64 {
	n, b := len(f.d), len(f.fixed)
	f.spent += n*n + n*b*b/12
	move, ones, apart := slices.Clone(f.d), slices.Clone(f.e), make([]float64, b)
	total, weight := floats.Sum(f.d), floats.Sum(f.e)
	beta := (total - f.sum) / weight
	if b > 0 {
		inverse := blas64.General{Rows: b, Cols: b, Stride: b, Data: make([]float64, b*b)}
		err := dense.AddGram(f.Context, inverse, f.v)
		if err != nil {
			return nil
		}
		if ok, err := dense.Cholesky(f.Context, inverse); !ok || err != nil {
			return nil
		}
		across := make([]float64, b)
		for k, p := range f.fixed {
			apart[k], across[k] = f.at[k]-f.d[p], f.e[p]
		}
		dense.Solve(inverse, apart)
		dense.Solve(inverse, across)
		for k, p := range f.fixed {
			total += f.e[p] * apart[k]
			weight -= f.e[p] * across[k]
		}
		beta = (total - f.sum) / weight
		floats.AddScaled(apart, beta, across)
		change := make([]float64, n)
		blas64.Gemv(blas.NoTrans, 1, f.v, blas64.Vector{N: b, Inc: 1, Data: apart}, 0, blas64.Vector{N: n, Inc: 1, Data: change})
		blas64.Trsv(blas.NoTrans, dense.Upper(f.u), blas64.Vector{N: n, Inc: 1, Data: change})
		floats.Add(move, change)
	}
	floats.AddScaled(move, -beta, ones)
	for k, p := range f.fixed {
		move[p] = f.at[k]
	}
	rest := (f.sum - floats.Sum(move)) / float64(n-b) // left by rounding
	floats.AddConst(rest, move)
	for k, p := range f.fixed {
		move[p] = f.at[k]
	}
	return move
}
