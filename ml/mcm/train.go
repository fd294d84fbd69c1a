package mcm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/trace"
)

// span is the set of functions the machine chooses from.
type span interface {
	// grow adds features to d that lower the objective and reports whether
	// there were any left.
	grow(ctx context.Context, d *dual) (bool, error)
	// coefficients returns the lambda of the function with the given weights.
	coefficients(weights []float64) []float64
	// rank is the number of functions in use, or that were.
	rank() int
	// defect returns the factor by which the dual point v must shrink to satisfy
	// the ranges, and what its violation of the equations is worth at r.
	defect(ctx context.Context, v []float64, r *Result, d *dual) (factor, residual float64)
	// refine prepares another attempt after rounding has spoilt the gap.
	refine(d *dual)
	// resume prepares another programme with the same functions.
	resume()
}

// A hard margin is solved as a soft one whose C is raised until no slack is
// left. That is exact: where the classes can be separated, any C above the
// largest dual variable leaves none, and where they cannot, some slack is at
// least 1 for every C.
const (
	firstPenalty = 1e3
	nextPenalty  = 1e3 // factor
	lastPenalty  = 1e9
)

// A Follower trains on one matrix at one C after the other. What does not depend on C, the
// factor, is computed once, and the simplex method goes on from the basis that was the
// best for the C before: the bounds of the dual move, which leaves it dual feasible. Optima and
// certificates are as in Train; where several functions are optimal it may be another one. The
// zero value is ready. An ended context is the end of it.
type Follower struct {
	low *lowRank  // Rho = 0: of the matrix; nil: not yet
	in  *subspace // of low, for the interior point method
	d   *dual     // nil: the simplex method has not been needed
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

// begin makes the programme of the simplex method, with a basis to start from. It reports true where
// r is done without.
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

// solve alternates between the programme in the features at hand and the search
// for more, and takes back perturbed costs when there are none.
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

// stopped ends r early: the function at hand with the trivial bound, v = 0.
func (r *Result) stopped(status trace.Status, y []float64, s Settings) *Result {
	r.evaluate(y, s)
	r.certify(make([]float64, len(y)), s.C, 1, 0)
	r.Status = status
	return r
}

// setFunction sets Lambda, B and F from the weights of d, and what follows.
//
// It is careful when that has not sufficed: where features are nearly dependent,
// lambda is large and K lambda differs from what the weights mean. It then sums
// accurately, mends lambda by what f misses at the points that define it, and
// keeps the best.
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

// sum sets F = K lambda + b from the rows of K, plainly or accurately to the
// last digits (Ogita, Rump and Oishi 2005).
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

// interpolate tries the function that equals the labels on the pivots. When it
// does so everywhere, h = 1 and q = 0 are optimal, with v = 0 as certificate.
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

// residual returns the cost of the violation of the equations by v at r with the
// weights w and b: for each equation, or of all together at the function that
// r has become by rounding in lambda, whatever is more.
func (l *lowRank) residual(v, y, w []float64, b float64, r *Result) float64 {
	yv := make([]float64, len(v))
	floats.MulTo(yv, y, v)
	sum := math.Abs(b * floats.Sum(yv))
	for j, x := range w {
		sum += math.Abs(x * floats.Dot(l.column(j), yv))
	}
	return max(sum, math.Abs(floats.Dot(yv, r.F)))
}

// defaultInteriorRank is the rank from which the interior point method takes over: a
// step of the simplex method costs about 2 r (r + M) operations and there are
// several per unit of rank, while the number of Newton steps, each of
// min(r, M-r)^2 max(r, M-r), hardly grows.
const defaultInteriorRank = 200

// basis is a basis to start the simplex method from: vars take the places of the
// slacks of the rows from the given one on.
type basis struct {
	row  int
	vars []int
}

// interior trains by the interior point method. It reports false when rounding
// has kept it from a certified result, with a basis for the simplex method to
// finish from.
func (l *lowRank) interior(ctx context.Context, in *subspace, r *Result, y []float64, s Settings, hard bool) (done bool, start basis, err error) {
	x := newInterior(in, y)
	if s.Recorder != nil {
		goal := gapTol / 100
		if hard { // other prices may follow
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

// approach sets the function of r to the best of x and returns its weights.
// Where lambda is large, rounding makes K lambda differ from f; unless in a
// hurry, the coefficients of the difference mend that.
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
