package mcm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/pace"
	"marginlab/ml/trace"
)

// interior solves the machine for functions f in a subspace S,
//
//	minimise   h + C sum q   subject to   y f + q - s = 1,  y f + t = h,  h = 1 + u
//
// with q, s, t, u >= 0, together with its dual: multipliers p of the first rows and n of the
// second, with y (p - n) orthogonal to S and
//
//	C - p = r >= 0,  1 - sum n = sigma >= 0.
//
// The method is Mehrotra's predictor-corrector (Mehrotra 1992; Wright, "Primal-Dual
// Interior-Point Methods", 1997). Eliminating all but f and h from the linearised conditions
// s p = q r = t n = u sigma = mu leaves a weighted projection onto S, bordered by h. Every f lies
// in S, and the start is feasible for both programs. The weights of active constraints grow by
// many powers of ten and so identify a vertex. At the optimal vertex the gap is a rounding error.
type interior struct {
	in *subspace
	y  []float64 // labels
	c  float64

	f, q, s, t []float64 // the iterate
	p, n, r    []float64
	u, sigma   float64

	a, b, w                []float64 // weights of the points: from p and from n, and their sums
	byH                    []float64 // derivative of f with respect to h
	df, dq, ds, dt, dp, dn []float64 // direction; r changes by -dp, sigma by -sum dn
	du                     float64
	dropS, dropQ, dropT    []float64 // desired decrease of the products s p, q r and t n
	dropU                  float64
	rhs                    []float64 // scratch

	iterations int
	report     func(*interior) // called after each iteration, may be nil

	bestF, bestV             []float64 // best of all iterates and vertices; bestV is y v
	objective, dualObjective float64   // their objectives
}

func newInterior(s *subspace, labels []float64) *interior {
	m := len(labels)
	x := &interior{in: s, y: labels, objective: math.Inf(1)}
	for _, v := range []*[]float64{
		&x.f, &x.q, &x.s, &x.t, &x.p, &x.n, &x.r, &x.a, &x.b, &x.w, &x.rhs, &x.byH,
		&x.bestF, &x.bestV, &x.df, &x.dq, &x.ds, &x.dt, &x.dp, &x.dn, &x.dropS, &x.dropQ, &x.dropT,
	} {
		*v = make([]float64, m)
	}
	return x
}

// start sets the first iterate: f is the least-squares fit to the labels.
func (x *interior) start(ctx context.Context) error {
	m := float64(len(x.y))
	for i := range x.w {
		x.w[i] = 1
	}
	if _, err := x.in.weigh(ctx, x.w); err != nil {
		return err
	}
	x.in.project(x.f, x.y)
	h := 1.0
	for i, f := range x.f {
		h = max(h, x.y[i]*f)
	}
	x.u, x.sigma = h, 1
	clear(x.byH)
	for i, f := range x.f {
		z := x.y[i] * f
		x.s[i], x.q[i] = 0.1+max(0, z-1), 0.1+max(0, 1-z)
		x.t[i] = 1 + x.u - z
		x.n[i] = min(0.5/m, x.c/2)
		x.p[i] = x.n[i]
		x.r[i] = x.c - x.p[i]
		x.sigma -= x.n[i]
	}
	x.objective, x.dualObjective = math.Inf(1), math.Inf(-1)
	x.keep(x.f, x.byH) // v = 0
	return nil
}

func (x *interior) value(f []float64) float64 {
	h, slack := 1.0, 0.0
	for i, y := range x.y {
		z := y * f[i]
		h = max(h, z)
		slack += max(0, 1-z)
	}
	return h + x.c*slack
}

// keep stores f and y v if they are the best so far. It compares v after shrinking it to its bounds.
func (x *interior) keep(f, yv []float64) {
	sum, negative, largest := 0.0, 0.0, x.c
	for i, y := range x.y {
		v := y * yv[i]
		sum += v
		negative += max(0, -v)
		largest = max(largest, v)
	}
	if obj := x.value(f); obj < x.objective {
		x.objective = obj
		copy(x.bestF, f)
	}
	if dual := 1 + sum*min(1/max(1, negative), x.c/largest); dual > x.dualObjective {
		x.dualObjective = dual
		copy(x.bestV, yv)
	}
}

