package svm

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

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
	if free := o.free(); !o.without.near && o.merged.dense() && len(free) > nearFree && o.m > oneOf*many && o.spent >= o.nears.due(o.nearWork(o.m)) {
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
