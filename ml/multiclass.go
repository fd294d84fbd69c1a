package ml

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/multiclass"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// MulticlassEntry is one entry of the table of multi-class methods.
type MulticlassEntry struct {
	Name    string
	Label   string
	Formula string // plain text with Unicode
	Help    string
	Rule    Rule // of the model

	// joint is the formulation that trains all machines as one SVM problem; empty: binary
	// machines of any learner are trained separately.
	joint multiclass.Formulation
}

// Multiclass lists the multi-class methods in the order pages show them. Machines trained
// separately have separate conformal maps; machines of a joint problem share one, based on the
// scatter of all classes.
//
// The votes of one-vs-one often tie, for example if three classes beat each other in a cycle.
// LIBSVM then predicts the class that occurs first in the file; here the sum of the margins decides,
// then the order of the classes.
var Multiclass = []MulticlassEntry{
	{
		Name: "ovo", Label: "one-vs-one", Rule: OneVsOne,
		Formula: "fᵢⱼ for every pair i < j: the class with most votes; ties go to the largest Σ ± fᵢⱼ(x)",
		Help:    "A machine for every pair of classes, trained only on their points; each machine votes.",
	},
	{
		Name: "ovr", Label: "one-vs-rest", Rule: OneVsRest,
		Formula: "fᵢ for class i against all others: argmaxᵢ fᵢ(x)",
		Help:    "A machine for every class against all others, trained on all points; the largest f(x) wins, even if none or several are positive.",
	},
	{
		Name: "ww", Label: "Weston and Watkins", Rule: Argmax, joint: multiclass.WestonWatkins,
		Formula: "minimise ½ Σ |w_c|² + C Σ ξᵢc  subject to  f_yᵢ(xᵢ) − f_c(xᵢ) ≥ 1 − ξᵢc for every wrong class c, ξᵢc ≥ 0",
		Help:    "One SVM for all classes at once: a function for every class, and a slack for every wrong class of every point.",
	},
	{
		Name: "cs", Label: "Crammer and Singer", Rule: Argmax, joint: multiclass.CrammerSinger,
		Formula: "minimise ½ Σ |w_c|² + C Σ ξᵢ  subject to  f_yᵢ(xᵢ) − f_c(xᵢ) ≥ 1 − ξᵢ for every wrong class c, ξᵢ ≥ 0, no bias",
		Help:    "One SVM for all classes at once: a function without bias for every class, and one slack per point, for its worst wrong class.",
	},
}

// lookupMulticlass returns the named entry, or the first one for an empty name.
func lookupMulticlass(name string) (MulticlassEntry, error) {
	if e, ok := lists.Find(Multiclass, func(e MulticlassEntry) bool { return e.Name == name || name == "" }); ok {
		return e, nil
	}
	return MulticlassEntry{}, fmt.Errorf("multiclass %q is not known", name)
}

// part is the training problem of one machine: the points of its two sides.
type part struct {
	at []int     // indices into the training rows
	y  []float64 // ±1, or values
}

// parts returns the problems of all machines that the rule requires.
func (p *problem) parts() []part {
	if p.target.Rule == Value {
		return []part{{at: dataset.Indices(len(p.rows)), y: lists.At(p.target.Values, p.rows)}}
	}
	var parts []part
	for _, s := range p.target.Rule.entry().sides(len(p.target.Classes)) {
		q := part{at: make([]int, 0, len(p.rows)), y: make([]float64, 0, len(p.rows))}
		for k, i := range p.rows {
			if y := s.of(p.target.Class[i]); y != 0 {
				q.at, q.y = append(q.at, k), append(q.y, y)
			}
		}
		parts = append(parts, q)
	}
	return parts
}

// of returns the submatrix of the part, given the matrix of all training rows.
func (q part) of(gram kernel.Matrix) kernel.Matrix {
	if len(q.at) == gram.Len() {
		return gram
	}
	return kernel.Subset(gram, q.at)
}

// of returns the side of a class: ±1, or 0 if the machine does not use it.
func (s side) of(class int) float64 {
	switch {
	case class == s.positive:
		return 1
	case s.negative == noClass || class == s.negative:
		return -1
	}
	return 0
}

// maxConcurrent bounds the number of machines trained concurrently, which divide the memory. It does
// not depend on the number of processors, because the last bits of a result depend on the memory.
const maxConcurrent = 4

// minConcurrentRows is the number of rows from which SVMs are trained concurrently: smaller
// trainings take no longer than starting a goroutine on an idle processor.
const minConcurrentRows = 200

