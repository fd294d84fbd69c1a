package mixture

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Settings configures a fit.
type Settings struct {
	Components int     // K, from 1 to the number of rows
	Starts     int     // runs of EM from different initial rows; at least 1
	Floor      float64 // lowest variance of a component, relative to the variance of the column; positive
	Seed       uint64  // for the initial rows
	Tol        float64 // EM stops when the mean of log p per row rises by less; default 1e-6
	MaxIter    int     // per start; default 500
	Recorder   trace.Recorder
}

// State is a mixture during EM.
type State struct {
	Iteration     int // 0 for the start
	Mixture       Mixture
	LogLikelihood float64 // sum of log p(x_i) over the rows
	Rise          float64 // of LogLikelihood per row since the previous state; 0 at the start

	// A component that collapses onto a single point, or onto points equal in a coordinate, stops
	// at the lowest variance. A component that has lost all rows is removed.
	AtFloor []int // components with a variance at the lower bound
	LeftOut int   // components removed so far
}

// Fitted is the best result over all starts.
type Fitted struct {
	State
	Status trace.Status
}

// Fit runs EM from every start and returns the mixture with the largest likelihood, the first in
// a tie. It is deterministic in x (M x d) and s. The recorder receives every iteration, with the
// rise of log p per row as its Violation. Fit returns an error if there are more components than
// rows, if the likelihood is not finite, or if ctx ends.
func Fit(ctx context.Context, x *mat.Dense, s Settings) (*Fitted, error) {
	n, _ := x.Dims()
	if s.Components > n {
		return nil, param.Refuse("use fewer components or more rows", "a mixture of %d components needs at least as many rows, but there are only %d", s.Components, n)
	}
	var best *Fitted
	total := 0
	for start := range s.Starts {
		f := new(Fitted)
		f.Status = Climb(ctx, x, Begin(x, s, start), s, func(now State) bool {
			if s.Recorder != nil {
				s.Recorder(trace.Step{Phase: "mixture", Iteration: total, Objective: now.LogLikelihood, Violation: now.Rise})
			}
			f.State = now
			total++
			return true
		})
		switch {
		case f.Status == trace.Cancelled:
			return nil, ctx.Err()
		case f.Status == trace.Numerical:
			return nil, param.Refuse("standardise the features, or leave out those with very large values", "the likelihood of a mixture of these rows is not finite")
		case best == nil || f.LogLikelihood > best.LogLikelihood:
			best = f
		}
	}
	return best, nil
}

// Begin returns the initial mixture of a start: components of equal weight with the variances of
// the columns and means at rows far apart, each drawn with probability proportional to the
// squared distance from the nearest mean so far (k-means++: Arthur and Vassilvitskii, SODA 2007).
func Begin(x *mat.Dense, s Settings, start int) Mixture {
	n, _ := x.Dims()
	r := rand.New(rand.NewPCG(s.Seed, uint64(start)))
	variance := variances(x)
	m := Mixture{}
	away := slices.Repeat([]float64{math.Inf(1)}, n) // squared distance from the nearest mean, standardised
	at := r.IntN(n)
	for range s.Components {
		mean := slices.Clone(x.RawRowView(at))
		m.Weights = append(m.Weights, 1/float64(s.Components))
		m.Means = append(m.Means, mean)
		m.Variances = append(m.Variances, slices.Clone(variance))
		sum := 0.0
		for i := range away {
			s := 0.0
			for j, v := range x.RawRowView(i) {
				s += (v - mean[j]) * (v - mean[j]) / variance[j]
			}
			away[i] = min(away[i], s)
			sum += away[i]
		}
		if !(sum > 0) { // all rows coincide with means: take any
			at = r.IntN(n)
			continue
		}
		left := sum * r.Float64()
		for i, a := range away {
			if a > 0 {
				at = i
			}
			if left -= a; left < 0 {
				break
			}
		}
	}
	return m
}

// variances returns the population variances of the columns, 1 for a constant column.
func variances(x *mat.Dense) []float64 {
	n, d := x.Dims()
	mean, v := make([]float64, d), make([]float64, d)
	for i := range n {
		for j, xj := range x.RawRowView(i) {
			mean[j] += xj / float64(n)
		}
	}
	for i := range n {
		for j, xj := range x.RawRowView(i) {
			v[j] += (xj - mean[j]) * (xj - mean[j]) / float64(n)
		}
	}
	for j := range v {
		if v[j] < 1e-280 {
			v[j] = 1
		}
	}
	return v
}

