// Package mcm trains Minimal Complexity Machines.
//
// Train solves, over lambda in R^M, b, h and q,
//
//	minimise   h + C sum_i q_i + rho sum_j |lambda_j|
//	subject to 1 <= y_i f(x_i) + q_i <= h,  q_i >= 0,   f(x) = sum_j lambda_j k(x_j, x) + b
//
// which for rho = 0 is the soft-margin kernel machine of Jayadeva, "Learning a hyperplane
// classifier by minimizing an exact bound on the VC dimension", Neurocomputing 149 (2015), as in
// the lecture notes on MCMs, section "Generalizing the MCM". Eliminating h and q, it minimises
//
//	max(1, max_i y_i f(x_i)) + C sum_i max(0, 1 - y_i f(x_i)) + rho sum_j |lambda_j|.
//
// The labels are not multiplied into lambda. The dual is
//
//	maximise   1 + sum_i v_i
//	subject to |K (y v)|_j <= rho,  y'v = 0,  v_i <= C,  sum_i max(0, -v_i) <= 1
//
// and v is a certificate: Objective - DualObjective bounds the suboptimality.
//
// # The machine of the lecture notes, rho = 0
//
// If K has full rank, f interpolates the labels, h = 1 and q = 0 for every C, and nearly every
// lambda_j is non-zero. The problem is meaningful only if K has low numerical rank. Train
// therefore factors K ~ G G' by pivoted Cholesky, stopped at RankTol times the largest diagonal,
// and solves for f = G beta + b. lambda is zero off the pivots, and K lambda = G beta holds exactly
// on their rows. The cut limits the set of functions and so acts as a regulariser; Rank is part of
// the result. For an indefinite kernel the factorisation stops when no positive diagonal remains.
//
// # The sparse machine, rho > 0
//
// With a penalty on |lambda| the problem is well posed for every symmetric kernel, definite or
// not, without a rank cut, and most lambda_j are zero. Columns of K are generated when they price
// out. Where nearly all are needed, as with a nearly diagonal K, they are added at once, and the
// search begins from the function that equals the labels.
//
// # Methods
//
// The dual is solved by a bounded dual simplex method. For rho = 0 and ranks of about two hundred
// or more, where its steps are expensive, an interior point method is used instead; if rounding
// prevents a certified result, the simplex method continues from its last basis. Both find the
// same objective.
package mcm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Params lists the parameters specific to MCMs. C, the hard margin and the iteration limit are
// shared with the SVM.
var Params = []param.Param{
	{
		Name: "rho", Label: "sparsity", Symbol: "ρ", Kind: param.Number, Default: "0",
		Min: 0, Max: 1e3, Low: 1e-4, High: 10, Log: true,
		Help: "Price of Σ|λ|; 0 is the original MCM. Raise it for fewer support vectors, or if the model interpolates the training data.",
	},
	{
		Name: "rank_tol", Label: "rank cut", Kind: param.Number, Default: "1e-3",
		Min: 1e-12, Max: 0.5, Low: 1e-8, High: 1e-1, Log: true, Effort: true, When: "rho", Is: "0",
		Help: "For ρ = 0: truncate the kernel matrix at the rank where this fraction of its largest diagonal entry remains. A larger cut regularises: f becomes simpler.",
	},
}

// ErrNotSeparable is returned by Train for a hard margin if no f attains it to working precision.
var ErrNotSeparable = param.Refuse("give a finite C instead of a hard margin, or use another kernel", "this kernel does not separate the classes to working precision")

// ErrOverflow is returned if sums of kernel values overflow.
var ErrOverflow = param.Refuse("scale the inputs, or lower C or the kernel's parameters", "sums of kernel values are too large for floating-point numbers")

// Matrix is a symmetric M x M kernel matrix given row by row.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// Settings configures Train.
type Settings struct {
	C        float64        // weight of the slacks, > 0; +Inf is the hard margin
	Rho      float64        // weight of sum |lambda|, >= 0
	RankTol  float64        // rank cut of the pivoted Cholesky factor relative to the largest diagonal, in (0, 1); default 1e-3; unused if Rho > 0
	MaxIter  int            // iterations of each method; default DefaultLimit
	Recorder trace.Recorder // progress, may be nil

	interiorRank int // minimal rank for the interior point method; default defaultInteriorRank
}

