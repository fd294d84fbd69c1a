package svm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// smo solves the dual of the C-SVC, which with u_i = alpha_i y_i is
//
//	maximise    sum_i y_i u_i - 1/2 sum_ij u_i u_j K_ij
//	subject to  sum_i u_i = 0,  u_i in [0, C] where y_i = 1,  in [-C, 0] where y_i = -1
//
// and its gradient is g_i = y_i - (Ku)_i. Let I_up be the points whose u can increase and I_low
// those whose u can decrease. The KKT conditions are
//
//	m(a) = max over I_up of g  <=  M(a) = min over I_low of g,
//
// and every b between the two is a valid bias.
//
// The method is sequential minimal optimisation (Platt 1998): increase u_i and decrease u_j by
// the same amount until m(a) - M(a) <= tol. In the working set, i has the largest g in I_up, and
// j the largest second-order gain of the objective (Fan, Chen, Lin: "Working set selection using
// second order information for training support vector machines", JMLR 6, 2005). The stopping
// rule (finish adds one for the gap), the guard tau for pairs without positive curvature and the
// bias follow LIBSVM (Chang, Lin, ACM TIST 2, 2011).
//
// Most points settle early at a bound that their g pushes them to (Joachims 1999, "shrinking"). A
// smaller smo over the others makes most of the steps; afterwards the gradient of all points is
// updated, which shows whether a point was set aside too early. If steps on pairs are slow, as
// for a large C, Newton steps and a path along C help; with many points, neighbourhoods and a
// start from merged points: see newton.go, path.go, near.go and coarse.go.
type smo[T rows.Real] struct {
	*state
	k      Matrix
	points []int // indices in the whole problem; nil: all
	rows   *rows.Cache[T]

	sampled guess      // the last round on a sample
	doubted guess      // and on the points still active for the bias of the last part
	bias    [2]float64 // interval of the bias at the end of the last part
	grownAt int        // work when the bound last rose

	computed int // rows so far, those of products included
	together int // rows computed one by one before all are computed together
}

// newSMO returns a solver that caches its rows in memory.
func newSMO[T rows.Real](k Matrix, from *state, memory rows.Memory[T]) *smo[T] {
	o := &smo[T]{
		state: from, k: k, bias: [2]float64{math.Inf(-1), math.Inf(1)},
		sampled: guess{violation: math.Inf(1)}, doubted: guess{violation: math.Inf(1)},
	}
	o.rows = rows.NewCache(o.m, memory, o.fill)
	o.rows.Whole = tabulated[T](k)
	o.together = math.MaxInt
	if !o.without.wide && isWide(k) && o.rows.Fits(o.m+o.m/32) { // all rows, and some of parts
		o.together = o.m / wideOf
	}
	return o
}

// state is an iterate with everything that steps on it need. The vectors are padded, see package
// rows.
type state struct {
	*monitor
	m       int // points
	y, diag []float64
	c       float64   // +Inf: hard margin
	weight  []float64 // the bound of alpha_i is weight_i c
	u, g    []float64
	ku      []float64 // K u where exact: y - g, without the cancellation; nil in a part
	reach   []float64 // largest |u_i| so far, which scales the rounding error of u_i: see settle
	// up is 0 on I_up and -Inf elsewhere, low is 0 on I_low and +Inf elsewhere: added to g, they
	// exclude a point from a maximum or a minimum.
	up, low []float64
	exact   bool // g and ku were computed from u in double precision, later changes included
	last    known

	size   float64  // largest |K_ii| of all points
	extent float64  // hard margin: largest squared distance from the first point
	merged *merging // nil: not known
}

// monitor is shared by a problem and its parts.
type monitor struct {
	trace.Monitor
	without without
	total   int     // points of the whole problem
	enough  float64 // hard margin: objective that ends the round, see growth; +Inf: not known yet
	account
}

