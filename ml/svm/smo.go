package svm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/trace"
)

// The problem. With u_i = alpha_i y_i the dual of the C-SVC reads
//
//	maximise    sum_i y_i u_i - 1/2 sum_ij u_i u_j K_ij
//	subject to  sum_i u_i = 0,  u_i in [0, C] where y_i = 1,  in [-C, 0] where y_i = -1
//
// and its gradient is g_i = y_i - (Ku)_i. Let I_up be the points whose u may
// still rise and I_low those whose u may still fall. The KKT conditions are
//
//	m(a) = max over I_up of g  <=  M(a) = min over I_low of g,
//
// and every b between the two is a bias.
//
// The method is sequential minimal optimisation (Platt 1998): raise one u_i and
// lower one u_j by the same amount, until m(a) - M(a) <= tol. Of the pairs, i has
// the largest g in I_up and j promises the largest gain of the objective to
// second order (Fan, Chen, Lin: "Working set selection using second order
// information for training support vector machines", JMLR 6, 2005). The stopping
// rule, the guard tau for kernels whose second derivative along the pair is not
// positive, and the bias are those of LIBSVM (Chang, Lin, ACM TIST 2, 2011).
//
// Most points settle early: they stay at a bound that their g pushes them to
// (Joachims 1999, "shrinking"). A smaller smo over the others does most of the
// steps; afterwards the gradient of all points is brought up to date, which shows
// whether one was set aside too early. Where pairs are slow, at a large C, Newton
// steps and a path along C help: see newton.go and path.go.
type smo struct {
	*monitor
	y, diag []float64
	c       float64   // +Inf: hard margin
	lo, hi  []float64 // bounds of u
	u, g    []float64
	// up is 0 on I_up and -Inf elsewhere, low is 0 on I_low and +Inf elsewhere:
	// added to g, they take a point out of a maximum or a minimum.
	up, low []float64
	rows    *cache

	cacheBytes int64 // of rows, and again of those of a part
}

// tau stands in for a second derivative that is not positive.
const tau = 1e-12

// newSMO returns the problem of all points at alpha = 0.
func newSMO(k Matrix, y []float64, c float64, cacheBytes int64, mon *monitor) *smo {
	m := len(y)
	o := emptySMO(m, c, mon)
	o.cacheBytes = cacheBytes
	o.rows = newCache(m, cacheBytes, func(dst []float64, i int) error {
		o.work += 16 * m // a value of the kernel costs as much as many updates
		k.Row(dst, i)
		// One sum tells that all entries are finite; only one that is not needs a look.
		if s := floats.Sum(dst); math.IsNaN(s) || math.IsInf(s, 0) {
			for j, v := range dst {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return notFinite(i, j, v)
				}
			}
		}
		return nil
	})
	for i, v := range y {
		o.y[i], o.g[i] = v, v
		o.diag[i] = k.Diag(i)
	}
	o.bound(c)
	return o
}

// bound makes c the bound of alpha.
func (o *smo) bound(c float64) {
	o.c = c
	for i, y := range o.y {
		if y > 0 {
			o.hi[i] = c
		} else {
			o.lo[i] = -c
		}
		o.mark(i)
	}
}

// part returns the problem of some points, the others staying as they are.
func (o *smo) part(points []int) *smo {
	n := len(points)
	p := emptySMO(n, o.c, o.monitor)
	p.rows = newCache(n, o.cacheBytes, func(dst []float64, i int) error {
		row, err := o.rows.row(points[i])
		if err != nil {
			return err
		}
		for k, j := range points {
			dst[k] = row[j]
		}
		return nil
	})
	for k, j := range points {
		p.y[k], p.diag[k], p.lo[k], p.hi[k] = o.y[j], o.diag[j], o.lo[j], o.hi[j]
		p.u[k], p.g[k], p.up[k], p.low[k] = o.u[j], o.g[j], o.up[j], o.low[j]
	}
	return p
}

func emptySMO(m int, c float64, mon *monitor) *smo {
	block := make([]float64, 8*m)
	vector := func() (v []float64) {
		v, block = block[:m:m], block[m:]
		return v
	}
	return &smo{
		monitor: mon, c: c, y: vector(), diag: vector(), lo: vector(), hi: vector(),
		u: vector(), g: vector(), up: vector(), low: vector(),
	}
}

// mark records whether u_i may rise and fall.
func (o *smo) mark(i int) {
	o.up[i], o.low[i] = 0, 0
	if o.u[i] >= o.hi[i] {
		o.up[i] = math.Inf(-1)
	}
	if o.u[i] <= o.lo[i] {
		o.low[i] = math.Inf(1)
	}
}

