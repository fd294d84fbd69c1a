package handlers

import (
	"math"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/views"
)

// quantity is one number of a report with its plain explanation. value gives ""
// where the quantity does not apply; better is +1 where more is better, -1 where
// less is, 0 where neither has a meaning of its own: a higher accuracy on
// training points, say, is no better machine.
type quantity struct {
	name, label, help string
	better            int
	value             func(r *ml.Report) string
}

// quantities lists everything a report holds in the order pages show it. The
// names are those of `fit --json`.
var quantities = []quantity{
	{"test_accuracy", "accuracy, held out", "Share of held-out points on their own side of f = 0. The only number here about unseen points.", 1, func(r *ml.Report) string {
		if r.TestAccuracy == nil {
			return ""
		}
		return percent(*r.TestAccuracy) + " of " + strconv.Itoa(r.TestN)
	}},
	{"train_accuracy", "accuracy, training", "Share of training points on their own side of f = 0.", 0, func(r *ml.Report) string {
		return percent(r.TrainAccuracy) + " of " + strconv.Itoa(r.TrainN)
	}},
	{"support_vectors", "support vectors", "Points with a weight that is not zero: only they enter f.", -1, func(r *ml.Report) string { return strconv.Itoa(r.SupportVectors) }},
	{"free", "– free", "0 < α < C: exactly on the margin, |f| = 1. They fix b.", 0, func(r *ml.Report) string { return whole(r.Free) }},
	{"bounded_inside", "– bounded, inside", "α = C, slack at most 1: inside the margin, still on the right side.", 0, func(r *ml.Report) string { return whole(r.BoundedInside) }},
	{"bounded_misclassified", "– bounded, misclassified", "α = C, slack above 1: on the wrong side.", 0, func(r *ml.Report) string { return whole(r.BoundedMisclassified) }},
	{"margin", "margin 1/|w|", "Distance from f = 0 to f = ±1 in the kernel's feature space.", 0, func(r *ml.Report) string { return real(r.Margin) }},
	{"w_norm", "|w|", "Length of the normal in feature space, √(u′Ku).", 0, func(r *ml.Report) string { return real(r.WNorm) }},
	{"h", "h", "Largest functional margin of a training point: the MCM keeps it small, it bounds the VC dimension.", 0, func(r *ml.Report) string { return real(r.H) }},
	{"slack_sum", "sum of slacks", "How far all points together fall short of f = ±1 on their side.", 0, func(r *ml.Report) string { return number(r.SlackSum) }},
	{"l1", "Σ|λ|", "Sum of the absolute coefficients, what ρ pays for.", 0, func(r *ml.Report) string { return real(r.L1) }},
	{"b", "b", "Constant term of f, in the scaled space the kernel sees.", 0, func(r *ml.Report) string { return number(r.B) }},
	{"w", "w in original units", "Weights of the straight boundary w·x + b = 0 on the features as you gave them.", 0, func(r *ml.Report) string {
		parts := make([]string, len(r.Weights))
		for i, w := range r.Weights {
			parts[i] = number(w)
		}
		if len(parts) > 6 {
			parts = append(parts[:6], "…")
		}
		return strings.Join(parts, ", ")
	}},
	{"b_original", "b in original units", "The constant that goes with these weights.", 0, func(r *ml.Report) string { return real(r.BOriginal) }},
	{"j_before", "J before", "Fisher scalar of the kernel as it was: scatter between the classes over scatter within.", 0, func(r *ml.Report) string { return real(r.JBefore) }},
	{"j_after", "J after", "The same after the conformal map.", 0, func(r *ml.Report) string { return real(r.JAfter) }},
	{"eigenvalue", "largest eigenvalue", "Of the generalised eigenproblem P α = g Q α: the best J that these cores allow, with the ridge D.", 0, func(r *ml.Report) string { return real(r.Eigenvalue) }},
	{"cores", "cores", "Points around which the map magnifies or shrinks.", 0, func(r *ml.Report) string { return whole(r.Cores) }},
	{"core_gamma", "γ_c", "Width of the map around each core, as used.", 0, func(r *ml.Report) string { return real(r.CoreGamma) }},
	{"sign_change", "c(x) changes sign", "The kernel stays positive semidefinite, but points on the two sides of c = 0 count as opposite.", 0, func(r *ml.Report) string {
		if r.SignChange == nil {
			return ""
		}
		return map[bool]string{true: "yes", false: "no"}[*r.SignChange]
	}},
	{"gamma", "γ as used", "After auto or scale was worked out.", 0, func(r *ml.Report) string { return real(r.Gamma) }},
	{"rank", "rank", "Columns the simplex worked with: the numerical rank of the kernel matrix at rank_tol, or the columns that ρ left in play.", 0, func(r *ml.Report) string { return whole(r.Rank) }},
	{"objective", "objective", "SVM: the dual, maximised. MCM: h + C Σq + ρ Σ|λ|, minimised.", 0, func(r *ml.Report) string { return number(r.Objective) }},
	{"primal_objective", "primal objective", "½|w|² + C Σξ at the solution; it meets the dual at the optimum.", 0, func(r *ml.Report) string { return real(r.PrimalObjective) }},
	{"dual_objective", "dual objective", "A bound that no better solution can pass: the certificate.", 0, func(r *ml.Report) string { return real(r.DualObjective) }},
	{"gap", "relative duality gap", "What is left between primal and dual; 0 proves the optimum.", 0, func(r *ml.Report) string { return number(r.Gap) }},
	{"kkt_violation", "largest KKT violation", "How far the worst pair of points is from optimal; training stops at tol.", 0, func(r *ml.Report) string { return real(r.KKTViolation) }},
	{"iterations", "iterations", "Steps of the solver.", 0, func(r *ml.Report) string { return strconv.Itoa(r.Iterations) }},
	{"status", "status", "Why the solver stopped: converged, iteration-limit, cancelled, or numerical (rounding kept it from its certificate).", 0, func(r *ml.Report) string { return string(r.Status) }},
	{"fit_seconds", "training time", "Training only: no reading, no drawing.", 0, func(r *ml.Report) string { return duration(r.FitSeconds) }},
	{"n", "points", "Rows given, held-out ones included, and features trained on.", 0, func(r *ml.Report) string { return strconv.Itoa(r.N) + " × " + strconv.Itoa(r.D) }},
	{"positive", "positive class", "The side f ≥ 0.", 0, func(r *ml.Report) string { return r.Positive }},
	{"preprocessing", "preprocessing", "Done before the kernel sees a point; stored with the model.", 0, func(r *ml.Report) string { return r.Preprocessing }},
}

