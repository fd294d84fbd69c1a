package mcm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/trace"
)

// span is the set of functions the machine chooses from.
type span interface {
	// grow adds features to d that lower the objective and reports whether
	// there were any left.
	grow(ctx context.Context, d *dual) (bool, error)
	// function sets Lambda, B and F of r from the weights of d.
	function(d *dual, r *Result)
	// defect returns the factor by which the dual point v must shrink to satisfy
	// the ranges, and what its violation of the equations is worth at r.
	defect(ctx context.Context, v []float64, d *dual) (factor, residual float64)
	// refine prepares another attempt after rounding has spoilt the gap.
	refine(d *dual)
}

// A hard margin is an exact penalty: a soft one whose C is raised until no
// slack is left. Where classes cannot be separated, some slack is 1 or more for
// every C, and where they can, C beyond the largest dual variable leaves none.
const (
	firstPenalty = 1e3
	nextPenalty  = 1e3 // factor
	lastPenalty  = 1e12
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
		r.Rank = f.rank()
		l := &lowRank{factor: f, k: k}
		if l.interpolate(r, y, s) {
			return r, nil
		}
		for j := range f.rank() {
			d.addFeature(f.column(j))
		}
		fs = l
	}

	for attempt := 0; ; {
		status, err := solve(ctx, d, fs)
		if err != nil {
			return nil, err
		}
		r.Iterations = d.iterations
		fs.function(d, r)
		r.evaluate(y, s)
		if status != trace.Converged && status != trace.Numerical {
			return r.stopped(status, y, s), nil
		}
		v := d.point()
		factor, residual := fs.defect(ctx, v, d)
		if ctx.Err() != nil {
			return r.stopped(trace.Cancelled, y, s), nil
		}
		r.certify(v, factor, residual)

		switch {
		case hard && r.SlackSum > 0 && s.C < lastPenalty:
			s.C *= nextPenalty
			d.setC(s.C)
		case hard && r.SlackSum > 0.5:
			return nil, ErrNotSeparable
		case r.Gap <= gapTol:
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
	r.certify(make([]float64, len(y)), 1, 0)
	r.Status = status
	return r
}

// lowRank is the span of the columns of a Cholesky factor.
type lowRank struct {
	*factor
	k       Matrix
	careful bool // see function
}

// interpolate tries the function that equals the labels on the pivots. When it
// does so everywhere, h = 1 and q = 0 are optimal, with v = 0 as certificate.
func (l *lowRank) interpolate(r *Result, y []float64, s Settings) bool {
	r.Lambda, r.B = l.coefficients(l.factor.interpolate(y)), 0
	l.sum(r, false)
	r.evaluate(y, s)
	r.certify(make([]float64, len(y)), 1, 0)
	r.Status = trace.Converged
	return r.Gap <= gapTol
}

func (l *lowRank) grow(context.Context, *dual) (bool, error) { return false, nil }

// function is careful when plain sums have not sufficed: where G is
// ill-conditioned, lambda is large and K lambda is not G beta to all digits. It
// then sums accurately and mends lambda by what f misses at the points that
// define it.
func (l *lowRank) function(d *dual, r *Result) {
	w, b := d.weights()
	r.Lambda, r.B = l.coefficients(w), b
	l.sum(r, l.careful)
	if !l.careful {
		return
	}
	for range 3 {
		dw, db := d.misfit(r.F)
		floats.Add(r.Lambda, l.coefficients(dw))
		r.B += db
		l.sum(r, true)
	}
}

func (l *lowRank) refine(*dual) { l.careful = true }

// sum sets F = K lambda + b from the rows of K, accurately to the last digits
// (Ogita, Rump and Oishi 2005) or plainly.
func (l *lowRank) sum(r *Result, accurately bool) {
	for i := range r.F {
		r.F[i] = r.B
	}
	row := make([]float64, l.m)
	low := make([]float64, l.m)
	for _, p := range l.pivots {
		l.k.Row(row, p)
		x := r.Lambda[p]
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