// solve works in rounds: on the active points to a tenth of the violation, or on
// all points as long as few have settled. The end is believed only when it holds
// for a gradient computed afresh.
func (o *smo) solve(tol float64) (trace.Status, error) {
	m := len(o.y)
	fresh := false // g was computed from u alone
	last, before := math.Inf(1), -1
	for {
		high, low := o.interval()
		violation := high - low
		// No better than a round ago, and nothing that could still be moved.
		stuck := violation >= last && (violation <= o.rounding() || o.iterations == before)
		if violation <= tol || stuck || o.iterations >= o.limit {
			if !fresh {
				if done, err := o.refresh(); !done || err != nil {
					return trace.Cancelled, err
				}
				fresh = true
				continue
			}
			if violation <= tol {
				return trace.Converged, nil
			}
		}
		if math.IsInf(o.c, 1) {
			if err := o.stretch(); err != nil {
				return trace.Numerical, err
			}
			high, low = o.interval()
		}
		switch {
		case stuck:
			return trace.Numerical, nil
		case o.iterations >= o.limit:
			return trace.IterationLimit, nil
		}
		last, before, fresh = violation, o.iterations, false
		var status trace.Status
		var err error
		if active := o.active(high, low); 4*len(active) <= 3*m {
			status, err = o.climbPart(active, max(tol, violation/10), 10*m)
		} else {
			status, err = o.climb(tol, min(m, 1000))
		}
		if err != nil || status == trace.Cancelled {
			return status, err
		}
	}
}

// active returns the points that may still move: not those at a bound to which g
// pushes them beyond every bias that is possible now.
func (o *smo) active(high, low float64) []int {
	var points []int
	for i, g := range o.g {
		atHi, atLo := o.up[i] != 0, o.low[i] != 0
		if atHi && g > high || atLo && g < low {
			continue
		}
		points = append(points, i)
	}
	return points
}

// climbPart is climb on some points only, in turn with Newton steps when it is
// slow, followed by the update of all points. It ends early when enough of the
// points have settled to choose anew.
func (o *smo) climbPart(points []int, tol float64, steps int) (trace.Status, error) {
	p := o.part(points)
	batch, end := 10*len(points), o.iterations+steps
	status, err := p.climb(tol, batch)
	for err == nil && status == trace.IterationLimit && o.iterations < min(end, o.limit) {
		if high, low := p.interval(); 4*len(p.active(high, low)) <= 3*len(points) {
			break
		}
		if err = p.newton(); err == nil {
			status, err = p.climb(tol, batch)
		}
	}
	if err != nil {
		return status, err
	}
	change := make([]float64, len(points))
	for k, j := range points {
		change[k] = p.u[k] - o.u[j]
		o.u[j] = p.u[k]
		o.mark(j)
	}
	for k, j := range points {
		if change[k] == 0 {
			continue
		}
		if status == trace.Cancelled || o.ended(len(o.g)) {
			return trace.Cancelled, nil
		}
		row, err := o.rows.row(j)
		if err != nil {
			return status, err
		}
		floats.AddScaled(o.g, -change[k], row)
	}
	return status, nil
}

// refresh computes the gradient from u alone, after taking from u what rounding
// has added to its sum. It reports false when ctx ended.
func (o *smo) refresh() (bool, error) {
	room, i := 0.0, -1
	for k, u := range o.u {
		if r := min(o.hi[k]-u, u-o.lo[k]); r > room {
			room, i = r, k
		}
	}
	if excess := floats.Sum(o.u); math.Abs(excess) < room {
		o.u[i] -= excess
	}
	copy(o.g, o.y)
	for j, u := range o.u {
		if u == 0 {
			continue
		}
		if o.ended(len(o.g)) {
			return false, nil
		}
		row, err := o.rows.row(j)
		if err != nil {
			return false, err
		}
		floats.AddScaled(o.g, -u, row)
	}
	sum, square := o.dual()
	o.objective = sum - square/2
	return true, nil
}

// climb makes at most so many steps, until the stopping rule holds (converged)
// or no step changes u any more (numerical).
func (o *smo) climb(tol float64, steps int) (trace.Status, error) {
	i := o.highest()
	for ; steps > 0 && o.iterations < o.limit; steps-- {
		ki, err := o.rows.row(i)
		if err != nil {
			return trace.Numerical, err
		}
		j, violation := o.partner(i, ki)
		if violation <= tol {
			return trace.Converged, nil
		}
		kj, err := o.rows.row(j)
		if err != nil {
			return trace.Numerical, err
		}
		step, err := o.step(i, j, ki[j])
		if err != nil || step == 0 {
			return trace.Numerical, err
		}
		i = o.update(step, ki, kj)
		o.iterations++
		if o.ended(2 * len(o.g)) {
			return trace.Cancelled, nil
		}
		if o.work == 0 {
			o.report(violation)
		}
	}
	return trace.IterationLimit, nil
}

