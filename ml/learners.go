package ml

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/param"
	"marginlab/ml/ridge"
	"marginlab/ml/rows"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// Learner is one entry of the table of learners.
type Learner struct {
	Name    string
	Label   string
	Problem string // what it minimises, in plain text with Unicode
	Help    string
	Params  []param.Param
	Box     bool   // coefficients are bounded by ±C: support vectors are free or bounded
	Targets bool   // fits f to the targets (±1 or, for regression, values) by least squares: no margin, and every point has a weight
	joint   bool   // supports the joint multi-class formulations, which are SVMs
	Cache   bool   // uses Spec.CacheBytes
	Quicker string // advice for a shorter training

	// cost estimates the time and memory of one machine on n rows, excluding kernel values.
	cost func(n float64, s Spec) (seconds, bytes float64)
	// solve trains one machine. Its memory is shared with other trainings.
	solve solver
	// follow, if not nil, returns a solver for one matrix at successive C, which starts each
	// training from the previous one.
	follow func() solver
	// heldOut, if not nil, trains at many C with some rows held out, faster than one by one and
	// without a conformal map.
	heldOut func(ctx context.Context, k svm.Matrix, y []float64, held []int, cs []float64, s svm.Settings) ([]*svm.Result, error)
	// path, if not nil, returns the errors at every lambda from one factorisation.
	path func(ctx context.Context, k ridge.Matrix, y []float64) (*ridge.Path, error)
}

// solver trains one machine.
type solver func(ctx context.Context, k kernel.Matrix, y []float64, s Spec, memory *svm.Memory, r trace.Recorder) (*solution, error)

// solution holds the result of a learner: coefficients over the training rows,
// a bias, and its own part of the report.
type solution struct {
	u      []float64 // f(x) = sum u_i k(x_i, x) + b
	b      float64
	f      []float64 // f on the training rows in at
	at     []int     // indices of the training rows it was trained on; nil: all
	report Report
}

// expand returns the solution over n training rows, given the rows at that it was trained on.
func (s *solution) expand(at []int, n int) *solution {
	whole := *s
	whole.u, whole.at = make([]float64, n), at
	for k, i := range at {
		if s.u[k] != 0 { // no negative zeros
			whole.u[i] = s.u[k]
		}
	}
	return &whole
}

// row returns the training row of f[a].
func (s *solution) row(a int) int {
	if s.at == nil {
		return a
	}
	return s.at[a]
}

// Learners lists the learners in the order pages show them.
var Learners = []Learner{
	{
		Name: "svm", Label: "SVM",
		Problem: "minimise ½|w|² + C Σ ξᵢ  subject to  yᵢ f(xᵢ) ≥ 1 − ξᵢ, ξᵢ ≥ 0",
		Help:    "Support vector machine: the widest margin, with slack at the price C.",
		Params:  svm.Params,
		Box:     true,
		joint:   true,
		Cache:   true,
		Quicker: "a smaller C or gamma",
		cost:    costSVM,
		solve:   solveSVM,
		heldOut: svm.HeldOut,
	},
	{
		Name: "mcm", Label: "MCM",
		Problem: "minimise h + C Σ qᵢ + ρ Σ |λⱼ|  subject to  1 ≤ yᵢ f(xᵢ) + qᵢ ≤ h, qᵢ ≥ 0",
		Help:    "Minimal Complexity Machine: the smallest ratio of the largest to the smallest margin, found by a linear program.",
		Params:  mcmParams(),
		Quicker: "a smaller C or gamma, or a larger sparsity ρ or rank cut",
		cost:    costMCM,
		solve:   solveMCM,
		follow:  followMCM,
	},
	{
		Name: "ridge", Label: "Kernel ridge",
		Problem: "minimise ½ Σ (tᵢ − f(xᵢ))² + ½ λ |w|²  with tᵢ = ±1, or the value itself, and no bias",
		Help:    "Kernel ridge regression on targets ±1 or on values, in closed form: every point counts, even far on its own side, and the leave-one-out error is included. There is no bias: with kernels that fade, such as rbf, f is 0 far from all points, so centre the values first.",
		Params:  ridge.Params,
		Targets: true,
		Quicker: "a larger held-out fraction",
		cost:    costRidge,
		solve:   solveRidge,
		path:    ridge.NewPath,
	},
}

// DefaultLimit returns the default iteration limit for the largest training set of a machine.
func (r *Report) DefaultLimit() int {
	n := lists.Either(len(r.Machines) > 0, 0, r.TrainN)
	for _, m := range r.Machines {
		n = max(n, m.TrainN)
	}
	if r.Learner == "mcm" {
		return mcm.DefaultLimit(n)
	}
	return rows.DefaultLimit(n)
}

