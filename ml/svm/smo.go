package svm

import (
	"context"
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
// lower one u_j by the same amount, until m(a) - M(a) <= Tol. Of the pairs, i has
// the largest g in I_up and j promises the largest gain of the objective to
// second order (Fan, Chen, Lin: "Working set selection using second order
// information for training support vector machines", JMLR 6, 2005). The stopping
// rule, the guard tau for kernels whose second derivative along the pair is not
// positive, and the bias are those of LIBSVM (Chang, Lin, ACM TIST 2, 2011).
type smo struct {
	y, diag []float64
	c       float64 // +Inf: hard margin
	lo, hi  []float64
	set     Settings

	rows *cache
	u, g []float64
	// up is 0 on I_up and -Inf elsewhere, low is 0 on I_low and +Inf elsewhere:
	// added to g, they take a point out of a maximum or a minimum.
	up, low []float64

	iterations int
	work       int // matrix entries touched since the last look at ctx
	reported   int // iterations at the last report
	stretched  int // iterations at the last stretch
}

// tau stands in for a second derivative that is not positive.
const tau = 1e-12

func newSMO(k Matrix, y []float64, s Settings) *smo {
	m := len(y)
	block := make([]float64, 7*m)
	part := func() (p []float64) {
		p, block = block[:m:m], block[m:]
		return p
	}
	o := &smo{
		y: y, c: s.C, set: s, rows: newCache(k, s.CacheBytes),
		diag: part(), lo: part(), hi: part(), u: part(), g: part(), up: part(), low: part(),
	}
	for i, v := range y {
		o.diag[i] = k.Diag(i)
		if v > 0 {
			o.hi[i] = s.C
		} else {
			o.lo[i] = -s.C
		}
		o.g[i] = v
		o.mark(i)
	}
	return o
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

// run solves the problem. The gradient is carried along by updates, which drifts;
// so the end is believed only when it holds for a gradient computed afresh.
func (o *smo) run(ctx context.Context) (trace.Status, error) {
	for {
		before := o.iterations
		status, err := o.climb(ctx)
		if status == trace.Cancelled || err != nil {
			return status, err
		}
		if done, err := o.refresh(ctx); !done || err != nil {
			return trace.Cancelled, err
		}
		switch _, violation := o.violation(); {
		case violation <= o.set.Tol:
			return trace.Converged, nil
		case status == trace.IterationLimit:
			return status, nil
		case o.iterations == before:
			return trace.Numerical, nil
		}
	}
}

// climb makes steps until the stopping rule holds for the gradient as updated,
// or no step changes u any more (status numerical).
func (o *smo) climb(ctx context.Context) (trace.Status, error) {
	i, _ := o.violation()
	for {
		if o.work >= 1<<20 {
			o.work = 0
			if ctx.Err() != nil {
				return trace.Cancelled, nil
			}
			o.report()
		}
		if math.IsInf(o.c, 1) && o.iterations-o.stretched >= max(1000, len(o.y)) {
			o.stretched = o.iterations
			if err := o.stretch(ctx); err != nil {
				return trace.Numerical, err
			}
			i, _ = o.violation()
		}
		ki, err := o.row(i)
		if err != nil {
			return trace.Numerical, err
		}
		j, violation := o.partner(i, ki)
		if violation <= o.set.Tol {
			return trace.Converged, nil
		}
		if o.iterations >= o.set.MaxIter {
			return trace.IterationLimit, nil
		}
		kj, err := o.row(j)
		if err != nil {
			return trace.Numerical, err
		}
		step, err := o.step(i, j, ki[j])
		if err != nil {
			return trace.Numerical, err
		}
		if step == 0 {
			return trace.Numerical, nil
		}
		i = o.update(step, ki, kj)
		o.iterations++
	}
}

func (o *smo) row(i int) ([]float64, error) {
	if o.rows.rows[i] == nil {
		o.work += 16 * len(o.y) // a kernel value costs as much as many updates
	}
	return o.rows.row(i)
}

// partner returns the j in I_low that gains most with i to second order,
// (g_i - g_j)² / (K_ii + K_jj - 2 K_ij), and m(a) - M(a). It returns -1 and
// -Inf or 0 when no pair gains anything.
func (o *smo) partner(i int, ki []float64) (j int, violation float64) {
	g, low, diag := o.g, o.low[:len(o.g)], o.diag[:len(o.g)]
	ki = ki[:len(g)]
	gi, kii := g[i], diag[i]
	j = -1
	best := 0.0
	for k, gk := range g {
		d := gi - (gk + low[k])
		if d <= 0 {
			continue
		}
		violation = max(violation, d)
		curvature := kii + diag[k] - 2*ki[k]
		if curvature <= 0 {
			curvature = tau
		}
		if gain := d * d / curvature; gain > best {
			best, j = gain, k
		}
	}
	o.work += len(g)
	return j, violation
}

// step moves u_i up and u_j down to the maximum of the objective along the pair
// or to the first bound, and returns by how much.
func (o *smo) step(i, j int, kij float64) (float64, error) {
	curvature := o.diag[i] + o.diag[j] - 2*kij
	toHi, toLo := o.hi[i]-o.u[i], o.u[j]-o.lo[j]
	limit := min(toHi, toLo)
	if math.IsInf(limit, 1) && curvature <= separable*separable*(o.diag[i]+o.diag[j]) {
		return 0, ErrNotSeparable // opposite labels at one point: nothing bounds the pair
	}
	if curvature <= 0 {
		curvature = tau
	}
	step := min(limit, (o.g[i]-o.g[j])/curvature)
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
	return step, nil
}

// update brings the gradient up to date after a step and in the same pass finds
// the point of I_up with the largest g.
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
	o.work += len(g)
	return i
}

// violation returns the i of m(a) and m(a) - M(a).
func (o *smo) violation() (i int, violation float64) {
	high, low := math.Inf(-1), math.Inf(1)
	for k, g := range o.g {
		if v := g + o.up[k]; v > high {
			high, i = v, k
		}
		low = min(low, g+o.low[k])
	}
	return i, high - low
}

// refresh computes the gradient from u alone. It reports false when ctx ended.
func (o *smo) refresh(ctx context.Context) (bool, error) {
	copy(o.g, o.y)
	for j, u := range o.u {
		if u == 0 {
			continue
		}
		if ctx.Err() != nil {
			return false, nil
		}
		kj, err := o.row(j)
		if err != nil {
			return false, err
		}
		floats.AddScaled(o.g, -u, kj)
	}
	return true, nil
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
func (o *smo) stretch(ctx context.Context) error {
	tiny := func() (sum, square float64, yes bool) {
		sum, square = o.dual()
		return sum, square, square <= separable*separable*floats.Max(o.diag)*sum*sum
	}
	sum, square, yes := tiny()
	if yes {
		if done, err := o.refresh(ctx); !done || err != nil {
			return err
		}
		if sum, square, yes = tiny(); yes {
			return ErrNotSeparable
		}
	}
	t := sum / square
	floats.Scale(t, o.u)
	for i, y := range o.y {
		o.g[i] = y - t*(y-o.g[i])
	}
	return nil
}

func (o *smo) report() {
	if o.set.Report == nil || o.iterations < o.reported+500 {
		return
	}
	o.reported = o.iterations
	sum, square := o.dual()
	_, violation := o.violation()
	o.set.Report(trace.Step{Phase: "svm", Iteration: o.iterations, Objective: sum - square/2, Violation: violation})
}
