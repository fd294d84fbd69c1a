package svm

import (
	"context"
	"math"
	"math/rand/v2"
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
// bias are those of LIBSVM (Chang, Lin, ACM TIST 2, 2011).
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
}

// newSMO returns a solver that caches its rows in memory.
func newSMO[T rows.Real](k Matrix, from *state, memory rows.Memory[T]) *smo[T] {
	o := &smo[T]{
		state: from, k: k, bias: [2]float64{math.Inf(-1), math.Inf(1)},
		sampled: guess{violation: math.Inf(1)}, doubted: guess{violation: math.Inf(1)},
	}
	o.rows = rows.NewCache(o.m, memory, o.fill)
	o.rows.Whole = tabulated[T](k)
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

// part returns the problem restricted to some points, the others fixed. It uses the row memory of
// o until it is done, and keeps points, which must not change.
func (o *smo[T]) part(points []int) *smo[T] {
	o.rows.Drop()
	p := newSMO(rows.Subset(o.k, points), emptyPart(len(points), o.monitor), o.rows.Memory)
	p.size, p.extent = o.size, o.extent
	p.c, p.merged, p.points = o.c, o.merged, points
	if o.points != nil {
		p.points = make([]int, len(points))
		for k, j := range points {
			p.points[k] = o.points[j]
		}
	}
	for k, j := range points {
		p.y[k], p.diag[k], p.weight[k] = o.y[j], o.diag[j], o.weight[j]
		p.u[k], p.g[k], p.up[k], p.low[k], p.reach[k] = o.u[j], o.g[j], o.up[j], o.low[j], o.reach[j]
	}
	return p
}

// fill computes row i in the precision of the rows; dst is padded.
func (o *smo[T]) fill(dst []T, i int) error {
	o.spent += o.m
	o.Work += 16 * o.total // a kernel value may cost as much as many updates
	rows.Row(o.k, dst[:o.m], i)
	clear(dst[o.m:])
	if j := rows.Infinite(dst); j >= 0 {
		v := float64(dst[j])
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
		if !math.IsInf(o.c, 1) && o.widen(share, tol) {
			if o.result(status).RelativeGap > share { // C times slack left by rounding
				status = trace.Numerical
			}
			return status, nil
		}
		goal *= min(0.5, max(0.1, share/r.RelativeGap/2)) // the gap shrinks about in proportion
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

// active returns the points that may still move: all except those at a bound to which g pushes
// them for every bias still possible.
func (o *state) active(high, low float64) []int {
	settled := func(i int) bool {
		g, atHi, atLo := o.g[i], o.up[i] != 0, o.low[i] != 0
		return atHi && g > high || atLo && g < low || atHi && atLo
	}
	n := 0 // counted first, as the points are held while a part of a million is solved
	for i := range o.m {
		if !settled(i) {
			n++
		}
	}
	points := make([]int, 0, n)
	for i := range o.m {
		if !settled(i) {
			points = append(points, i)
		}
	}
	return points
}

// round makes steps that reduce the violation, high - low, towards tol: on the active points
// until a hundredth is left; on fewer of them as long as each such round halves it; on all points
// as long as few have settled, with occasional Newton steps or a sweep over the neighbourhoods.
// The fewer points are a sample of the active ones, or those that are active if the last part,
// such as the sample, has found the bias: a few points far on the wrong side make the interval of
// all points too wide to rule out any.
func (o *smo[T]) round(tol, high, low float64) (trace.Status, error) {
	if !o.without.parts {
		active, violation := o.active(high, low), high-low
		if len(active) >= many {
			if done, status, err := o.guess(&o.sampled, violation, tol, func() []int { return o.sample(active) }); done {
				return status, err
			}
		}
		if fewOf*len(active) <= o.m {
			return o.climbPart(active, max(tol, violation/smaller/smaller))
		}
		if done, status, err := o.guess(&o.doubted, violation, tol, func() []int { return o.active(o.bias[1], o.bias[0]) }); done {
			return status, err
		}
	}
	if free := o.free(); !o.without.near && o.merged.dense() && len(free) > nearFree && o.m > many && o.spent >= o.nears.due(o.nearWork(o.m)) {
		status, err := o.neighbourhoods(free, max(tol, (high-low)/smaller))
		if err != nil || status == trace.Cancelled {
			return status, err
		}
	}
	return o.climbOrNewton(tol, batch)
}

// guess is the last round of a kind on a part that may lack active points. Its doubt stays 0.
type guess struct {
	turns
	violation float64 // before it
}

// again reports whether to guess again: the violation has halved, or the last guess gained more
// per work than everything since, which took at least as much.
func (o *state) again(last *guess, violation float64) bool {
	return violation <= last.violation/2 ||
		o.spent >= last.due(last.took) && last.gain*float64(o.spent-last.at) > (o.Objective-last.on)*float64(last.took)
}

// guess makes steps on the picked points, which may be all that are active, until a tenth of the
// violation is left. It reports whether it made any: not if the points are too many or no guess is due.
func (o *smo[T]) guess(last *guess, violation, tol float64, pick func() []int) (bool, trace.Status, error) {
	if !o.again(last, violation) {
		return false, trace.IterationLimit, nil
	}
	points := pick()
	if fewOf*len(points) > o.m {
		return false, trace.IterationLimit, nil
	}
	before, begun, on := o.Iterations, o.spent, o.Objective
	status, err := o.climbPart(points, max(tol, violation/smaller))
	last.violation = violation
	o.end(&last.turns, begun, on)
	return err != nil || status == trace.Cancelled || o.Iterations > before, status, err
}

// climbOrNewton is climb with a Newton step whenever one is due.
func (o *smo[T]) climbOrNewton(tol float64, steps int) (trace.Status, error) {
	for !o.without.newton && steps > 0 && !o.outgrown() {
		free := o.free()
		if o.spent >= o.newtonDue(len(free), o.m) && o.Iterations < o.Limit {
			if err := o.newton(free); err != nil {
				return trace.Numerical, err
			}
			if o.Context.Err() != nil { // cancelled at no cost, the step would be due again at once
				return trace.Cancelled, nil
			}
		}
		some, before := min(steps, max(1, (o.newtonDue(len(free), o.m)-o.spent)/(2*o.m))), o.Iterations
		if status, err := o.climb(tol, some); err != nil || o.Iterations < before+some {
			return status, err
		}
		steps -= some
	}
	return o.climb(tol, steps)
}

// sample returns the free points among points and a random quarter of the others.
func (o *state) sample(points []int) []int {
	r := rand.New(rand.NewPCG(1, uint64(o.Iterations)))
	var s []int
	for _, i := range points {
		if o.up[i] == 0 && o.low[i] == 0 || r.IntN(oneOf) == 0 {
			s = append(s, i)
		}
	}
	return s
}

// free returns the points with u strictly between its bounds.
func (o *state) free() []int {
	var points []int
	for i := range o.m {
		if o.up[i] == 0 && o.low[i] == 0 {
			points = append(points, i)
		}
	}
	return points
}

// climbPart makes rounds on a subset of points until their violation is at most tol, then updates
// the gradient of all points.
func (o *smo[T]) climbPart(points []int, tol float64) (trace.Status, error) {
	p := o.part(points)
	o.Ahead++ // all points follow
	defer func() { o.Ahead-- }()
	end := min(o.Iterations+10*max(batch, 2*len(points)), o.Limit)
	status := trace.IterationLimit
	for o.Iterations < end && !p.outgrown() {
		high, low := p.interval()
		if high-low <= tol {
			status = trace.Converged
			break
		}
		if !p.sound(high, low) {
			return trace.Numerical, ErrOverflow
		}
		before := o.Iterations
		var err error
		if status, err = p.round(tol, high, low); err != nil {
			return status, err
		}
		if status == trace.Cancelled || o.Iterations == before {
			break
		}
	}
	high, low := p.interval()
	o.bias = [2]float64{min(high, low), max(high, low)}
	var moved []int
	var change []float64
	for k, j := range points {
		if d := o.u[j] - p.u[k]; d != 0 {
			moved, change = append(moved, j), append(change, d)
			o.reach[j] = p.reach[k]
			o.place(j, p.u[k])
		}
	}
	product := make([]float64, len(o.g))
	if status == trace.Cancelled || o.addProduct(product[:o.m], moved, change) != nil {
		return trace.Cancelled, nil
	}
	floats.Add(o.g, product)
	if o.ku != nil {
		floats.Sub(o.ku, product)
	}
	return status, nil
}

// addProduct adds sum_k w_k K_ij to dst[i], j = points[k], unless the context ends. It computes
// in double precision if the gradient is exact, which it stays, and otherwise in the precision of
// the rows.
func (o *smo[T]) addProduct(dst []float64, points []int, w []float64) error {
	product := addProduct
	if o.rounded() && !o.exact {
		product = addProduct32
	}
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

const (
	// growth of a hard-margin objective by this factor ends a round: stretch then detects an
	// unbounded dual before numbers overflow or rounding unbalances them.
	growth = 1e6
	// separable is the smallest accepted margin, relative to the extent of the points.
	separable = 1e-6
	// untold is the rounding error of a squared distance in feature space, a difference of kernel
	// values, relative to max |K_ii|.
	untold = 0x1p-48
	// indefinite is how far a squared length must be below 0, relative to max |K_ii|, to prove
	// the kernel indefinite despite rounding.
	indefinite = 0x1p-40
)

// outgrown reports whether the objective of a hard margin has grown enough to end the round.
func (o *state) outgrown() bool {
	if !math.IsInf(o.c, 1) {
		return false
	}
	if math.IsInf(o.enough, 1) && o.Objective > 0 {
		o.enough = growth * o.Objective
	}
	return o.Objective > o.enough
}

// margin returns the error, if any, that follows from a proof that the squared hard margin is at
// most square. It compares with the extent of the points. Their distance from the origin of
// feature space is irrelevant, except for its effect on rounding.
func (o *state) margin(square float64) error {
	noise := untold * o.size
	switch {
	case square < -indefinite*o.size:
		return ErrUnbounded
	case square > max(noise, separable*separable*o.extent):
		return nil
	case noise > separable*o.extent && o.extent > 0: // not even a thousandth of the extent is visible
		return ErrRounding
	default:
		return ErrNotSeparable
	}
}

// measure sets the extent.
func (o *smo[T]) measure() error {
	row := make([]float64, o.m)
	o.k.Row(row, 0)
	for j, v := range row {
		d := o.diag[0] + o.diag[j] - 2*v
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return ErrOverflow
		}
		if v != o.diag[0] || v != o.diag[j] { // distinct points, even if rounding hides it
			d = max(d, 0x1p-53*o.size)
		}
		o.extent = max(o.extent, d)
	}
	return nil
}

// stretch goes to the maximum of the hard-margin objective along the ray through u:
// t sum alpha - t² u'Ku / 2 is largest at t = sum alpha / u'Ku. At the solution t = 1. If there is no
// solution, u grows by large factors until that is proved: every feasible alpha shows that the
// margin is at most |w| / sum alpha (half the distance of two points in the convex hulls of the
// classes). With an indefinite kernel u'Ku may be negative: the objective is then unbounded along
// the ray.
func (o *smo[T]) stretch() error {
	sum, square := o.dual()
	if sum == 0 {
		return nil
	}
	if o.margin(square/sum/sum) != nil {
		if done, err := o.refresh(); !done || err != nil {
			return err
		}
		sum, square = o.dual()
		if err := o.margin(square / sum / sum); err != nil {
			return err
		}
	}
	t := sum / square
	o.scale(t)
	o.Objective = sum * t / 2
	return nil
}