// Climb runs EM from m and calls yield with every state, m itself first, until it converges,
// yield returns false, or ctx ends; the last two give Cancelled. The likelihood never falls,
// except in the first step if m has a variance below the lower bound. Climb ignores the fields
// Starts and Components of s.
func Climb(ctx context.Context, x *mat.Dense, m Mixture, s Settings, yield func(State) bool) trace.Status {
	n, _ := x.Dims()
	tol, limit := cmp.Or(s.Tol, 1e-6), cmp.Or(s.MaxIter, 500)
	floor := variances(x)
	for j := range floor {
		floor[j] *= s.Floor
	}
	now := State{Mixture: m}
	before := 0.0
	for ; ; now.Iteration++ {
		var e *expected
		if e, now.LogLikelihood = expect(ctx, x, &now.Mixture); e == nil {
			return trace.Cancelled
		}
		if math.IsNaN(now.LogLikelihood) || math.IsInf(now.LogLikelihood, 0) {
			return trace.Numerical
		}
		if now.Iteration > 0 {
			now.Rise = (now.LogLikelihood - before) / float64(n)
		}
		switch {
		case !yield(now):
			return trace.Cancelled
		case now.Iteration > 0 && now.Rise < tol:
			return trace.Converged
		case now.Iteration == limit:
			return trace.IterationLimit
		}
		before = now.LogLikelihood
		next := e.maximise(&now.Mixture, floor)
		now.LeftOut += now.Mixture.Len() - next.Len()
		now.Mixture, now.AtFloor = next, nil
		for k, v := range next.Variances {
			for j := range v {
				if v[j] == floor[j] {
					now.AtFloor = append(now.AtFloor, k)
					break
				}
			}
		}
	}
}

// expected holds the sufficient statistics for a new mixture: sums over all rows weighted by the
// responsibilities. Coordinates are relative to the component's previous mean, so that the
// squares do not cancel.
type expected struct {
	share           []float64   // by component: sum of the responsibilities
	shift, distance [][]float64 // by component: sums of x_j - mean_kj and of its squares
}

// expect performs the E step and returns the log-likelihood of m. e is nil if ctx ends.
func expect(ctx context.Context, x *mat.Dense, m *Mixture) (e *expected, logLikelihood float64) {
	n, d := x.Dims()
	e = &expected{share: make([]float64, m.Len())}
	for range e.share {
		e.shift, e.distance = append(e.shift, make([]float64, d)), append(e.distance, make([]float64, d))
	}
	p, share := m.Density(), make([]float64, m.Len())
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, 0
		}
		row := x.RawRowView(i)
		logLikelihood += p.At(share, row)
		for k, r := range share {
			e.share[k] += r
			if r == 0 {
				continue
			}
			mean, shift, distance := m.Means[k], e.shift[k], e.distance[k]
			for j, xj := range row {
				xj -= mean[j]
				shift[j] += r * xj
				distance[j] += r * xj * xj
			}
		}
	}
	return e, logLikelihood
}

// minShare is the sum of responsibilities below which a component is removed.
const minShare = 1e-6

// maximise performs the M step: the mixture with the largest expected likelihood among those with
// variances of at least the floor. Clipping the variances is exact, since the likelihood decreases
// on both sides of the best variance.
func (e *expected) maximise(m *Mixture, floor []float64) Mixture {
	var next Mixture
	rows := 0.0
	for _, share := range e.share {
		if share >= minShare {
			rows += share
		}
	}
	for k, share := range e.share {
		if share < minShare {
			continue
		}
		mean, variance := slices.Clone(m.Means[k]), make([]float64, len(floor))
		for j := range mean {
			shift := e.shift[k][j] / share
			mean[j] += shift
			variance[j] = max(floor[j], e.distance[k][j]/share-shift*shift)
		}
		next.Weights = append(next.Weights, share/rows)
		next.Means, next.Variances = append(next.Means, mean), append(next.Variances, variance)
	}
	return next
}