// fitAll trains all machines. gram is the kernel matrix of the training set. firsts holds the
// machines before their conformal maps, nil without maps. Results and errors do not depend on the
// order of completion.
func (p *problem) fitAll(ctx context.Context, learner Learner, gram kernel.Matrix, spec Spec, recorder trace.Recorder) (firsts, lasts []*fitted, err error) {
	width := 0.0
	if spec.Conformal != "none" {
		width = p.coreGamma(spec, gram)
	}
	if p.target.Rule == Argmax {
		return p.fitJointly(ctx, spec, gram, width, recorder)
	}
	var memory svm.Memory
	defer memory.Free()
	parts := p.parts()
	if len(parts) == 1 {
		first, last, err := p.fit(ctx, learner, spec, &memory, gram, parts[0], width, recorder)
		if err != nil {
			return nil, nil, err
		}
		if first != nil {
			firsts = []*fitted{first}
		}
		return firsts, []*fitted{last}, nil
	}
	if spec.CacheBytes <= 0 {
		spec.CacheBytes = svm.DefaultCache
	}
	spec.CacheBytes = max(1, spec.CacheBytes/int64(min(len(parts), maxConcurrent)))
	firsts, lasts = make([]*fitted, len(parts)), make([]*fitted, len(parts))
	faults := make([]error, len(parts))
	var group errgroup.Group
	group.SetLimit(min(runtime.GOMAXPROCS(0), maxConcurrent))
	for k, q := range parts {
		var own trace.Recorder
		if recorder != nil {
			own = func(s trace.Step) {
				s.Machine, s.Machines = k+1, len(parts)
				recorder(s)
			}
		}
		run := func() error {
			firsts[k], lasts[k], faults[k] = p.fit(ctx, learner, spec, &memory, gram, q, width, own)
			return nil
		}
		if len(p.rows) < minConcurrentRows && learner.joint && spec.Conformal == "none" {
			_ = run()
			continue
		}
		group.Go(run)
	}
	_ = group.Wait()
	for k, fault := range faults {
		if fault != nil {
			return nil, nil, p.machineError(k, fault)
		}
	}
	for _, f := range firsts {
		if f == nil { // cancelled before its map
			return nil, lasts, nil
		}
	}
	return firsts, lasts, nil
}

// expanded returns the scores of machines on the training set, with the kernel matrix gram: a row
// for each point, a column for each machine.
func expanded(ctx context.Context, gram kernel.Matrix, machines []*fitted) (*mat.Dense, error) {
	scores := mat.NewDense(gram.Len(), len(machines), nil)
	var next atomic.Int64
	var group errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			row, term := make([]float64, gram.Len()), make([]float64, gram.Len())
			for i := int(next.Add(1)) - 1; i < gram.Len(); i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				gram.Row(row, i)
				for k, f := range machines {
					if f.c == nil {
						scores.Set(i, k, floats.Dot(row, f.u)+f.b)
						continue
					}
					scores.Set(i, k, f.c[i]*floats.Dot(floats.MulTo(term, row, f.c), f.u)+f.b)
				}
			}
			return nil
		})
	}
	return scores, group.Wait()
}

// fitJointly trains the machines of all classes as one problem, before and after their shared
// conformal map. They share one report.
func (p *problem) fitJointly(ctx context.Context, spec Spec, gram kernel.Matrix, width float64, recorder trace.Recorder) (firsts, lasts []*fitted, err error) {
	way, err := lookupMulticlass(spec.Multiclass)
	if err != nil {
		return nil, nil, err
	}
	class := lists.At(p.target.Class, p.rows)
	solve := func(k kernel.Matrix) ([]*fitted, error) {
		res, err := multiclass.Train(ctx, k, class, len(p.target.Classes), multiclass.Settings{
			Formulation: way.joint, C: spec.penalty(), Tol: spec.Values.Number("tol"), MaxIter: spec.Values.Int("max_iter"), CacheBytes: spec.CacheBytes, Recorder: recorder,
		})
		if err != nil {
			return nil, err
		}
		report := Report{
			Status: res.Status, Objective: &res.Objective, DualObjective: &res.DualObjective, Gap: &res.Gap, RelativeGap: finite(res.RelativeGap),
			SlackSum: &res.SlackSum, Iterations: res.Iterations, KKTViolation: &res.KKTViolation,
		}
		if res.Local {
			report.Local, report.DualObjective, report.Gap, report.RelativeGap = &res.Local, nil, nil, nil
		}
		return lists.Make(len(res.Coef), func(c int) *fitted {
			return &fitted{solution: &solution{u: res.Coef[c], b: res.B[c], f: res.F[c], report: report}}
		}), nil
	}
	if lasts, err = solve(gram); err != nil || spec.Conformal == "none" || lasts[0].report.Status == trace.Cancelled {
		return nil, lasts, err
	}
	used := make([]float64, len(class)) // by any machine
	for _, f := range lasts {
		for i, u := range f.u {
			used[i] += math.Abs(u)
		}
	}
	shared := &fitted{cores: p.cores(spec, used)}
	var stats conformal.Stats
	shared.cmap, stats, err = conformal.Fit(ctx, spec.Conformal, gram, p.x, lists.At(p.target.Strata(), p.rows), shared.cores, conformal.Settings{
		Gamma: width, Ridge: spec.Values.Number("core_ridge"),
	})
	if err != nil {
		return nil, nil, err
	}
	if shared.c, err = p.factors(ctx, shared); err != nil {
		return nil, nil, err
	}
	firsts = lasts
	if lasts, err = solve(kernel.Scaled(gram, shared.c)); err != nil {
		return nil, nil, err
	}
	for _, f := range lasts {
		f.cmap, f.cores, f.c = shared.cmap, shared.cores, shared.c
		f.report.addMap(len(shared.cores), stats)
	}
	return firsts, lasts, nil
}

