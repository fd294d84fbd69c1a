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
	defect(ctx context.Context, v []float64, d *dual) (factor, residual float64)
	// refine prepares another attempt after rounding has spoilt the gap.
	refine(d *dual)
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

func train(ctx context.Context, k Matrix, y []float64, s Settings) (*Result, error) {
	hard := math.IsInf(s.C, 1)
	if hard {
		s.C = firstPenalty
	}
	m := len(y)
	r := &Result{Lambda: make([]float64, m), F: make([]float64, m)}
	d := newDual(y, s.C, s.Rho)
	d.maxIter = s.MaxIter
	if s.Report != nil {
		d.report = func(p *simplex) {
			s.Report(trace.Step{Phase: "mcm", Iteration: p.iterations, Objective: 1 - p.objective(), Violation: p.infeasibility()})
		}
	}

	var fs span
	if s.Rho > 0 {
		fs = newSparse(k, s.Rho)
	} else {
		f, err := cholesky(ctx, k, s.RankTol)
		if ctx.Err() != nil {
			return r.stopped(trace.Cancelled, y, s), nil
		}
		if err != nil {
			return nil, err
		}
		l := &lowRank{factor: f, k: k}
		if l.interpolate(r, y, s) {
			return r, nil
		}
		d.reserve(f.rank())
		for j := range f.rank() {
			d.addFeature(f.column(j))
		}
		d.setBasis(2, f.pivots) // start from the interpolant
		fs = l
	}

	for attempt := 0; ; {
		status, err := solve(ctx, d, fs)
		if err != nil {
			return nil, err
		}
		r.setFunction(d, fs, k, s, attempt > 0)
		r.Iterations = d.iterations
		if status != trace.Converged && status != trace.Numerical {
			return r.stopped(status, y, s), nil
		}
		v := d.point()
		factor, residual := fs.defect(ctx, v, d)
		if ctx.Err() != nil {
			return r.stopped(trace.Cancelled, y, s), nil
		}
		r.certify(v, s.C, factor, residual)

		switch {
		case hard && r.SlackSum > 0 && s.C < lastPenalty:
			s.C *= nextPenalty
			d.setC(s.C)
		case hard && r.SlackSum > 0.5:
			return nil, ErrNotSeparable
		case r.Gap <= gapTol && !(hard && r.SlackSum > 0):
			r.Status = trace.Converged
			return r, nil
		case attempt == 3:
			r.Status = trace.Numerical
			return r, nil
		default:
			attempt++
			d.tighten()
			fs.refine(d)
		}
	}
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
	r.certify(make([]float64, len(y)), s.C, 1, 0)
	r.Status = trace.Converged
	return r.Gap <= gapTol
}

func (l *lowRank) grow(context.Context, *dual) (bool, error) { return false, nil }

func (l *lowRank) refine(*dual) {}

func (l *lowRank) defect(_ context.Context, v []float64, d *dual) (factor, residual float64) {
	w, b := d.weights()
	yv := make([]float64, len(v))
	floats.MulTo(yv, d.y, v)
	residual = math.Abs(b * floats.Sum(yv))
	for j, x := range w {
		residual += math.Abs(x * floats.Dot(l.column(j), yv))
	}
	return 1, residual
}
