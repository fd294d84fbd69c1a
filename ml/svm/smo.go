package svm

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
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
// rule, to which finish adds one for the gap, the guard tau for kernels whose second
// derivative along the pair is not positive, and the bias are those of LIBSVM (Chang,
// Lin, ACM TIST 2, 2011).
//
// Most points settle early: they stay at a bound that their g pushes them to
// (Joachims 1999, "shrinking"). A smaller smo over the others does most of the
// steps; afterwards the gradient of all points is brought up to date, which shows
// whether one was set aside too early. Where pairs are slow, at a large C, Newton
// steps and a path along C help, and with many points neighbourhoods and a start from
// fewer points: see newton.go, path.go, near.go and coarse.go.
type smo[T rows.Real] struct {
	*state
	k      Matrix
	points []int // of the whole problem; nil: all
	rows   *rows.Cache[T]

	dense   bool       // points have others with nearly the same row
	sampled float64    // violation before the last round on a sample
	doubted float64    // violation before the last round on the points that the bias of a part leaves in doubt
	bias    [2]float64 // between which the last part had it
	grownAt int        // iterations when the bound rose last
}

// newSMO keeps its rows in memory.
func newSMO[T rows.Real](k Matrix, from *state, memory rows.Memory[T]) *smo[T] {
	o := &smo[T]{
		state: from, k: k, sampled: math.Inf(1), doubted: math.Inf(1), bias: [2]float64{math.Inf(-1), math.Inf(1)},
	}
	o.rows = rows.NewCache(o.m, memory, o.fill)
	o.rows.Whole = tabulated[T](k)
	return o
}

// state is an iterate with all that the steps on it need. The vectors are padded,
// see sweep.go.
type state struct {
	*monitor
	m       int // points
	y, diag []float64
	c       float64   // +Inf: hard margin
	weight  []float64 // the bound of alpha_i is weight_i c
	lo, hi  []float64 // bounds of u
	u, g    []float64
	ku      []float64 // K u where exact: y - g, but with the digits that this has lost
	reach   []float64 // what u_i may hold some rounding of: see settle
	// up is 0 on I_up and -Inf elsewhere, low is 0 on I_low and +Inf elsewhere:
	// added to g, they take a point out of a maximum or a minimum.
	up, low []float64
	exact   bool // g and ku were computed from u in double precision, their changes since included
	last    known

	size   float64 // largest |K_ii| of all points
	extent float64 // of a hard margin: how far all points reach from one of them, squared
}

// monitor is shared by a problem and its parts.
type monitor struct {
	trace.Monitor
	without without
	total   int // points of the whole problem
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
	n := rows.Padded(m)
	block := make([]float64, 11*n)
	vector := func() (v []float64) {
		v, block = block[:n:n], block[n:]
		return v
	}
	o := &state{
		monitor: mon, m: m, y: vector(), diag: vector(), lo: vector(), hi: vector(), weight: vector(),
		u: vector(), g: vector(), ku: vector(), reach: vector(), up: vector(), low: vector(),
	}
	for i := m; i < n; i++ {
		o.up[i], o.low[i] = math.Inf(-1), math.Inf(1)
	}
	return o
}

// bound makes c the bound of alpha.
func (o *state) bound(c float64) {
	o.c = c
	for i, w := range o.weight[:o.m] {
		if o.y[i] > 0 {
			o.hi[i] = c * w
		} else {
			o.lo[i] = -c * w
		}
		o.mark(i)
	}
}

// mark records whether u_i may rise and fall.
func (o *state) mark(i int) {
	u, up, low := o.u[i], 0.0, 0.0
	if u >= o.hi[i] {
		up = math.Inf(-1)
	}
	if u <= o.lo[i] {
		low = math.Inf(1)
	}
	o.up[i], o.low[i] = up, low
}

// part returns the problem of some points, the others staying as they are. Until
// it is done, the memory of the rows is its own.
func (o *smo[T]) part(points []int) *smo[T] {
	o.rows.Drop()
	p := newSMO(rows.Subset(o.k, points), emptyState(len(points), o.monitor), o.rows.Memory)
	p.size, p.extent = o.size, o.extent
	p.c, p.dense, p.points = o.c, o.dense, make([]int, len(points))
	for k, j := range points {
		p.y[k], p.diag[k], p.lo[k], p.hi[k] = o.y[j], o.diag[j], o.lo[j], o.hi[j]
		p.u[k], p.g[k], p.up[k], p.low[k], p.reach[k] = o.u[j], o.g[j], o.up[j], o.low[j], o.reach[j]
		p.points[k] = j
		if o.points != nil {
			p.points[k] = o.points[j]
		}
	}
	return p
}