func (x *interior) gap() float64 {
	return (x.objective - x.dualObjective) / max(1, math.Abs(x.objective))
}

// mu returns the mean of the products after steps of the given lengths.
func (x *interior) mu(primal, dual float64) float64 {
	sigma := x.sigma - dual*floats.Sum(x.dn)
	sum := (x.u + primal*x.du) * sigma
	for i := range x.s {
		p, n := x.p[i]+dual*x.dp[i], x.n[i]+dual*x.dn[i]
		sum += (x.s[i]+primal*x.ds[i])*p + (x.q[i]+primal*x.dq[i])*(x.r[i]-dual*x.dp[i]) + (x.t[i]+primal*x.dt[i])*n
	}
	return sum / float64(3*len(x.s)+1)
}

// solve iterates until the relative gap is at most tol or no longer falls.
func (x *interior) solve(ctx context.Context, c, tol float64, maxIter int) trace.Status {
	x.c = c
	if x.start(ctx) != nil {
		return trace.Cancelled
	}
	least := math.Inf(1) // smallest mean product
	for stuck := 0; x.gap() > tol && stuck < 8; {
		if x.iterations >= maxIter {
			return trace.IterationLimit
		}
		gap, bound := x.objective-x.dualObjective, x.dualObjective
		ok, err := x.step(ctx)
		if err != nil {
			return trace.Cancelled
		}
		if !ok {
			break
		}
		x.iterations++
		if x.report != nil {
			x.report(x)
		}
		if mu := x.mu(0, 0); mu < 0.95*least || x.objective-x.dualObjective < 0.9*gap || x.dualObjective > 1.01*bound {
			stuck, least = 0, min(least, mu)
		} else {
			stuck++
		}
	}
	return trace.Converged
}

func (x *interior) step(ctx context.Context) (bool, error) {
	mu := x.mu(0, 0)
	if ok, err := x.linearise(ctx); !ok || err != nil {
		return false, err
	}

	// Predictor: the full Newton step to the optimum.
	floats.MulTo(x.dropS, x.s, x.p)
	floats.MulTo(x.dropQ, x.q, x.r)
	floats.MulTo(x.dropT, x.t, x.n)
	x.dropU = x.u * x.sigma
	x.direct()
	if err := pace.Look(ctx); err != nil {
		return false, err
	}
	primal, dual := x.lengths()
	target := x.mu(min(1, primal), min(1, dual))
	target *= (target / mu) * (target / mu)

	// Corrector: the products go to target, minus the predictor's second-order terms.
	for i := range x.s {
		x.dropS[i] += x.ds[i]*x.dp[i] - target
		x.dropQ[i] += -x.dq[i]*x.dp[i] - target
		x.dropT[i] += x.dt[i]*x.dn[i] - target
	}
	x.dropU += -x.du*floats.Sum(x.dn) - target
	x.direct()
	primal, dual = x.lengths()
	primal, dual = min(1, 0.995*primal), min(1, 0.995*dual)

	x.u += primal * x.du
	x.sigma -= dual * floats.Sum(x.dn)
	floats.AddScaled(x.f, primal, x.df)
	floats.AddScaled(x.q, primal, x.dq)
	floats.AddScaled(x.s, primal, x.ds)
	floats.AddScaled(x.t, primal, x.dt)
	floats.AddScaled(x.p, dual, x.dp)
	floats.AddScaled(x.r, -dual, x.dp)
	floats.AddScaled(x.n, dual, x.dn)
	x.repair()
	for i := range x.rhs {
		x.rhs[i] = x.y[i] * (x.p[i] - x.n[i])
	}
	x.keep(x.f, x.rhs)
	if err := pace.Look(ctx); err != nil {
		return false, err
	}
	if x.vertex() {
		if x.value(x.df) < x.objective {
			x.in.settle(x.df)
		}
		x.keep(x.df, x.rhs)
	}
	return true, nil
}