func newMonitor(ctx context.Context, points int, s Settings) *monitor {
	watch := trace.Monitor{Context: ctx, Recorder: s.Recorder, Phase: "svm", Limit: s.MaxIter, Goal: s.Tol}
	return &monitor{Monitor: watch, without: s.without, total: points, account: account{newtons: turns{doubt: firstDoubt}}}
}

// newState returns the iterate alpha = 0.
func newState(k Matrix, y []float64, c float64, mon *monitor) *state {
	o := emptyState(len(y), mon)
	copy(o.y, y)
	copy(o.g, y)
	for i := range y {
		d := k.Diag(i)
		o.diag[i], o.weight[i] = d, 1
		if d = math.Abs(d); d > o.size {
			o.size = d
		}
	}
	o.bound(c)
	return o
}

func emptyState(m int, mon *monitor) *state {
	o := emptyPart(m, mon)
	o.ku = make([]float64, len(o.u))
	return o
}

// emptyPart is emptyState without ku, which only a whole problem needs.
func emptyPart(m int, mon *monitor) *state {
	n := rows.Padded(m)
	block := make([]float64, 8*n)
	vector := func() (v []float64) {
		v, block = block[:n:n], block[n:]
		return v
	}
	o := &state{
		monitor: mon, m: m, y: vector(), diag: vector(), weight: vector(),
		u: vector(), g: vector(), reach: vector(), up: vector(), low: vector(),
	}
	for i := m; i < n; i++ {
		o.up[i], o.low[i] = math.Inf(-1), math.Inf(1)
	}
	return o
}

// bound sets the upper bound of alpha to c, times the weights.
func (o *state) bound(c float64) {
	o.c = c
	for i := range o.m {
		o.mark(i)
	}
}

// lo returns the lower bound of u_i.
func (o *state) lo(i int) float64 {
	if o.y[i] > 0 {
		return 0
	}
	return -o.c * o.weight[i]
}

// hi returns the upper bound of u_i.
func (o *state) hi(i int) float64 {
	if o.y[i] > 0 {
		return o.c * o.weight[i]
	}
	return 0
}

// mark records whether u_i can increase and decrease.
func (o *state) mark(i int) {
	u, up, low := o.u[i], 0.0, 0.0
	if u >= o.hi(i) {
		up = math.Inf(-1)
	}
	if u <= o.lo(i) {
		low = math.Inf(1)
	}
	o.up[i], o.low[i] = up, low
}

// fill computes row i in the precision of the rows; dst is padded.
func (o *smo[T]) fill(dst []T, i int) error {
	o.spent += o.m
	o.computed++
	o.Work += 16 * o.total // a kernel value may cost as much as many updates
	rows.Row(o.k, dst[:o.m], i)
	clear(dst[o.m:])
	return o.finite(i, dst)
}

// finite returns an error that names the first value of row i that is not finite.
func (o *smo[T]) finite(i int, row []T) error {
	if j := rows.Infinite(row); j >= 0 {
		v := float64(row[j])
		if o.points != nil {
			i, j = o.points[i], o.points[j]
		}
		return notFinite(i, j, v)
	}
	return nil
}