// fill computes row i in the precision of the rows; dst is padded.
func (o *smo[T]) fill(dst []T, i int) error {
	o.spent += o.m
	o.Work += 16 * o.total // a value of the kernel may cost as much as many updates
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

// solve makes rounds until the violation is at most tol. The end is believed only
// when it holds for an exact gradient.
func (o *smo[T]) solve(tol float64) (trace.Status, error) {
	last, before := math.Inf(1), -1
	sure, sureAt, vain := math.Inf(-1), o.Iterations, 0 // highest objective of an exact gradient, the iterations at the last one, and how many since were no higher but for rounding
	for {
		if o.Context.Err() != nil {
			return trace.Cancelled, nil
		}
		high, low := o.interval()
		violation := high - low
		if !o.sound(high, low) {
			return trace.Numerical, ErrOverflow
		}
		// No better than a round ago, and nothing that could still be moved.
		rounding := o.rounding()
		stuck := violation >= last && (violation <= 4*rounding || o.Iterations == before)
		if o.Iterations-sureAt >= 10*max(batch, o.m) {
			// What the steps seem to gain may be rounding.
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
		status, err := o.round(tol, high, low)
		if err != nil || status == trace.Cancelled {
			return status, err
		}
	}
}

// finish is solve that goes on until the gap is at most a share of the primal objective as well,
// which tol is: where the objective is small, or C large, a violation of tol leaves much more.
// What cannot be proved so is numerical.
func (o *smo[T]) finish(tol float64) (trace.Status, error) {
	goal, share := tol, max(tol, gapTol)
	for {
		status, err := o.solve(goal)
		if err != nil || status == trace.Cancelled || math.IsInf(o.c, 1) || !rows.Definite(o.k) {
			return status, err
		}
		r := o.result(status)
		gap, enough := r.Primal-r.Dual, share*math.Abs(r.Primal)
		if goal < tol && gap <= enough && r.KKTViolation <= tol {
			return trace.Converged, nil
		}
		if status != trace.Converged || gap <= enough {
			return status, nil
		}
		goal *= min(0.5, max(0.1, enough/gap/2)) // about as the gap does
	}
}

// gapTol is the least share that a gap is asked to be.
const gapTol = 1e-6

// sound reports whether the iterate is made of finite numbers; high and low are its
// interval, which a value that is not finite shows up in.
func (o *state) sound(high, low float64) bool {
	return !math.IsNaN(high-low) && !math.IsInf(high, 1) && !math.IsInf(low, -1) &&
		!math.IsNaN(o.Objective) && !math.IsInf(o.Objective, 0)
}

// active returns the points that may still move: not those at a bound to which g
// pushes them beyond every bias that is possible now.
func (o *state) active(high, low float64) []int {
	points := make([]int, 0, o.m)
	for i, g := range o.g[:o.m] {
		atHi, atLo := o.up[i] != 0, o.low[i] != 0
		if atHi && g > high || atLo && g < low || atHi && atLo {
			continue
		}
		points = append(points, i)
	}
	return points
}

// round makes steps that bring the violation, high - low, nearer to tol. They are
// on the active points until a hundredth of it is left, on fewer as long as that halves
// it each time, and on all points as long as few have settled, with a Newton step or a
// turn through the neighbourhoods now and then. The fewer are a sample of the active
// points, or those that are active if the last part, such as the sample, has found the
// bias: a few points far on the wrong side make the interval of all too wide to tell.
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
	if free := o.free(); !o.without.near && o.dense && len(free) > nearFree && o.m > many && o.spent >= o.nears.due(o.nearWork(o.m)) {
		status, err := o.neighbourhoods(free, max(tol, (high-low)/smaller))
		if err != nil || status == trace.Cancelled {
			return status, err
		}
	}
	return o.climbOrNewton(tol, batch)
}

// guess makes steps on points picked that may be all that are active, until a tenth of the violation is
// left, and reports whether any were made. There are none when the points are too many, or
// when the violation has not halved since the last guess of that kind.
func (o *smo[T]) guess(last *float64, violation, tol float64, pick func() []int) (bool, trace.Status, error) {
	if violation > *last/2 {
		return false, trace.IterationLimit, nil
	}
	points := pick()
	if fewOf*len(points) > o.m {
		return false, trace.IterationLimit, nil
	}
	*last = violation
	before := o.Iterations
	status, err := o.climbPart(points, max(tol, violation/smaller))
	return err != nil || status == trace.Cancelled || o.Iterations > before, status, err
}

// climbOrNewton is climb with a Newton step whenever one is due.
func (o *smo[T]) climbOrNewton(tol float64, steps int) (trace.Status, error) {
	for !o.without.newton && steps > 0 {
		free := o.free()
		if o.spent >= o.newtons.due(newtonWork(len(free), o.m)) && o.Iterations < o.Limit {
			if err := o.newton(free); err != nil {
				return trace.Numerical, err
			}
			if o.Context.Err() != nil { // it may have ended there, at no cost, and be due at once
				return trace.Cancelled, nil
			}
		}
		some, before := min(steps, max(1, (o.newtons.due(newtonWork(len(free), o.m))-o.spent)/(2*o.m))), o.Iterations
		if status, err := o.climb(tol, some); err != nil || o.Iterations < before+some {
			return status, err
		}
		steps -= some
	}
	return o.climb(tol, steps)
}

// sample picks the free ones of the points and some of the others.
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

// free returns the points whose u is between its bounds.
func (o *state) free() []int {
	var points []int
	for i := range o.m {
		if o.up[i] == 0 && o.low[i] == 0 {
			points = append(points, i)
		}
	}
	return points
}

// climbPart makes rounds on some points only, until their violation is at most
// tol, followed by the update of all points.
func (o *smo[T]) climbPart(points []int, tol float64) (trace.Status, error) {
	p := o.part(points)
	o.Ahead++ // all points
	defer func() { o.Ahead-- }()
	end := min(o.Iterations+10*max(batch, 2*len(points)), o.Limit)
	status := trace.IterationLimit
	for o.Iterations < end {
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
	o.spent += len(moved) * o.m
	product := make([]float64, len(o.g))
	if status == trace.Cancelled || o.addProduct(product[:o.m], moved, change) != nil {
		return trace.Cancelled, nil
	}
	floats.Add(o.g, product)
	floats.Sub(o.ku, product)
	return status, nil
}

// addProduct adds sum_k w_k K_ij to dst[i], j = points[k], unless the context ends. An exact
// gradient gets it in double precision and stays exact, any other in that of the rows.
func (o *smo[T]) addProduct(dst []float64, points []int, w []float64) error {
	var row []T
	if _, ok := any(row).([]float32); ok && !o.exact {
		return addProduct32(o.Context, o.k, dst, points, w)
	}
	return addProduct(o.Context, o.k, dst, points, w)
}

// place makes u_i what it is to be.
func (o *state) place(i int, u float64) {
	o.u[i] = u
	if u := math.Abs(u); u > o.reach[i] {
		o.reach[i] = u
	}
	o.mark(i)
}

// settle takes to its bound what rounding has left beside it, where a point would pass
// for a free one and fix the bias. Two things tell: it is some units in the last place of
// where the point has been, and no gradient feels it. C says nothing, as it may be any
// number of times larger than every alpha.
func (o *state) settle() {
	for i, u := range o.u[:o.m] {
		if o.up[i] == 0 && o.low[i] == 0 {
			beside := settled * o.reach[i]
			if size := math.Sqrt(o.size * math.Abs(o.diag[i])); size*beside > unfelt {
				beside = unfelt / size
			}
			switch {
			case u-o.lo[i] <= beside:
				o.place(i, o.lo[i])
			case o.hi[i]-u <= beside:
				o.place(i, o.hi[i])
			}
		}
		o.reach[i] = math.Abs(o.u[i])
	}
}

const (
	settled = 0x1p-44 // some units in the last place
	unfelt  = 0x1p-40 // of a gradient, which is measured in margins
)

// refresh computes the gradient from u alone, after taking from u what rounding has
// left beside bounds and has added to its sum. It reports false when ctx ended, and
// leaves g as it was.
func (o *smo[T]) refresh() (bool, error) {
	o.settle()
	room, i := 0.0, -1
	for k, u := range o.u {
		if r := min(o.hi[k]-u, u-o.lo[k]); r > room {
			room, i = r, k
		}
	}
	if excess := floats.Sum(o.u); math.Abs(excess) < room {
		o.u[i] -= excess
	}
	ku := make([]float64, len(o.ku))
	points, w := o.last.from(o.state, ku)
	o.spent += len(points) * o.m
	if addProduct(o.Context, o.k, ku[:o.m], points, w) != nil {
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

// climb makes at most so many steps, until the stopping rule holds (converged)
// or no step changes u any more (numerical).
func (o *smo[T]) climb(tol float64, steps int) (trace.Status, error) {
	i := o.highest()
	o.exact = false
	enough := math.Inf(1) // for a hard margin: see growth
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
		switch {
		case !math.IsInf(o.c, 1):
		case math.IsInf(enough, 1):
			enough = growth * o.Objective
		case o.Objective > enough:
			return trace.IterationLimit, nil
		}
	}
	return trace.IterationLimit, nil
}

// highest returns the i of m(a).
func (o *state) highest() (i int) {
	best := math.Inf(-1)
	for k, g := range o.g {
		if v := g + o.up[k]; v > best {
			best, i = v, k
		}
	}
	return i
}

// step moves u_i up and u_j down to the maximum of the objective along the pair
// or to the first bound, and returns by how much.
func (o *state) step(i, j int, kij float64) (float64, error) {
	curvature := o.diag[i] + o.diag[j] - 2*kij
	toHi, toLo := o.hi[i]-o.u[i], o.u[j]-o.lo[j]
	if math.IsInf(min(toHi, toLo), 1) { // opposite labels, and nothing bounds the pair
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
	if step == toHi { // exactly, so that a bounded point is known as such
		ui = o.hi[i]
	}
	if step == toLo {
		uj = o.lo[j]
	}
	if ui == o.u[i] && uj == o.u[j] {
		return 0, nil
	}
	if step == toHi || step == toLo { // as exact as the point at the bound
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

// rounding estimates how well g can be known: what rounding of the kernel's values and of
// their sums may do to it.
func (o *state) rounding() float64 {
	return 0x1p-53 * math.Sqrt(o.size) * o.length()
}

// length is the sum of the lengths of all u_i x_i in feature space.
func (o *state) length() (sum float64) {
	for i, u := range o.u[:o.m] {
		if u != 0 {
			sum += math.Abs(u) * math.Sqrt(math.Abs(o.diag[i]))
		}
	}
	return sum
}

// dual returns the two parts of the dual objective: sum alpha and u'Ku.
func (o *state) dual() (sum, square float64) {
	for i, u := range o.u {
		sum += math.Abs(u)
		square += u * (o.y[i] - o.g[i])
	}
	return sum, square
}

const (
	// growth of the objective of a hard margin ends a batch of steps: stretch is to tell
	// an unbounded dual before numbers overflow.
	growth = 1e6
	// separable is the smallest margin that counts, relative to the extent of the points.
	separable = 1e-6
	// untold is the rounding error of a squared distance in feature space, relative to
	// max |K_ii|: distances are differences of kernel values.
	untold = 0x1p-48
	// indefinite is how far a squared length has to be below 0, relative to max |K_ii|,
	// for more than rounding to be behind it.
	indefinite = 0x1p-40
)

// margin returns the error, if there is one, that follows from a proof that the square
// of the hard margin is at most so much. It compares with how far the points reach from
// each other: their distance from the origin of feature space tells nothing, but for
// what rounding leaves of distances.
func (o *state) margin(square float64) error {
	noise := untold * o.size
	switch {
	case square < -indefinite*o.size:
		return ErrUnbounded
	case square > max(noise, separable*separable*o.extent):
		return nil
	case noise > separable*o.extent && o.extent > 0: // not even a thousandth of the extent shows
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
		if v != o.diag[0] || v != o.diag[j] { // not at one point, even if rounding has it so
			d = max(d, 0x1p-53*o.size)
		}
		o.extent = max(o.extent, d)
	}
	return nil
}

// stretch goes to the maximum of the hard-margin objective along the ray through
// u: t sum alpha - t² u'Ku / 2 is largest at t = sum alpha / u'Ku. It changes
// nothing at the solution, where the two are equal, but lets u grow by factors
// when there is no solution. Then it is certain, too: every feasible alpha proves
// that the margin is at most |w| / sum alpha (half the distance of two points in
// the hulls of the classes). With an indefinite kernel u'Ku may be negative: the
// objective then grows along the ray for ever.
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
	floats.Scale(t, o.u)
	floats.Scale(t, o.ku)
	floats.Scale(t, o.reach)
	for i, y := range o.y {
		o.g[i] = y - t*(y-o.g[i])
	}
	o.Objective = sum * t / 2
	return nil
}
