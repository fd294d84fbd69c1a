package ml

import (
	"fmt"
	"slices"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Unit determines how a quantity is formatted.
type Unit int

// The units.
const (
	Plain   Unit = iota // a number, word or list
	Share               // 0 to 1
	Seconds             // a time
)

// Quantity is one quantity of a Report with its explanation.
type Quantity struct {
	Name  string // in JSON
	Label string // on a page
	Help  string // one sentence or two
	Unit  Unit
	// Better is +1 if larger values are better, -1 if smaller ones are, 0 if neither: a
	// higher training accuracy, for example, does not make a better machine.
	Better int

	of func(r *Report) any
}

// Value returns the quantity in r: a string, int, float64, bool, []float64 or Interval, nil
// if it does not apply.
func (q Quantity) Value(r *Report) any {
	switch v := q.of(r).(type) {
	case *float64:
		return deref(v)
	case *int:
		return deref(v)
	case *bool:
		return deref(v)
	case *Interval:
		return deref(v)
	case []float64:
		if v != nil {
			return v
		}
		return nil
	case param.Value:
		if v.IsNumber() {
			return v.Number()
		}
		return nil
	default:
		return v
	}
}

// maxListed is the number of list elements shown in text.
const maxListed = 6

// Text returns the quantity in r as text, "" if it does not apply. number formats its numbers. Lists
// are cut after six elements.
func (q Quantity) Text(r *Report, number func(Unit, float64) string) string {
	switch v := q.Value(r).(type) {
	case nil:
		return ""
	case float64:
		return number(q.Unit, v)
	case []float64:
		parts := lists.Map(v[:min(len(v), maxListed)], func(w float64) string { return number(q.Unit, w) })
		if len(v) > maxListed {
			parts = append(parts, "…")
		}
		return strings.Join(parts, ", ")
	case Interval:
		return number(q.Unit, v.Low) + " to " + number(q.Unit, v.High)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	default:
		return fmt.Sprint(v)
	}
}

// deref returns *v, or nil if v is nil.
func deref[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

// Quantities lists everything in a Report, most important first.
var Quantities = slices.Concat([]Quantity{
	{"test_accuracy", "Test accuracy", "Fraction of test points whose class is predicted correctly.", Share, 1, func(r *Report) any { return r.TestAccuracy }},
	{"test_interval", "– 95 % interval", "Wilson's 95 % confidence interval of the accuracy.", Share, 0, func(r *Report) any { return r.TestInterval }},
	{"test_balanced_accuracy", "Balanced test accuracy", "Mean recall over the classes: 1 over their number if one class is always predicted.", Share, 1, func(r *Report) any { return r.TestBalancedAccuracy }},
	{"test_f1", "Test F1", "Mean over the classes of 2PR/(P + R), with precision P and recall R.", Plain, 1, func(r *Report) any { return r.TestF1 }},
	{"test_mcc", "Test Matthews correlation", "Correlation of actual and predicted class: 1 if all are right, 0 for guessing or always the same class.", Plain, 1, func(r *Report) any { return r.TestMCC }},
	{"test_auc", "Test ROC AUC", "Probability that f is larger at a point of the positive class than at one of the other: 0.5 for guessing. It does not depend on b.", Plain, 1, func(r *Report) any { return r.TestAUC }},
	{"test_log_loss", "Test log loss", "Mean of −log p, where p is the predicted probability of the right class; always ½ gives log 2 = 0.693.", Plain, -1, func(r *Report) any { return r.TestLogLoss }},
	{"test_brier", "Test Brier score", "Mean of (1 − p)², where p is the predicted probability of the right class; always ½ gives 0.25.", Plain, -1, func(r *Report) any { return r.TestBrier }},
	{"test_mse", "Test MSE", "Mean of (t − f(x))² over the test points, in the squared unit of the values.", Plain, -1, func(r *Report) any { return r.TestMSE }},
	{"test_r2", "Test R²", "1 − MSE over the variance of the test values: 1 if f fits them all, 0 if no better than their mean, below 0 if worse.", Plain, 1, func(r *Report) any { return r.TestR2 }},
	{"test_n", "Test points", "Points not used for training.", Plain, 0, func(r *Report) any {
		if r.TestN == 0 {
			return nil
		}
		return r.TestN
	}},
	{"train_accuracy", "Training accuracy", "Fraction of training points whose class is predicted correctly.", Share, 0, func(r *Report) any { return r.TrainAccuracy }},
	{"tied", "Tied rows", "Training points whose scores are equal but for rounding: f ≥ 0 or the first class decides.", Plain, 0, func(r *Report) any {
		if r.Tied == 0 {
			return nil
		}
		return r.Tied
	}},
	{"train_n", "Training points", "All points but those held out.", Plain, 0, func(r *Report) any { return r.TrainN }},
	{"confusion", "Training confusion matrix", "Training points by actual and predicted class, with precision and recall.", Plain, 0, noValue},
	{"test_confusion", "Test confusion matrix", "Test points by actual and predicted class, with precision and recall.", Plain, 0, noValue},
	{"loo_accuracy", "Leave-one-out accuracy", "Fraction of training points classified correctly by the model trained on all others, in closed form. Scaling, kernel width and conformal map are fitted to all training points, so with a map the estimate is optimistic.", Share, 1, func(r *Report) any { return r.LOOAccuracy }},
	{"loo_error", "Leave-one-out MSE", "Mean of (t − f(x))² over the training points, with f fitted to all others: in closed form, without retraining.", Plain, -1, func(r *Report) any { return r.LOOError }},
	{"mse", "Training MSE", "Mean of (t − f(x))² over the training points.", Plain, 0, func(r *Report) any { return r.MSE }},
	{"r2", "Training R²", "1 − the mean squared error over the variance of the training values.", Plain, 0, func(r *Report) any { return r.R2 }},
	{"support_vectors", "Support vectors", "Points with a nonzero weight: only they enter f. With several machines: in any of them.", Plain, -1, func(r *Report) any { return r.SupportVectors }},
	{"free", "– free", "0 < α < C: exactly on the margin, |f| = 1. They fix b.", Plain, 0, func(r *Report) any { return r.Free }},
	{"bounded_inside", "– bounded, inside", "α = C, slack at most 1: inside the margin, still on the right side.", Plain, 0, func(r *Report) any { return r.BoundedInside }},
	{"bounded_misclassified", "– bounded, misclassified", "α = C, slack above 1: on the wrong side.", Plain, 0, func(r *Report) any { return r.BoundedMisclassified }},
	{"margin", "Margin 1/|w|", "Distance from f = 0 to f = ±1 in the kernel's feature space.", Plain, 0, func(r *Report) any { return r.Margin }},
	{"w_norm", "|w|", "Length of the normal in feature space, √(u′Ku).", Plain, 0, func(r *Report) any { return r.WNorm }},
	{"h", "h", "Largest functional margin of a training point, at least 1: the MCM keeps its ratio to the smallest margin small.", Plain, 0, func(r *Report) any { return r.H }},
	{"slack_sum", "Sum of slacks", "Σ max(0, 1 − y f(x)): how far all training points together fall short of f = ±1 on their side; if all classes are trained at once, of a lead of 1 of the right class over the wrong ones.", Plain, 0, func(r *Report) any { return r.SlackSum }},
	{"l1", "Σ|λ|", "Sum of the absolute coefficients, which ρ penalises.", Plain, 0, func(r *Report) any { return r.L1 }},
	{"machines", "Machines", "Number of trained functions f, one for each class or each pair of classes.", Plain, 0, func(r *Report) any {
		if len(r.Machines) == 0 {
			return nil
		}
		return len(r.Machines)
	}},
	{"b", "b", "Constant term of f, in the space the kernel sees.", Plain, 0, func(r *Report) any { return r.B }},
	{"w", "w in original units", "Weights of the linear boundary w·x + b = 0 in the original features.", Plain, 0, func(r *Report) any { return r.Weights }},
	{"b_original", "b in original units", "The constant term for these weights.", Plain, 0, func(r *Report) any { return r.BOriginal }},
	{"j_before", "J before", "Fisher scalar with the original kernel: scatter between the classes over scatter within.", Plain, 0, func(r *Report) any { return r.JBefore }},
	{"j_after", "J after", "The same after the conformal map.", Plain, 0, func(r *Report) any { return r.JAfter }},
	{"eigenvalue", "Largest eigenvalue", "Of the generalised eigenproblem P α = g Q α: the best J that these cores allow, with the ridge D.", Plain, 0, func(r *Report) any { return r.Eigenvalue }},
	{"cores", "Cores", "Points around which the map magnifies or shrinks.", Plain, 0, func(r *Report) any { return r.Cores }},
	{"sign_change", "c(x) changes sign", "The kernel stays positive semidefinite, but points on the two sides of c = 0 count as opposite.", Plain, 0, func(r *Report) any { return r.SignChange }},
	{"rank", "Rank", "Columns that f may use: the numerical rank of the kernel matrix at rank_tol, or, with ρ > 0, all of them.", Plain, 0, func(r *Report) any { return r.Rank }},
	{"log_likelihood", "Log-likelihood", "Log-likelihood Σ log p(x) of the training points under the mixture of the Fisher kernel, which EM maximises.", Plain, 0, func(r *Report) any { return r.LogLikelihood }},
	{"at_floor", "– components stopped", "Gaussians that collapsed onto equal points until the lowest variance stopped them.", Plain, 0, func(r *Report) any { return r.AtFloor }},
	{"left_out", "– components left out", "Gaussians that lost all points and were removed from the mixture.", Plain, 0, func(r *Report) any { return r.LeftOut }},
	{"objective", "Objective", "SVM: the dual, maximised. MCM: h + C Σq + ρ Σ|λ|, minimised. Kernel ridge: ½ Σ(t − f)² + ½ λ|w|², minimised. Weston and Watkins, Crammer and Singer: ½ Σ|w_c|² + C Σξ, minimised.", Plain, 0, func(r *Report) any { return r.Objective }},
	{"primal_objective", "Primal objective", "½|w|² + C Σξ at the solution; it meets the dual at the optimum.", Plain, 0, func(r *Report) any { return r.PrimalObjective }},
	{"dual_objective", "Dual objective", "A bound that no solution can beat: the optimality certificate.", Plain, 0, func(r *Report) any { return r.DualObjective }},
	{"relative_gap", "Relative duality gap", "(primal − dual) / |primal|: the largest possible improvement of the objective; 0 proves the optimum.", Plain, 0, func(r *Report) any { return r.RelativeGap }},
	{"gap", "– with floor 1", "(primal − dual) / max(1, |primal|): the relative gap if the objective is above 1, otherwise the gap itself.", Plain, 0, func(r *Report) any { return r.Gap }},
	{"local", "Local optimum", "The kernel is not positive semidefinite in general, so the dual may have many maxima. This is the better of two, from distant starts; no bound proves that there is no better one.", Plain, 0, func(r *Report) any { return r.Local }},
	{"condition", "Condition number", "Estimate for the linear system (K + λI) a = t: the factor by which it may magnify rounding errors of 1e-16. Raise λ to lower it.", Plain, 0, func(r *Report) any { return r.Condition }},
	{"kkt_violation", "Largest KKT violation", "How far the worst pair of points is from optimality, up to rounding; training stops at tol.", Plain, 0, func(r *Report) any { return r.KKTViolation }},
	{"iterations", "Iterations", "Solver iterations of all machines together.", Plain, 0, func(r *Report) any { return r.Iterations }},
	{"status", "Status", "Why the solver stopped: converged, iteration-limit, cancelled, or numerical (rounding prevented the requested accuracy; the gap or the violation shows what was reached).", Plain, 0, func(r *Report) any { return string(r.Status) }},
	{"fit_seconds", "Training time", "Training only, without reading and drawing.", Seconds, 0, func(r *Report) any { return r.FitSeconds }},
	{"n", "Points", "Rows in the data, including held-out ones.", Plain, 0, func(r *Report) any { return r.N }},
	{"d", "Features", "Columns trained on.", Plain, 0, func(r *Report) any {
		if r.D == 0 {
			return nil
		}
		return r.D
	}},
	{"classes", "Classes", "Labels in the data, sorted.", Plain, 0, func(r *Report) any {
		if len(r.Classes) == 0 {
			return nil
		}
		return strings.Join(r.Classes, ", ")
	}},
	{"positive", "Positive class", "The side f(x) ≥ 0.", Plain, 0, func(r *Report) any {
		if r.Positive == "" {
			return nil
		}
		return r.Positive
	}},
	{"rule", "Rule", "How the prediction follows from f(x).", Plain, 0, func(r *Report) any {
		if r.Rule == "" {
			return nil
		}
		return string(r.Rule)
	}},
	{"learner", "Learner", "The learner that was trained.", Plain, 0, func(r *Report) any { return r.Learner }},
	{"kernel", "Kernel", "The similarity of two points.", Plain, 0, func(r *Report) any { return r.Kernel }},
}, values(), []Quantity{
	{"preprocessing", "Preprocessing", "Applied before the kernel; stored with the model.", Plain, 0, func(r *Report) any { return r.Preprocessing }},
})

// noValue is the value of quantities that are not a single number.
func noValue(*Report) any { return nil }

// values returns the quantities of Report.Values.
func values() (qs []Quantity) {
	for _, p := range Params {
		if p.Telling && (p.Kind == param.Number || p.Kind == param.Integer) {
			qs = append(qs, Quantity{p.Name, p.Label, p.Help, Plain, 0, func(r *Report) any { return r.Values[p.Name] }})
		}
		if p.Telling && p.Kind == param.Text {
			qs = append(qs, Quantity{p.Name, p.Label, p.Help, Plain, 0, func(r *Report) any {
				if text := r.Values.Text(p.Name); text != "" {
					return text
				}
				return nil
			}})
		}
	}
	return qs
}