// highest returns the i of m(a).
func (o *smo) highest() (i int) {
	best := math.Inf(-1)
	for k, g := range o.g {
		if v := g + o.up[k]; v > best {
			best, i = v, k
		}
	}
	return i
}

// partner returns the j in I_low that gains most with i to second order,
// (g_i - g_j)² / (K_ii + K_jj - 2 K_ij), and m(a) - M(a), or -1 and 0 when no
// pair gains anything.
func (o *smo) partner(i int, ki []float64) (j int, violation float64) {
	g, low, diag := o.g, o.low[:len(o.g)], o.diag[:len(o.g)]
	ki = ki[:len(g)]
	gi, kii := g[i], diag[i]
	j = -1
	best := 0.0
	for k, gk := range g {
		d := gi - (gk + low[k])
		if d > violation {
			violation = d
		}
		// d²/curvature > best for d > 0, without a division and with a branch
		// that is rarely taken.
		curvature := kii + diag[k] - 2*ki[k]
		if d*math.Abs(d) > best*curvature {
			if gain := d * d / guarded(curvature); d > 0 && gain > best {
				best, j = gain, k
			}
		}
	}
	return j, violation
}

// step moves u_i up and u_j down to the maximum of the objective along the pair
// or to the first bound, and returns by how much.
func (o *smo) step(i, j int, kij float64) (float64, error) {
	curvature := o.diag[i] + o.diag[j] - 2*kij
	toHi, toLo := o.hi[i]-o.u[i], o.u[j]-o.lo[j]
	if math.IsInf(min(toHi, toLo), 1) && curvature <= separable*separable*(o.diag[i]+o.diag[j]) {
		return 0, ErrNotSeparable // opposite labels at one point: nothing bounds the pair
	}
	slope := o.g[i] - o.g[j]
	step := min(toHi, toLo, slope/guarded(curvature))
	ui, uj := o.u[i]+step, o.u[j]-step
	if step == toHi { // exactly, so that a bounded point is known as such
		ui = o.hi[i]
	}
	if step == toLo {
		uj = o.lo[j]
	}
	if ui == o.u[i] && uj == o.u[j] {
		return 0, nil
	}
	o.u[i], o.u[j] = ui, uj
	o.mark(i)
	o.mark(j)
	o.objective += step * (slope - step*curvature/2)
	return step, nil
}

// guarded is a second derivative to divide by.
func guarded(curvature float64) float64 {
	if curvature <= 0 {
		return tau
	}
	return curvature
}

// update brings the gradient up to date after a step and in the same pass finds
// the i of m(a).
func (o *smo) update(step float64, ki, kj []float64) (i int) {
	g, up := o.g, o.up[:len(o.g)]
	ki, kj = ki[:len(g)], kj[:len(g)]
	best := math.Inf(-1)
	for k, gk := range g {
		gk -= step * (ki[k] - kj[k])
		g[k] = gk
		if v := gk + up[k]; v > best {
			best, i = v, k
		}
	}
	return i
}

// interval returns m(a) and M(a).
func (o *smo) interval() (high, low float64) {
	high, low = math.Inf(-1), math.Inf(1)
	for k, g := range o.g {
		high = max(high, g+o.up[k])
		low = min(low, g+o.low[k])
	}
	return high, low
}

// rounding bounds what rounding may do to g.
func (o *smo) rounding() float64 {
	return 0x1p-52 * floats.Norm(o.u, 1) * floats.Norm(o.diag, math.Inf(1))
}

// dual returns the two parts of the dual objective: sum alpha and u'Ku.
func (o *smo) dual() (sum, square float64) {
	for i, u := range o.u {
		sum += math.Abs(u)
		square += u * (o.y[i] - o.g[i])
	}
	return sum, square
}

// separable is the smallest margin, relative to sqrt(max K_ii), that counts.
const separable = 1e-6

// stretch goes to the maximum of the hard-margin objective along the ray through
// u: t sum alpha - t² u'Ku / 2 is largest at t = sum alpha / u'Ku. It changes
// nothing at the solution, where the two are equal, but lets u grow by factors
// when there is no solution. Then it is certain, too: every feasible alpha proves
// that the margin is at most |w| / sum alpha (half the distance of two points in
// the hulls of the classes).
func (o *smo) stretch() error {
	sum, square := o.dual()
	if sum == 0 {
		return nil
	}
	if square <= separable*separable*floats.Max(o.diag)*sum*sum {
		if done, err := o.refresh(); !done || err != nil {
			return err
		}
		sum, square = o.dual()
		if square <= separable*separable*floats.Max(o.diag)*sum*sum {
			return ErrNotSeparable
		}
	}
	t := sum / square
	floats.Scale(t, o.u)
	for i, y := range o.y {
		o.g[i] = y - t*(y-o.g[i])
	}
	o.objective = sum * t / 2
	return nil
}