// solve makes rounds until the violation is at most tol, confirmed with an exact gradient.
func (o *smo[T]) solve(tol float64) (trace.Status, error) {
	last, before := math.Inf(1), -1
	sure, sureAt, vain := math.Inf(-1), o.Iterations, 0 // best objective of an exact gradient, the iterations at the last one, and how many since brought no gain beyond rounding
	for {
		if o.Context.Err() != nil {
			return trace.Cancelled, nil
		}
		high, low := o.interval()
		violation := high - low
		if !o.sound(high, low) {
			return trace.Numerical, ErrOverflow
		}
		// No better than a round ago, and nothing left to move.
		rounding := o.rounding()
		stuck := violation >= last && (violation <= 4*rounding || o.Iterations == before)
		if o.Iterations-sureAt >= 10*max(batch, o.m) {
			// The apparent gain of the steps may be rounding.
			if done, err := o.refresh(); !done || err != nil {
				return trace.Cancelled, err
			}
			if vain++; o.Objective-sure > 0x1p-50*math.Abs(sure) || math.IsInf(sure, -1) {
				sure, vain = o.Objective, 0
			}
			sureAt, stuck = o.Iterations, stuck || vain >= 3
			high, low = o.interval()
			violation = high - low
		}
		if violation <= tol || stuck || o.Iterations >= o.Limit {
			if !o.exact {
				if done, err := o.refresh(); !done || err != nil {
					return trace.Cancelled, err
				}
				continue
			}
			if violation <= tol {
				if rounding > tol {
					return trace.Numerical, nil
				}
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
		case o.Iterations >= o.Limit:
			return trace.IterationLimit, nil
		}
		last, before = violation, o.Iterations
		o.enough = math.Inf(1)
		status, err := o.round(tol, high, low)
		if err != nil || status == trace.Cancelled {
			return status, err
		}
	}
}

// finish calls solve with a decreasing tolerance until the relative duality gap is also at most
// tol: if the objective is small or C large, a violation of tol leaves a much larger gap. If that
// cannot be shown, the status is numerical.
func (o *smo[T]) finish(tol float64) (trace.Status, error) {
	goal, share := tol, max(tol, gapTol)
	for {
		status, err := o.solve(goal)
		if err != nil || status == trace.Cancelled || !rows.Definite(o.k) {
			return status, err
		}
		r := o.result(status)
		if goal < tol && r.RelativeGap <= share && r.KKTViolation <= tol {
			return trace.Converged, nil
		}
		if status != trace.Converged || r.RelativeGap <= share {
			return status, nil
		}
		soft := !math.IsInf(o.c, 1)
		if soft && o.widen(share, tol) {
			if o.result(status).RelativeGap > share { // C times slack left by rounding
				status = trace.Numerical
			}
			return status, nil
		}
		shrink := min(0.5, max(0.1, share/r.RelativeGap/2)) // the gap shrinks about in proportion
		if soft && !o.held() {
			shrink = 0.5 // as widen about doubles the violation
		}
		goal *= shrink
	}
}

// gapTol is the smallest relative gap required.
const gapTol = 1e-6

// widen scales u until no point has slack, if that leaves a relative gap of at most share and a
// violation of at most tol. The slack that a tolerance leaves costs C times as much, and a smaller
// tolerance many steps, although C has no effect where no alpha is at its bound.
func (o *smo[T]) widen(share, tol float64) bool {
	var y, ku, free, room float64
	for i, u := range o.u[:o.m] {
		if o.up[i] == 0 && o.low[i] == 0 {
			y, ku, free = y+o.y[i], ku+o.ku[i], free+1
			room = max(room, math.Abs(u)/o.weight[i])
		}
	}
	if free == 0 || o.held() {
		return false
	}
	y, ku = y/free, ku/free
	t := 1.0 // f is t (Ku)_i + y - t ku, see result
	for i, v := range o.y[:o.m] {
		if o.weight[i] == 0 {
			continue
		}
		if f := v * (o.ku[i] - ku); f > 0 {
			t = max(t, (1-v*y)/f)
		} else {
			return false
		}
	}
	t *= 1 + gapTol/10 // beyond rounding
	sum, square := o.dual()
	if t*room >= o.c || !(t*t*square-t*sum <= share*t*t*square/2) {
		return false
	}
	high, low := math.Inf(-1), math.Inf(1)
	for i, y := range o.y[:o.m] {
		g := y - t*o.ku[i]
		high, low = max(high, g+o.up[i]), min(low, g+o.low[i])
	}
	if high-low > tol {
		return false
	}
	o.scale(t)
	o.Objective = t*sum - t*t*square/2
	return true
}

// scale multiplies u by t.
func (o *state) scale(t float64) {
	floats.Scale(t, o.u)
	floats.Scale(t, o.ku)
	floats.Scale(t, o.reach)
	for i, y := range o.y {
		o.g[i] = y - t*(y-o.g[i])
	}
}

// sound reports whether the iterate is finite; high and low are its interval, where NaN and
// infinities in g show.
func (o *state) sound(high, low float64) bool {
	return !math.IsNaN(high-low) && !math.IsInf(high, 1) && !math.IsInf(low, -1) &&
		!math.IsNaN(o.Objective) && !math.IsInf(o.Objective, 0)
}

// addProduct adds sum_k w_k K_ij to dst[i], j = points[k], unless the context ends. It computes
// in double precision if the gradient is exact, which it stays, and otherwise in the precision of
// the rows.
func (o *smo[T]) addProduct(dst []float64, points []int, w []float64) error {
	product := addProduct
	if o.rounded() && !o.exact {
		product = addProduct32
	}
	o.computed += len(points)
	work, err := product(o.Context, o.k, dst, points, w)
	o.spent += work
	return err
}

// rounded reports whether the rows are in single precision.
func (o *smo[T]) rounded() bool {
	_, ok := any(T(0)).(float32)
	return ok
}

// addExactly is addProduct in double precision. If all rows are cached in it, as with few points
// they usually are, their values need not be computed again.
func (o *smo[T]) addExactly(dst []float64, points []int, w []float64) (work int, err error) {
	if o.rounded() || o.m >= few || slices.ContainsFunc(points, o.rows.Missing) {
		return addProduct(o.Context, o.k, dst, points, w)
	}
	cached := func(i int) []T {
		row, _ := o.rows.Row(i)
		return row
	}
	return addHeld(o.Context, cached, dst, points, w)
}

// place sets u_i.
func (o *state) place(i int, u float64) {
	o.u[i] = u
	if u := math.Abs(u); u > o.reach[i] {
		o.reach[i] = u
	}
	o.mark(i)
}

// settle moves points to their bound that differ from it only by rounding; they would count as
// free and determine the bias. The criteria are a distance of some units in the last place of the
// largest |u_i| so far, and no effect on any gradient. C is no criterion, as it may be
// arbitrarily larger than every alpha.
func (o *state) settle() {
	for i, u := range o.u[:o.m] {
		if o.up[i] == 0 && o.low[i] == 0 {
			beside := settled * o.reach[i]
			if size := math.Sqrt(o.size * math.Abs(o.diag[i])); size*beside > unfelt {
				beside = unfelt / size
			}
			switch {
			case u-o.lo(i) <= beside:
				o.place(i, o.lo(i))
			case o.hi(i)-u <= beside:
				o.place(i, o.hi(i))
			}
		}
		o.reach[i] = math.Abs(o.u[i])
	}
}

const (
	settled = 0x1p-44 // some units in the last place
	unfelt  = 0x1p-40 // of a gradient, whose unit is the margin
)

// refresh computes the gradient from u alone, after removing from u the rounding errors at the
// bounds and in its sum. It reports false if ctx ended, leaving g unchanged.
func (o *smo[T]) refresh() (bool, error) {
	o.settle()
	room, i := 0.0, -1
	for k, u := range o.u[:o.m] {
		if r := min(o.hi(k)-u, u-o.lo(k)); r > room {
			room, i = r, k
		}
	}
	if excess := floats.Sum(o.u); math.Abs(excess) < room {
		o.u[i] -= excess
	}
	ku := make([]float64, len(o.ku))
	points, w := o.last.from(o.state, ku)
	work, err := o.addExactly(ku[:o.m], points, w)
	o.spent += work
	if err != nil {
		return false, nil
	}
	copy(o.ku, ku)
	o.last.keep(o.state)
	floats.SubTo(o.g, o.y, ku)
	if s := floats.Sum(o.g); math.IsNaN(s) || math.IsInf(s, 0) {
		row := make([]T, rows.Padded(o.m))
		for _, j := range points {
			if err := o.fill(row, j); err != nil {
				return false, err
			}
		}
	}
	sum, square := o.dual()
	o.Objective = sum - square/2
	o.exact = true
	return true, nil
}

// climb makes at most so many steps, until the stopping rule holds (converged) or a step no
// longer changes u (numerical).
func (o *smo[T]) climb(tol float64, steps int) (trace.Status, error) {
	i := o.highest()
	o.exact = false
	for ; steps > 0 && o.Iterations < o.Limit; steps-- {
		if o.computed > o.together {
			if err := o.tabulate(); o.Context.Err() != nil {
				return trace.Cancelled, nil
			} else if err != nil {
				return trace.Numerical, err
			}
		}
		ki, err := o.rows.Row(i)
		if err != nil {
			return trace.Numerical, err
		}
		j, violation := rows.Partner(o.g, o.low, o.diag, ki, o.g[i], o.diag[i])
		if violation <= tol || j < 0 {
			return trace.Converged, nil
		}
		kj, err := o.rows.Row(j)
		if err != nil {
			return trace.Numerical, err
		}
		step, err := o.step(i, j, float64(ki[j]))
		if err != nil || step == 0 {
			return trace.Numerical, err
		}
		i = rows.Update(o.g, o.up, ki, kj, step)
		o.Iterations++
		o.spent += 2 * o.m
		if o.Ended(2 * len(o.g)) {
			return trace.Cancelled, nil
		}
		if o.Work == 0 {
			o.Report(violation)
		}
		if o.outgrown() {
			break
		}
	}
	return trace.IterationLimit, nil
}

// highest returns the i that attains m(a).
func (o *state) highest() (i int) {
	best := math.Inf(-1)
	for k, g := range o.g {
		if v := g + o.up[k]; v > best {
			best, i = v, k
		}
	}
	return i
}

// step moves u_i up and u_j down by the same amount to the maximum of the objective along the
// pair or to the first bound, and returns the amount.
func (o *state) step(i, j int, kij float64) (float64, error) {
	curvature := o.diag[i] + o.diag[j] - 2*kij
	toHi, toLo := o.hi(i)-o.u[i], o.u[j]-o.lo(j)
	if math.IsInf(min(toHi, toLo), 1) { // opposite labels and no bound
		if err := o.margin(curvature / 4); err != nil {
			return 0, err
		}
	}
	slope := o.g[i] - o.g[j]
	step := min(toHi, toLo, slope/rows.Guarded(curvature))
	if math.IsNaN(step) || math.IsInf(step, 0) {
		return 0, ErrOverflow
	}
	ui, uj := o.u[i]+step, o.u[j]-step
	if step == toHi { // exactly on the bound, so that the point counts as bounded
		ui = o.hi(i)
	}
	if step == toLo {
		uj = o.lo(j)
	}
	if ui == o.u[i] && uj == o.u[j] {
		return 0, nil
	}
	if step == toHi || step == toLo { // rounded like the point at the bound
		o.reach[i] = max(o.reach[i], o.reach[j])
		o.reach[j] = o.reach[i]
	}
	o.place(i, ui)
	o.place(j, uj)
	o.Objective += step * (slope - step*curvature/2)
	return step, nil
}

// interval returns m(a) and M(a).
func (o *state) interval() (high, low float64) {
	high, low = math.Inf(-1), math.Inf(1)
	for k, g := range o.g {
		high = max(high, g+o.up[k])
		low = min(low, g+o.low[k])
	}
	return high, low
}

// rounding estimates the error of g from rounding of the kernel values and their sums.
func (o *state) rounding() float64 {
	return 0x1p-53 * math.Sqrt(o.size) * o.length()
}

// length returns sum_i |u_i| |x_i| in feature space.
func (o *state) length() (sum float64) {
	for i, u := range o.u[:o.m] {
		if u != 0 {
			sum += math.Abs(u) * math.Sqrt(math.Abs(o.diag[i]))
		}
	}
	return sum
}

// dual returns the terms of the dual objective: sum alpha and u'Ku.
func (o *state) dual() (sum, square float64) {
	for i, u := range o.u {
		sum += math.Abs(u)
		square += u * (o.y[i] - o.g[i])
	}
	return sum, square
}
