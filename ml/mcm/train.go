package mcm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/trace"
)

// span is a set of functions that grows while it is searched.
type span interface {
	// grow adds features that lower the objective to d and reports whether there were any.
	grow(ctx context.Context, d *dual) (bool, error)
	// coefficients returns the lambda of the function with the given weights.
	coefficients(weights []float64) []float64
	// rank returns the number of functions used so far.
	rank() int
	// defect returns the factor that shrinks the dual point v into the ranges, and the cost at r of
	// its violation of the equations.
	defect(ctx context.Context, v []float64, r *Result, d *dual) (factor, residual float64)
	// refine prepares another attempt if rounding made the gap too large.
	refine(d *dual)
	// resume prepares another program with the same functions.
	resume()
}

// A hard margin is solved with a finite C that increases until no slack is left. That is exact: if
// the classes are separable, any C above the largest dual variable leaves no slack; if not, some
// slack is at least 1 for every C.
const (
	firstPenalty = 1e3
	nextPenalty  = 1e3 // factor
	lastPenalty  = 1e9
)

// Follower trains on one matrix for a sequence of C. It computes the factor, which does not depend on
// C, once, and continues the simplex method from the best basis for the previous C, which stays
// dual feasible when the bounds change. Objectives and certificates are as in Train, but if the
// optimum is not unique, the function may differ. The zero value is ready to use. A Follower must
// not be used again after its context has ended.
type Follower struct {
	low *lowRank  // Rho = 0: factor of the matrix; nil: not yet computed
	in  *subspace // of low, for the interior point method
	d   *dual     // nil until the simplex method is needed
	fs  span
}

func (f *Follower) train(ctx context.Context, k Matrix, y []float64, s Settings) (*Result, error) {
	hard := math.IsInf(s.C, 1)
	if hard {
		s.C = firstPenalty
	}
	m := len(y)
	r := &Result{Lambda: make([]float64, m), F: make([]float64, m)}
	if f.d != nil {
		f.d.resume()
		f.d.setC(s.C)
		f.fs.resume()
		f.d.iterations = 0
	} else if done, err := f.begin(ctx, r, k, y, s, hard); done || err != nil {
		return r, err
	}
	d, fs := f.d, f.fs
	d.maxIter = s.MaxIter
	if s.Recorder != nil {
		d.report = func(p *simplex) {
			s.Recorder(trace.Step{Phase: "mcm", Iteration: p.iterations, Objective: 1 - p.objective(), Violation: p.infeasibility()})
		}
	}

	const lastAttempt = 5
	for attempt := 0; ; {
		status, err := solve(ctx, d, fs)
		if err != nil {
			return nil, err
		}
		r.setFunction(d, fs, k, s, attempt > 0 && ctx.Err() == nil)
		r.Iterations = d.iterations
		if status != trace.Converged && status != trace.Numerical {
			return r.stopped(status, y, s), nil
		}
		certified := false
		r.V = nil
		for _, v := range d.points(attempt == lastAttempt) {
			factor, residual := fs.defect(ctx, v, r, d)
			if ctx.Err() != nil {
				return r.stopped(trace.Cancelled, y, s), nil
			}
			certified = r.certify(v, s.C, factor, residual) || certified
		}

		switch {
		case hard && r.SlackSum > 0 && s.C < lastPenalty:
			s.C *= nextPenalty
			d.setC(s.C)
		case hard && r.SlackSum > 0.5 && (status == trace.Converged || attempt == lastAttempt):
			return nil, ErrNotSeparable
		case certified && !(hard && r.SlackSum > 0):
			r.Status = trace.Converged
			return r, nil
		case attempt == lastAttempt:
			r.Status = trace.Numerical
			return r, nil
		default:
			attempt++
			d.tighten()
			fs.refine(d)
		}
	}
}