// linearise prepares direct for the current iterate.
func (x *interior) linearise(ctx context.Context) (bool, error) {
	for i := range x.w {
		x.a[i] = 1 / (x.q[i]/x.r[i] + x.s[i]/x.p[i])
		x.b[i] = x.n[i] / x.t[i]
		x.w[i] = x.a[i] + x.b[i]
	}
	if ok, err := x.in.weigh(ctx, x.w); !ok || err != nil {
		return false, err
	}
	floats.MulTo(x.rhs, x.y, x.b)
	x.in.project(x.byH, x.rhs)
	return true, nil
}

// repair makes v = p - n orthogonal to S and sum n + sigma = 1 by changing the multipliers with the
// largest weights, which are the least accurate.
func (x *interior) repair() {
	free, change := x.in.order[:x.in.free], x.df[:x.in.free]
	for i := range x.rhs {
		x.rhs[i] = x.y[i] * (x.p[i] - x.n[i])
	}
	x.in.balance(change, x.rhs)
	for k, i := range free {
		x.move(i, change[k])
	}
	j, slope := x.border(change)
	if j < 0 {
		x.sigma = max(x.sigma/2, 1-floats.Sum(x.n))
		return
	}
	by := (1 - x.sigma - floats.Sum(x.n)) / slope
	for k, i := range free {
		x.move(i, -by*change[k])
	}
	x.move(j, by)
}

// border returns the point j, other than the free ones, that determines h best, and the derivative
// of sum n with respect to its y v. It sets row to the row of A of that point. j is -1 if h is at
// its bound instead.
func (x *interior) border(row []float64) (j int, slope float64) {
	slopes := x.dropS
	for _, i := range x.in.order[:x.in.free] {
		slopes[i] = 0
		if x.heavyN(i) {
			slopes[i] = x.y[i]
		}
	}
	x.in.extend(slopes)
	best, at := x.sigma/x.u, -1
	for k := x.in.free; k < len(x.in.order); k++ {
		i := x.in.order[k]
		if x.heavyN(i) {
			slopes[i] -= x.y[i]
		}
		if w := x.w[i] * slopes[i] * slopes[i]; w > best && math.Abs(slopes[i]) > 1e-9 {
			best, at = w, k
		}
	}
	if at < 0 {
		return -1, 0
	}
	x.in.row(row, at)
	j = x.in.order[at]
	return j, slopes[j]
}

// vertex sets df and rhs to the f and y v of the vertex that the weights indicate: the constraints of
// the points with the largest weights are active, the other multipliers are at their bounds. It
// reports false if there is no such vertex.
func (x *interior) vertex() bool {
	free, row, change := x.in.order[:x.in.free], x.dq[:x.in.free], x.ds[:x.in.free]
	j, slope := x.border(row)
	u := 0.0
	if j >= 0 {
		u = x.y[j]
		for k, i := range free {
			u -= x.y[i] * row[k]
		}
		u /= slope
	}
	if !(u >= 0) {
		return false
	}
	for i := range x.rhs {
		x.rhs[i] = 0
		if x.p[i] > x.r[i] {
			x.rhs[i] = x.y[i] * x.c
		}
	}
	if j >= 0 {
		x.rhs[j] = 0
	}
	sum := 0.0
	for _, i := range free {
		x.rhs[i] = 0
		x.df[i] = x.y[i]
		if x.heavyN(i) {
			x.df[i] *= 1 + u
		}
	}
	x.in.extend(x.df)
	x.in.balance(change, x.rhs)
	for k, i := range free {
		x.rhs[i] = change[k]
		if x.heavyN(i) {
			sum -= x.y[i] * change[k]
		}
	}
	if j >= 0 {
		x.rhs[j] = (1 - sum) / slope
		for k, i := range free {
			x.rhs[i] -= x.rhs[j] * row[k]
		}
	}
	return true
}