// numbers turns a report into the rows of a table.
func numbers(r *ml.Report) (rows []views.Number) {
	for _, q := range quantities {
		if v := q.value(r); v != "" {
			rows = append(rows, views.Number{Name: q.name, Label: q.label, Value: v, Help: q.help})
		}
	}
	return rows
}

// settings turns a spec into the rows of a table.
func settings(s ml.Spec) (rows []views.Number) {
	for _, p := range ml.Params {
		if v := s.Text(p.Name); v != "" && s.Applies(p.Name) {
			rows = append(rows, views.Number{Name: p.Name, Label: p.Label, Value: optionLabel(p, v), Help: p.Help})
		}
	}
	return rows
}

func optionLabel(p param.Param, v string) string {
	for _, o := range p.Options {
		if o.Name == v {
			return o.Label
		}
	}
	if p.Kind == param.Switch {
		return map[string]string{"true": "yes", "false": "no"}[v]
	}
	return v
}

// number shows a value with six significant digits.
func number(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 6, 64), "-", "−", 1)
}

// brief shows a value with four significant digits.
func brief(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 4, 64), "-", "−", 1)
}

func real(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

func whole(v *int) string {
	if v == nil {
		return ""
	}
	return strconv.Itoa(*v)
}

func percent(v float64) string {
	return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
}

func duration(s float64) string {
	switch {
	case s < 1e-3:
		return strconv.FormatFloat(1e6*s, 'f', 0, 64) + " µs"
	case s < 1:
		return strconv.FormatFloat(1e3*s, 'f', 1, 64) + " ms"
	case s < 120:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	}
	return strconv.FormatFloat(math.Round(s/60), 'f', 0, 64) + " min"
}

// remarks are sentences that a person needs beside the numbers.
func remarks(r *ml.Report, s ml.Spec) (notes []string) {
	if r.Status != "converged" {
		notes = append(notes, "The solver stopped before its stopping rule held ("+string(r.Status)+"): read the numbers as approximate.")
	}
	if s.Kernel == "sigmoid" {
		notes = append(notes, "The sigmoid kernel is not positive semidefinite in general: the problem can be non-convex, and the solver guards its steps with τ = 1e-12 as LIBSVM does.")
	}
	if s.Learner == "mcm" && s.Rho == 0 && r.Rank != nil && *r.Rank >= r.TrainN && r.H != nil && *r.H < 1+1e-6 {
		notes = append(notes, "The kernel matrix has full rank, so f interpolates the labels: h = 1, no slack, and C has no effect. Raise ρ for a sparse machine, or rank_tol for a smoother one.")
	}
	if r.SignChange != nil && *r.SignChange {
		notes = append(notes, "c(x) takes both signs on the training points. The kernel is still positive semidefinite.")
	}
	if s.Learner == "svm" && !s.HardMargin && r.Free != nil && *r.Free == 0 {
		notes = append(notes, "No support vector is free, so b is only known up to an interval; its middle is used.")
	}
	return notes
}