func lookup(name string) (Learner, error) {
	if l, ok := lists.Find(Learners, func(l Learner) bool { return l.Name == name }); ok {
		return l, nil
	}
	return Learner{}, fmt.Errorf("learner %q is not known", name)
}

// penalty returns C, +Inf for a hard margin.
func (s Spec) penalty() float64 {
	if s.Values.Switch("hard_margin") {
		return math.Inf(1)
	}
	return s.Values.Number("C")
}

func solveSVM(ctx context.Context, k kernel.Matrix, y []float64, s Spec, memory *svm.Memory, r trace.Recorder) (*solution, error) {
	res, err := svm.Train(ctx, k, y, svm.Settings{C: s.penalty(), Tol: s.Values.Number("tol"), MaxIter: s.Values.Int("max_iter"), CacheBytes: s.CacheBytes, Memory: memory, Recorder: r})
	if err != nil {
		return nil, err
	}
	u := floats.MulTo(make([]float64, len(y)), res.Alpha, y)
	report := Report{
		Status: res.Status, Objective: &res.Dual, DualObjective: &res.Dual, PrimalObjective: finite(res.Primal), Gap: &res.Gap, RelativeGap: finite(res.RelativeGap),
		Free: &res.Free, BoundedInside: &res.BoundedInside, BoundedMisclassified: &res.BoundedMisclassified,
		SlackSum: &res.SlackSum, Iterations: res.Iterations, KKTViolation: &res.KKTViolation, WNorm: finite(res.WNorm), Margin: finite(res.Margin),
	}
	if res.Local { // no dual bound, hence no gap
		report.Local, report.DualObjective, report.PrimalObjective, report.Gap, report.RelativeGap = &res.Local, nil, nil, nil, nil
	}
	return &solution{u: u, b: res.B, f: res.F, report: report}, nil
}

func solveMCM(ctx context.Context, k kernel.Matrix, y []float64, s Spec, memory *svm.Memory, r trace.Recorder) (*solution, error) {
	return followMCM()(ctx, k, y, s, memory, r)
}

func followMCM() solver {
	var f mcm.Follower
	return func(ctx context.Context, k kernel.Matrix, y []float64, s Spec, _ *svm.Memory, r trace.Recorder) (*solution, error) {
		sol, err := trainMCM(ctx, &f, k, y, s, r)
		if err != nil || sol.report.Status != trace.Converged { // nothing to warm-start from
			f = mcm.Follower{}
		}
		return sol, err
	}
}

func trainMCM(ctx context.Context, f *mcm.Follower, k kernel.Matrix, y []float64, s Spec, r trace.Recorder) (*solution, error) {
	rho := s.Values.Number("rho")
	res, err := f.Train(ctx, k, y, mcm.Settings{C: s.penalty(), Rho: rho, RankTol: s.Values.Number("rank_tol"), MaxIter: s.Values.Int("max_iter"), Recorder: r})
	if err != nil {
		return nil, err
	}
	rank := res.Rank
	if rho > 0 {
		rank = k.Len() // not truncated: every column could enter
	}
	return &solution{u: res.Lambda, b: res.B, f: res.F, report: Report{
		Status: res.Status, Objective: &res.Objective, DualObjective: &res.DualObjective, Gap: &res.Gap, RelativeGap: &res.Gap, // equal, since the objective is at least 1
		H: &res.H, SlackSum: &res.SlackSum, L1: &res.L1, Rank: &rank, Iterations: res.Iterations,
	}}, nil
}

func solveRidge(ctx context.Context, k kernel.Matrix, y []float64, s Spec, _ *svm.Memory, r trace.Recorder) (*solution, error) {
	res, err := ridge.Train(ctx, k, y, ridge.Settings{Lambda: s.Values.Number("lambda"), Recorder: r})
	if err != nil {
		return nil, err
	}
	report := Report{
		Status: res.Status, Objective: &res.Objective, Gap: &res.Gap, RelativeGap: finite(res.RelativeGap), MSE: &res.MSE, LOOError: &res.LOOError,
		Condition: finite(res.Condition), Iterations: res.Iterations, WNorm: &res.WNorm,
	}
	if !s.Regression() {
		right := accuracy(res.LeftOut, y)
		report.LOOAccuracy = &right
	}
	return &solution{u: res.A, f: res.F, report: report}, nil
}

// finite returns a pointer to v, nil if JSON cannot represent it.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// mcmParams returns the MCM's own parameters and those shared with the SVM.
func mcmParams() []param.Param {
	// The simplex ends at a vertex and has no tolerance.
	return append(lists.Filter(svm.Params, func(p param.Param) bool { return p.Name != "tol" }), mcm.Params...)
}