// heavyN reports whether n has more weight than p at point i.
func (x *interior) heavyN(i int) bool { return x.b[i] > x.a[i] }

// move changes y v at point i as far as the bounds allow.
func (x *interior) move(i int, by float64) {
	by *= x.y[i]
	if x.heavyN(i) {
		x.n[i] -= min(by, x.n[i]/2)
		return
	}
	by = max(-x.p[i]/2, min(by, x.r[i]/2))
	x.p[i] += by
	x.r[i] -= by
}

// direct sets the direction in which, to first order, the products decrease by dropS, dropQ, dropT
// and dropU and the equations hold.
func (x *interior) direct() {
	// dp = a (e - dz) and dn = b (g + dz - dh) with z = y f.
	e, g := x.ds, x.dt
	h := 1 + x.u
	slope, level := x.sigma/x.u, -x.dropU/x.u // slope dh - b'dz = level
	for i := range x.rhs {
		z := x.y[i] * x.f[i]
		e[i] = 1 - z - x.q[i] + x.s[i] + x.dropQ[i]/x.r[i] - x.dropS[i]/x.p[i]
		g[i] = x.t[i] - h + z - x.dropT[i]/x.n[i]
		x.rhs[i] = x.y[i] * (x.a[i]*e[i] - x.b[i]*g[i] + x.p[i] - x.n[i])
		level += x.b[i] * g[i]
	}
	x.in.project(x.df, x.rhs)
	for i := range x.rhs {
		z, byH := x.y[i]*x.df[i], x.y[i]*x.byH[i]
		level += x.b[i] * z
		// sum b - b'byH, without cancellation: byH is the minimiser of this.
		slope += x.b[i]*(1-byH)*(1-byH) + x.a[i]*byH*byH
	}
	x.du = level / slope
	floats.AddScaled(x.df, x.du, x.byH)
	for i := range x.rhs {
		z := x.y[i] * x.df[i]
		x.dp[i] = x.a[i] * (e[i] - z)
		x.dn[i] = x.b[i] * (g[i] + z - x.du)
		x.ds[i] = -(x.dropS[i] + x.s[i]*x.dp[i]) / x.p[i]
		x.dq[i] = -(x.dropQ[i] - x.q[i]*x.dp[i]) / x.r[i]
		x.dt[i] = -(x.dropT[i] + x.t[i]*x.dn[i]) / x.n[i]
	}
}

// lengths returns the step lengths to the first primal and dual bound.
func (x *interior) lengths() (primal, dual float64) {
	primal, dual = 1e10, 1e10
	reach := func(length *float64, v, dv float64) {
		if dv < 0 {
			*length = min(*length, -v/dv)
		}
	}
	reach(&primal, x.u, x.du)
	reach(&dual, x.sigma, -floats.Sum(x.dn))
	for i := range x.s {
		reach(&primal, x.s[i], x.ds[i])
		reach(&primal, x.q[i], x.dq[i])
		reach(&primal, x.t[i], x.dt[i])
		reach(&dual, x.p[i], x.dp[i])
		reach(&dual, x.r[i], -x.dp[i])
		reach(&dual, x.n[i], x.dn[i])
	}
	return primal, dual
}

// basis returns the vertex indicated by the weights as a basis of the dual, with p_i as variable
// i and n_i as variable M + i.
func (x *interior) basis() basis {
	points, row := x.in.order[:x.in.free:x.in.free], 1
	if j, _ := x.border(x.dq[:x.in.free]); j >= 0 {
		points, row = append(points, j), 0
	}
	vars := make([]int, len(points))
	for k, i := range points {
		if vars[k] = i; x.heavyN(i) {
			vars[k] += len(x.y)
		}
	}
	return basis{row, vars}
}