// begin sets up the simplex method with an initial basis. It reports true if r is complete
// without it.
func (f *Follower) begin(ctx context.Context, r *Result, k Matrix, y []float64, s Settings, hard bool) (done bool, err error) {
	if s.Rho > 0 {
		f.d, f.fs = newDual(y, s.C, s.Rho), newSparse(k, s.Rho)
		return false, nil
	}
	if f.low == nil {
		c, err := cholesky(ctx, k, s.RankTol)
		if ctx.Err() != nil {
			r.stopped(trace.Cancelled, y, s)
			return true, nil
		}
		if err != nil {
			return true, err
		}
		f.low = &lowRank{factor: c, k: k}
	}
	l := f.low
	if l.interpolate(r, y, s) {
		return true, nil
	}
	start, iterations := basis{2, l.pivots}, 0 // the interpolant
	if l.rank() >= s.interiorRank {
		if f.in == nil {
			if f.in, err = newSubspace(ctx, l.factor); err != nil {
				r.stopped(trace.Cancelled, y, s)
				return true, nil
			}
		}
		if f.in != nil {
			if done, start, err = l.interior(ctx, f.in, r, y, s, hard); done || err != nil {
				return true, err
			}
			iterations = r.Iterations
		}
	}
	d := newDual(y, s.C, s.Rho)
	d.iterations = iterations
	d.reserve(l.rank())
	for j := range l.rank() {
		d.addFeature(l.column(j))
	}
	d.setBasis(start.row, start.vars)
	f.d, f.fs = d, l
	return false, nil
}

// solve alternates between solving for the current features and adding more, and finally restores
// perturbed costs.
func solve(ctx context.Context, d *dual, fs span) (trace.Status, error) {
	for {
		status := d.solve(ctx)
		if status != trace.Converged {
			return status, nil
		}
		more, err := fs.grow(ctx, d)
		switch {
		case ctx.Err() != nil:
			return trace.Cancelled, nil
		case err != nil:
			return status, err
		case !more && !d.restore():
			return status, nil
		}
	}
}

// stopped completes r early, with the current function and the trivial bound v = 0.
func (r *Result) stopped(status trace.Status, y []float64, s Settings) *Result {
	r.evaluate(y, s)
	r.certify(make([]float64, len(y)), s.C, 1, 0)
	r.Status = status
	return r
}

// setFunction sets Lambda, B and F from the weights of d, and the fields that depend on them.
//
// careful is set for further attempts: if features are nearly dependent, lambda is large and K lambda
// differs from the function of the weights. setFunction then sums accurately, corrects lambda by
// the residuals at the points that define it, and keeps the best result.
func (r *Result) setFunction(d *dual, fs span, k Matrix, s Settings, careful bool) {
	w, b := d.weights()
	r.Lambda, r.B, r.Rank = fs.coefficients(w), b, fs.rank()
	r.sum(k, false)
	r.evaluate(d.y, s)
	if !careful {
		return
	}
	lambda := fs.coefficients(w)
	for range 4 {
		next := Result{Lambda: slices.Clone(lambda), B: b, F: make([]float64, len(d.y)), Rank: r.Rank}
		next.sum(k, true)
		dw, db := d.misfit(next.F)
		floats.Add(lambda, fs.coefficients(dw))
		b += db
		if next.evaluate(d.y, s); next.Objective < r.Objective {
			*r = next
		}
	}
}

// sum sets F = K lambda + b from the rows of K, with compensated sums if accurately is set (Ogita,
// Rump and Oishi 2005).
func (r *Result) sum(k Matrix, accurately bool) {
	for i := range r.F {
		r.F[i] = r.B
	}
	row := make([]float64, len(r.F))
	low := make([]float64, len(r.F))
	for j, x := range r.Lambda {
		if x == 0 {
			continue
		}
		k.Row(row, j)
		if !accurately {
			floats.AddScaled(r.F, x, row)
			continue
		}
		for i, v := range row {
			f, t := r.F[i], x*v
			s := f + t
			z := s - f
			low[i] += math.FMA(x, v, -t) + ((f - (s - z)) + (t - z))
			r.F[i] = s
		}
	}
	floats.Add(r.F, low)
}

// lowRank is the span of the columns of a Cholesky factor.
type lowRank struct {
	*factor
	k Matrix
}

// interpolate tries the function that equals the labels on the pivots. If it equals them at all
// points, h = 1 and q = 0 are optimal, with certificate v = 0, and it reports true.
func (l *lowRank) interpolate(r *Result, y []float64, s Settings) bool {
	r.Lambda, r.B, r.Rank = l.coefficients(l.factor.interpolate(y)), 0, l.rank()
	r.sum(l.k, false)
	r.evaluate(y, s)
	r.Status = trace.Converged
	return r.certify(make([]float64, len(y)), s.C, 1, 0)
}

