package stepwise

import (
	"context"
	"fmt"
	"math"

	"marginlab/ml/dataset"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// Selection is the working-set selection of SMO.
type Selection string

const (
	// MaximalViolation selects the pair with the largest KKT violation.
	MaximalViolation Selection = ""
	// SecondOrder selects the point with the largest gradient and the partner with the largest
	// gain of the dual, ignoring the box (Fan, Chen, Lin, JMLR 6, 2005).
	SecondOrder Selection = "second-order"
)

// SMOSettings configures SMO.
type SMOSettings struct {
	C         float64   // upper bound of alpha, > 0 and finite
	Selection Selection // selection of the pair
	Tol       float64   // stop when m(a) - M(a) <= Tol, see SMOState; default 1e-3
	MaxSteps  int       // maximal number of steps; default 1000
}

// SMOState is the state after a step on a pair. B is the middle of High and Low.
type SMOState struct {
	Iterate
	Pair *Pair // the step that led here, nil at the start

	// With g_i = y_i - (Ku)_i, High = m(a) is the largest g of points whose alpha_i y_i can increase
	// and Low = M(a) the smallest g of points whose alpha_i y_i can decrease. The KKT conditions are
	// High <= Low.
	High, Low float64
}

// Pair is one step of SMO: the dual maximised over alpha_I and alpha_J with the others fixed. The
// box and y_I alpha_I + y_J alpha_J = const leave a segment, on which alpha_J ranges from L to H.
type Pair struct {
	I, J            int     // alpha_I y_I rises, alpha_J y_J falls
	BeforeI, AlphaI float64 // alpha_I before and after
	BeforeJ, AlphaJ float64 // alpha_J before and after; AlphaJ is Unclipped, clipped to [L, H]
	L, H            float64 // ends of the segment in alpha_J
	Curvature       float64 // K_II + K_JJ - 2 K_IJ, minus the second derivative of the dual in alpha_J
	Eta             float64 // Curvature, or tau = 1e-12 if that is not positive
	Unclipped       float64 // alpha_J at the maximum on the whole line: BeforeJ - y_J (g_I - g_J)/Eta
	Gain            float64 // rise of the dual objective
}

// tau replaces a curvature that is not positive, as in LIBSVM: for equal points or an indefinite
// kernel.
const tau = 1e-12

// guarded returns curvature, or tau if it is not positive.
func guarded(curvature float64) float64 {
	if curvature > 0 {
		return curvature
	}
	return tau
}

// SMO runs sequential minimal optimisation (002, "Sequential Minimal Optimization (SMO)"; Platt
// 1998) with the Gram matrix k and labels y = ±1. A step takes two points, because sum alpha_i
// y_i = 0 fixes any single alpha, and maximises the dual in them exactly:
//
//	eta       = K_ii + K_jj - 2 K_ij
//	unclipped = alpha_j - y_j (g_i - g_j)/eta,  g_i = y_i - (Ku)_i
//	y_i != y_j:  L = max(0, alpha_j - alpha_i),      H = min(C, C + alpha_j - alpha_i)
//	y_i  = y_j:  L = max(0, alpha_i + alpha_j - C),  H = min(C, alpha_i + alpha_j)
//	alpha_i  += y_i y_j (alpha_j - alpha_j new)
//
// The slides do not specify the selection of the pair; see Selection. With an indefinite kernel
// the result is a stationary point. A run ends as Numerical if rounding makes a step ineffective
// or numbers overflow.
func SMO(ctx context.Context, k svm.Matrix, y []float64, s SMOSettings) (*trace.Replay[SMOState], error) {
	p, err := newProblem(k, y, s.C)
	if err != nil {
		return nil, err
	}
	if s.Selection != MaximalViolation && s.Selection != SecondOrder {
		return nil, fmt.Errorf("stepwise: unknown selection %q; use %q, or none for the maximal violation", s.Selection, SecondOrder)
	}
	tol, err := tolerance(s.Tol)
	if err != nil {
		return nil, err
	}

	return record(ctx, s.MaxSteps, func(yield func(SMOState) bool) trace.Status {
		o := newPairs(p, dataset.Indices(len(y)), make([]float64, len(y)))
		yield(o.state(nil))
		for {
			pair, status := o.step(s.Selection, tol)
			if status != "" {
				return status
			}
			if !yield(o.state(&pair)) {
				return trace.IterationLimit
			}
		}
	})
}

// pairs is an iterate of SMO on a subset of the points of a problem.
type pairs struct {
	*problem
	points []int
	alpha  []float64 // of all points of the problem
	g      []float64 // gradient y_i - (Ku)_i, of all points
}

func newPairs(p *problem, points []int, alpha []float64) *pairs {
	return &pairs{problem: p, points: points, alpha: alpha, g: p.gradient(alpha)}
}

func (o *pairs) state(pair *Pair) SMOState {
	high, low := o.interval(o.points, o.alpha, o.g)
	return SMOState{Iterate: o.iterate(o.alpha, middle(high, low)), Pair: pair, High: high, Low: low}
}

// step makes one step, or returns the status of the run if there is none.
func (o *pairs) step(selection Selection, tol float64) (Pair, trace.Status) {
	high, low := o.interval(o.points, o.alpha, o.g)
	switch violation := high - low; {
	case violation <= tol:
		return Pair{}, trace.Converged
	case math.IsNaN(violation) || math.IsInf(violation, 0):
		return Pair{}, trace.Numerical // sums of kernel values have overflowed
	}
	pair := o.solve(o.choose(selection))
	i, j := pair.I, pair.J
	if math.IsNaN(pair.AlphaI+pair.AlphaJ) || pair.AlphaI == pair.BeforeI && pair.AlphaJ == pair.BeforeJ {
		return Pair{}, trace.Numerical
	}
	o.alpha[i], o.alpha[j] = pair.AlphaI, pair.AlphaJ
	di, dj := o.y[i]*(pair.AlphaI-pair.BeforeI), o.y[j]*(pair.AlphaJ-pair.BeforeJ)
	for n := range o.g {
		o.g[n] -= di*o.k[i][n] + dj*o.k[j][n]
	}
	return pair, ""
}

// choose returns the pair i, j with u_i to be increased and u_j decreased, the first in a tie.
// There is one unless the KKT conditions hold.
func (o *pairs) choose(selection Selection) (i, j int) {
	i, j = -1, -1
	for _, n := range o.points {
		if o.rises(o.alpha, n) && (i < 0 || o.g[n] > o.g[i]) {
			i = n
		}
	}
	best := math.Inf(-1)
	for _, n := range o.points {
		difference := o.g[i] - o.g[n]
		if !o.falls(o.alpha, n) || difference <= 0 {
			continue
		}
		promise := difference
		if selection == SecondOrder {
			promise = difference * difference / guarded(o.curvature(i, n))
		}
		if promise > best {
			best, j = promise, n
		}
	}
	return i, j
}

func (o *pairs) curvature(i, j int) float64 { return o.k[i][i] + o.k[j][j] - 2*o.k[i][j] }

// solve maximises the dual over alpha_i and alpha_j.
func (o *pairs) solve(i, j int) Pair {
	p := pairStep(o.y[i], o.y[j], o.alpha[i], o.alpha[j], o.g[i]-o.g[j], o.curvature(i, j), o.c)
	p.I, p.J = i, j
	return p
}

// pairStep returns the step from ai, aj of two points with labels yi, yj, where difference is
// g_i - g_j.
func pairStep(yi, yj, ai, aj, difference, curvature, c float64) Pair {
	p := Pair{BeforeI: ai, BeforeJ: aj, Curvature: curvature, Eta: guarded(curvature)}
	same := yi == yj
	p.L, p.H = segment(same, ai, aj, c)
	slope := -yj * difference // of the dual in alpha_j along the line
	p.Unclipped = aj + slope/p.Eta
	p.AlphaJ = min(max(p.Unclipped, p.L), p.H)
	if same {
		p.AlphaI = ai + (aj - p.AlphaJ)
	} else {
		p.AlphaI = ai - (aj - p.AlphaJ)
	}
	// At an end of the segment rounding may leave alpha_i next to its bound, so that it would
	// count as a free support vector.
	const rounding = 0x1p-50
	switch {
	case p.AlphaI <= rounding*max(ai, aj):
		p.AlphaI = 0
	case p.AlphaI >= c*(1-rounding):
		p.AlphaI = c
	}
	d := p.AlphaJ - aj
	p.Gain = d*slope - d*d*p.Curvature/2
	return p
}

// segment returns the smallest and largest alpha_j within the box on the line through ai, aj.
func segment(same bool, ai, aj, c float64) (low, high float64) {
	if same {
		return max(0, ai+aj-c), min(c, ai+aj)
	}
	return max(0, aj-ai), min(c, c+aj-ai)
}

// PairDual is the dual as a function of two multipliers with the others fixed, which a step of
// SMO maximises. Labels are ±1.
type PairDual struct {
	Y1, Y2        float64 // labels
	K11, K22, K12 float64 // kernel of the two points
	H1, H2        float64 // contributions of the other points to f at the two, without b
	C             float64 // upper bound of the multipliers, > 0
}

// NewPairDual returns the dual in the multipliers of the points i and j of an iterate, with the
// Gram matrix k.
func NewPairDual(k svm.Matrix, s Iterate, c float64, i, j int) PairDual {
	ki, kj := make([]float64, k.Len()), make([]float64, k.Len())
	k.Row(ki, i)
	k.Row(kj, j)
	p := PairDual{Y1: s.Points[i].Y, Y2: s.Points[j].Y, K11: ki[i], K22: kj[j], K12: ki[j], C: c}
	for n, u := range s.U() {
		if n != i && n != j {
			p.H1 += u * ki[n]
			p.H2 += u * kj[n]
		}
	}
	return p
}

// At returns the dual objective at a1, a2, up to a constant.
func (p PairDual) At(a1, a2 float64) float64 {
	return a1 + a2 - (p.K11*a1*a1+p.K22*a2*a2)/2 - p.Y1*p.Y2*p.K12*a1*a2 - p.Y1*a1*p.H1 - p.Y2*a2*p.H2
}

// Ends returns the smallest and largest second multiplier within the box on the line through a1,
// a2 with constant Y1 a1 + Y2 a2.
func (p PairDual) Ends(a1, a2 float64) (low, high float64) {
	return segment(p.Y1 == p.Y2, a1, a2, p.C)
}

// First returns the first multiplier on the line through a1, a2 for the second multiplier at.
func (p PairDual) First(a1, a2, at float64) float64 { return a1 + p.Y1*p.Y2*(a2-at) }

// Step maximises the dual on the line through a1, a2 within the box, as SMO does. I and J of the
// result are 0.
func (p PairDual) Step(a1, a2 float64) Pair {
	g1 := p.Y1 - p.K11*p.Y1*a1 - p.K12*p.Y2*a2 - p.H1
	g2 := p.Y2 - p.K12*p.Y1*a1 - p.K22*p.Y2*a2 - p.H2
	return pairStep(p.Y1, p.Y2, a1, a2, g1-g2, p.K11+p.K22-2*p.K12, p.C)
}