// machineError adds the classes of machine k to a user-facing error.
func (p *problem) machineError(k int, err error) error {
	message, ok := param.ForPerson(err)
	if !ok {
		return err
	}
	positive, negative := (&Model{Rule: p.target.Rule, Classes: p.target.Classes}).Sides(k)
	return &refusedMachine{Versus(positive, negative) + ": " + message, err}
}

// refusedMachine is a user-facing error about one of several machines.
type refusedMachine struct {
	message string
	cause   error
}

func (e *refusedMachine) Error() string { return e.message }
func (e *refusedMachine) Unwrap() error { return e.cause }

// Kind returns "invalid": the input is at fault, not the program.
func (e *refusedMachine) Kind() string { return "invalid" }

// MachineReport holds the measurements of one of several machines.
type MachineReport struct {
	Positive string `json:"positive"`           // class where f >= 0
	Negative string `json:"negative,omitempty"` // class where f < 0; empty: all others
	TrainN   int    `json:"train_n"`            // size of its training set

	Status         trace.Status `json:"status"`
	Objective      *float64     `json:"objective,omitempty"`
	Gap            *float64     `json:"gap,omitempty"`
	B              *float64     `json:"b,omitempty"`
	SupportVectors int          `json:"support_vectors"`
	SlackSum       *float64     `json:"slack_sum,omitempty"`
	Margin         *float64     `json:"margin,omitempty"`
	H              *float64     `json:"h,omitempty"`
	LOOAccuracy    *float64     `json:"loo_accuracy,omitempty"`
	Iterations     int          `json:"iterations"` // of a joint problem: those of the problem
	Cores          *int         `json:"cores,omitempty"`
	JBefore        *float64     `json:"j_before,omitempty"`
	JAfter         *float64     `json:"j_after,omitempty"`
}

// reportOf returns the part of the report on m that the solvers measure. For several machines it
// holds totals and a report on each machine.
func reportOf(m *Model, machines []*fitted) Report {
	if len(machines) == 1 {
		r := machines[0].report
		r.B = &machines[0].b
		return r
	}
	if m.Rule == Argmax {
		r := machines[0].report // shared by all
		for k, f := range machines {
			positive, _ := m.Sides(k)
			r.Machines = append(r.Machines, MachineReport{Positive: positive, TrainN: len(f.f), Status: r.Status, B: &f.b, SupportVectors: len(supports(f.u)), Iterations: r.Iterations})
		}
		return r
	}
	r := Report{Status: trace.Converged}
	for k, f := range machines {
		own := f.report
		positive, negative := m.Sides(k)
		r.Machines = append(r.Machines, MachineReport{
			Positive: positive, Negative: negative, TrainN: len(f.f), Status: own.Status,
			Objective: own.Objective, Gap: own.Gap, B: &f.b, SupportVectors: len(supports(f.u)), SlackSum: own.SlackSum,
			Margin: own.Margin, H: own.H, LOOAccuracy: own.LOOAccuracy, Iterations: own.Iterations, Cores: own.Cores, JBefore: own.JBefore, JAfter: own.JAfter,
		})
		r.Status = worse(r.Status, own.Status)
		r.Iterations += own.Iterations
	}
	return r
}

// worse returns the combined status of two trainings.
func worse(a, b trace.Status) trace.Status {
	for _, s := range []trace.Status{trace.Cancelled, trace.IterationLimit, trace.Numerical} {
		if a == s || b == s {
			return s
		}
	}
	return trace.Converged
}