func (l *lowRank) grow(context.Context, *dual) (bool, error) { return false, nil }

func (l *lowRank) refine(*dual) {}

func (l *lowRank) resume() {}

func (l *lowRank) defect(_ context.Context, v []float64, r *Result, d *dual) (factor, residual float64) {
	w, b := d.weights()
	return 1, l.residual(v, d.y, w, b, r)
}

// residual returns the cost of the violation of the equations by v: the sum over the equations with
// the weights w and b or, if that is larger, the cost at the function of r, which differs by
// rounding in lambda.
func (l *lowRank) residual(v, y, w []float64, b float64, r *Result) float64 {
	yv := make([]float64, len(v))
	floats.MulTo(yv, y, v)
	sum := math.Abs(b * floats.Sum(yv))
	for j, x := range w {
		sum += math.Abs(x * floats.Dot(l.column(j), yv))
	}
	return max(sum, math.Abs(floats.Dot(yv, r.F)))
}

// defaultInteriorRank is the minimal rank for the interior point method. A simplex step costs about
// 2 r (r + M) operations, and the number of steps is a multiple of the rank. A Newton step costs
// min(r, M-r)^2 max(r, M-r) operations, and the number of steps hardly grows.
const defaultInteriorRank = 200

// basis is an initial basis for the simplex method: vars replace the slacks of the rows starting
// at row.
type basis struct {
	row  int
	vars []int
}

// interior trains by the interior point method. It reports false if rounding prevents a certified
// result, with a basis from which the simplex method can continue.
func (l *lowRank) interior(ctx context.Context, in *subspace, r *Result, y []float64, s Settings, hard bool) (done bool, start basis, err error) {
	x := newInterior(in, y)
	if s.Recorder != nil {
		goal := gapTol / 100
		if hard { // larger C may follow
			goal = 0
		}
		x.report = func(x *interior) {
			s.Recorder(trace.Step{Phase: "mcm", Iteration: x.iterations, Objective: x.objective, Violation: x.gap(), Goal: goal})
		}
	}
	for {
		status := x.solve(ctx, s.C, gapTol/100, s.MaxIter)
		r.Iterations = x.iterations
		stopped := status != trace.Converged
		w, b := r.approach(ctx, x, l, s, stopped)
		v := make([]float64, len(y))
		floats.MulTo(v, y, x.bestV)
		certified := r.certify(v, s.C, 1, l.residual(v, y, w, b, r))
		switch {
		case stopped:
			r.Status = status
			return true, start, nil
		case hard && (r.SlackSum > 0 || !certified) && s.C < lastPenalty:
			s.C *= nextPenalty
		case hard && r.SlackSum > 0.5 && r.Gap < 1e-6:
			return true, start, ErrNotSeparable
		case certified && !(hard && r.SlackSum > 0):
			r.Status = trace.Converged
			return true, start, nil
		default:
			return false, x.basis(), nil
		}
	}
}

// approach sets the function of r to the best of x and returns its weights. If lambda is large,
// rounding makes K lambda differ from f. Unless hurry is set, approach corrects lambda by the
// coefficients of the difference.
func (r *Result) approach(ctx context.Context, x *interior, l *lowRank, s Settings, hurry bool) (w []float64, b float64) {
	miss := slices.Clone(x.bestF)
	lambda := make([]float64, len(miss))
	w = make([]float64, l.rank())
	best := math.Inf(1)
	for range 4 {
		dw, db := x.in.weights(miss)
		floats.Add(w, dw)
		floats.Add(lambda, l.coefficients(dw))
		b += db
		next := Result{Lambda: slices.Clone(lambda), B: b, F: make([]float64, len(miss)), Rank: r.Rank, Iterations: r.Iterations}
		next.sum(l.k, best < math.Inf(1))
		floats.SubTo(miss, x.bestF, next.F)
		if next.evaluate(x.y, s); next.Objective < best {
			best, *r = next.Objective, next
		}
		if hurry || ctx.Err() != nil || best <= x.objective*(1+gapTol/100) {
			break
		}
	}
	return w, b
}