// Result holds the machine found by Train.
type Result struct {
	Lambda []float64    // coefficients, length M: f(x) = sum lambda_j k(x_j, x) + B
	B      float64      // bias
	Status trace.Status // converged (relative gap <= 1e-8), iteration-limit, cancelled, numerical
	F      []float64    // f(x_i) on the training points, length M
	V      []float64    // the dual point for DualObjective, length M

	H              float64 // largest functional margin, at least 1
	SlackSum       float64 // sum q_i
	Objective      float64 // H + C sum q_i + Rho sum |lambda_j|
	DualObjective  float64 // certificate: a lower bound on the optimum
	Gap            float64 // (Objective - DualObjective) / max(1, |Objective|)
	L1             float64 // sum |lambda_j|
	Rank           int     // columns of the factor (Rho = 0), otherwise columns generated so far
	Iterations     int     // of the interior point and the simplex method
	SupportVectors int     // number of lambda_j != 0
}

// gapTol is the relative gap at which a result counts as converged.
const gapTol = 1e-8

// DefaultLimit returns the default iteration limit on n points: 50 000 + 200 n.
func DefaultLimit(n int) int { return 50_000 + 200*n }

// Train fits the machine to the M points of k with labels y in {-1, +1}.
//
// It returns a result for every final Status; its coefficients and objective are always
// consistent, and Gap bounds its suboptimality. It returns an error for invalid input (lengths,
// labels, a single class, settings out of range, kernel entries that are not finite), ErrOverflow
// and ErrNotSeparable. If ctx ends, it returns the function found so far with status cancelled
// and no error.
//
// A hard margin is solved with increasing finite C until no slack is left. If that ends early,
// Objective is for the last C.
func Train(ctx context.Context, k Matrix, y []float64, s Settings) (*Result, error) {
	return new(Follower).Train(ctx, k, y, s)
}

// Train is like the function Train. Only C may change between calls: k, y, Rho and RankTol must
// stay the same.
func (f *Follower) Train(ctx context.Context, k Matrix, y []float64, s Settings) (*Result, error) {
	if err := check(k, y, s); err != nil {
		return nil, err
	}
	s.RankTol = cmp.Or(s.RankTol, 1e-3)
	s.interiorRank = cmp.Or(s.interiorRank, defaultInteriorRank)
	s.MaxIter = cmp.Or(s.MaxIter, DefaultLimit(len(y)))
	r, err := f.train(ctx, k, y, s)
	if err != nil {
		return nil, err
	}
	if v := r.Objective + r.DualObjective + r.Gap + r.B + r.L1; math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, ErrOverflow
	}
	if r.Status == trace.Converged || r.Status == trace.Numerical {
		r.prune(k, y, s)
	}
	return r, nil
}

func check(k Matrix, y []float64, s Settings) error {
	m := k.Len()
	switch {
	case m == 0:
		return errors.New("mcm: there are no training points")
	case len(y) != m:
		return fmt.Errorf("mcm: %d labels for %d training points", len(y), m)
	case !(s.C > 0):
		return fmt.Errorf("mcm: C must be above 0, not %g", s.C)
	case !(s.Rho >= 0) || math.IsInf(s.Rho, 1):
		return fmt.Errorf("mcm: rho must be 0 or above and finite, not %g", s.Rho)
	case !(s.RankTol >= 0 && s.RankTol < 1):
		return fmt.Errorf("mcm: rank_tol must be from 0 to below 1, not %g", s.RankTol)
	case s.MaxIter < 0:
		return fmt.Errorf("mcm: the iteration limit must be 0 or above, not %d", s.MaxIter)
	}
	classes := map[float64]bool{}
	for i, v := range y {
		if v != 1 && v != -1 {
			return fmt.Errorf("mcm: label %d is %g; labels must be -1 or +1", i+1, v)
		}
		classes[v] = true
		if d := k.Diag(i); math.IsNaN(d) || math.IsInf(d, 0) {
			return param.Refuse("check the kernel's parameters and the scale of the data", "the kernel matrix has the entry %g in row %d", d, i+1)
		}
	}
	if len(classes) < 2 {
		return param.Refuse("add points of another class", "all %d labels are %+g", m, y[0])
	}
	return nil
}

// finite returns an error if row i has an entry that is not finite.
func finite(row []float64, i int) error {
	if sum := floats.Sum(row); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return param.Refuse("check the kernel's parameters and the scale of the data", "the kernel matrix has entries in row %d that are not finite", i+1)
	}
	return nil
}

// evaluate sets the fields that follow from Lambda, B and F.
//
// If it lowers the objective, it first scales f so that margins slightly below 1 by rounding become
// 1: otherwise their slacks would dominate for large C.
func (r *Result) evaluate(y []float64, s Settings) {
	smallest := math.Inf(1)
	for i, f := range r.F {
		if m := y[i] * f; m > 1-1e-6 {
			smallest = min(smallest, m)
		}
	}
	r.L1 = floats.Norm(r.Lambda, 1)
	r.H, r.SlackSum, r.Objective = objective(r.F, y, r.L1, 1, s)
	if smallest < 1 {
		t := (1 + 0x1p-50) / smallest
		if h, slack, obj := objective(r.F, y, r.L1, t, s); obj < r.Objective {
			floats.Scale(t, r.Lambda)
			floats.Scale(t, r.F)
			r.B *= t
			r.L1 *= t
			r.H, r.SlackSum, r.Objective = h, slack, obj
		}
	}
	r.SupportVectors = lists.Count(r.Lambda, func(v float64) bool { return v != 0 })
}

// negligible is the size of a coefficient, relative to the largest, up to which prune tries to drop
// it.
const negligible = 1e-6

// prune sets negligible coefficients, possibly rounding errors, to zero if the gap stays as small.
func (r *Result) prune(k Matrix, y []float64, s Settings) {
	next := *r
	next.Lambda, next.F = slices.Clone(r.Lambda), make([]float64, len(r.F))
	least, pruned := negligible*floats.Norm(r.Lambda, math.Inf(1)), false
	for i, v := range r.Lambda {
		if v != 0 && math.Abs(v) <= least {
			next.Lambda[i], pruned = 0, true
		}
	}
	if !pruned {
		return
	}
	s.C = min(s.C, lastPenalty) // of a hard margin
	next.sum(k, true)
	next.evaluate(y, s)
	next.Gap, _ = trace.Relative(next.Objective-next.DualObjective, next.Objective)
	if next.Gap <= max(r.Gap, gapTol) {
		*r = next
	}
}

// objective returns h, the sum of slacks and the objective of t f.
func objective(f, y []float64, l1, t float64, s Settings) (h, slack, obj float64) {
	h = 1
	for i, v := range f {
		m := t * y[i] * v
		h = max(h, m)
		slack += max(0, 1-m)
	}
	return h, slack, h + s.C*slack + s.Rho*t*l1
}

// certify sets V, DualObjective and Gap from a dual point v that satisfies the constraints up to
// rounding, unless the current V is better, and reports whether they prove r optimal. It shrinks v,
// at least by factor, until the bounds hold. residual is the cost at r of the violation of the
// equations, which shrinking does not remove.
func (r *Result) certify(v []float64, c, factor, residual float64) bool {
	negative := 0.0
	for _, x := range v {
		negative += max(0, -x)
	}
	factor = min(factor, 1/max(1, negative), c/max(c, floats.Max(v)))
	floats.Scale(factor, v)
	residual *= factor
	size := max(1, math.Abs(r.Objective))
	if dual := 1 + floats.Sum(v) - residual; r.V == nil || dual > r.DualObjective {
		r.V, r.DualObjective = v, dual
	}
	r.Gap = (r.Objective - r.DualObjective) / size
	return r.Gap <= gapTol && residual <= gapTol*size
}
