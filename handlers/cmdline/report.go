package cmdline

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"marginlab/ml"
)

// quantity is one row of the table that fit prints: a name as in the JSON form,
// its value, nil where it does not apply, and what it means.
type quantity struct {
	name    string
	value   func(r ml.Report) any
	meaning string
}

var quantities = []quantity{
	{"n", func(r ml.Report) any { return r.N }, "points in the file"},
	{"d", func(r ml.Report) any { return r.D }, "features"},
	{"classes", func(r ml.Report) any { return strings.Join(r.Classes, ", ") }, ""},
	{"positive", func(r ml.Report) any { return r.Positive }, "class on the side f(x) ≥ 0"},
	{"preprocessing", func(r ml.Report) any { return r.Preprocessing }, ""},
	{"learner", func(r ml.Report) any { return r.Learner }, ""},
	{"kernel", func(r ml.Report) any { return r.Kernel }, ""},
	{"gamma", func(r ml.Report) any { return r.Gamma }, "scale of the kernel"},
	{"coef0", func(r ml.Report) any { return r.Coef0 }, "constant of the kernel"},
	{"degree", func(r ml.Report) any { return r.Degree }, "degree of the kernel"},
	{"C", func(r ml.Report) any { return r.C }, "price of slack"},
	{"status", func(r ml.Report) any { return string(r.Status) }, "how the solver ended"},
	{"objective", only("svm", func(r ml.Report) any { return r.Objective }), "of the dual, maximised"},
	{"primal_objective", func(r ml.Report) any { return r.PrimalObjective }, "½|w|² + C Σ slack"},
	{"objective", only("mcm", func(r ml.Report) any { return r.Objective }), "h + C Σ slack + ρ Σ|λ|, minimised"},
	{"dual_objective", only("mcm", func(r ml.Report) any { return r.DualObjective }), "a lower bound of the objective"},
	{"gap", func(r ml.Report) any { return r.Gap }, "(primal − dual) / max(1, |primal|)"},
	{"kkt_violation", func(r ml.Report) any { return r.KKTViolation }, "largest; the solver stops below tol"},
	{"iterations", func(r ml.Report) any { return r.Iterations }, "of the solver"},
	{"support_vectors", func(r ml.Report) any { return r.SupportVectors }, "training points with a weight"},
	{"free", func(r ml.Report) any { return r.Free }, "of them on the margin"},
	{"bounded_inside", func(r ml.Report) any { return r.BoundedInside }, "of them inside the margin"},
	{"bounded_misclassified", func(r ml.Report) any { return r.BoundedMisclassified }, "of them on the wrong side"},
	{"h", func(r ml.Report) any { return r.H }, "largest functional margin y f(x), at least 1"},
	{"slack_sum", func(r ml.Report) any { return r.SlackSum }, "Σ max(0, 1 − y f(x)) over the training points"},
	{"l1", func(r ml.Report) any { return r.L1 }, "Σ|λ|"},
	{"rank", func(r ml.Report) any { return r.Rank }, "columns of the kernel matrix in use"},
	{"w_norm", func(r ml.Report) any { return r.WNorm }, "|w| in the kernel's space"},
	{"margin", func(r ml.Report) any { return r.Margin }, "1/|w|: distance from f = 0 to f = ±1"},
	{"b", func(r ml.Report) any { return r.B }, "bias, with the inputs as the kernel sees them"},
	{"w", func(r ml.Report) any { return r.Weights }, "weights in the units of the file"},
	{"b_original", func(r ml.Report) any { return r.BOriginal }, "the bias that goes with them"},
	{"core_gamma", func(r ml.Report) any { return r.CoreGamma }, "width of the conformal map"},
	{"cores", func(r ml.Report) any { return r.Cores }, "points the conformal map is built on"},
	{"eigenvalue", func(r ml.Report) any { return r.Eigenvalue }, "largest of the eigen method"},
	{"j_before", func(r ml.Report) any { return r.JBefore }, "class separability with the plain kernel"},
	{"j_after", func(r ml.Report) any { return r.JAfter }, "class separability with the conformal kernel"},
	{"sign_change", func(r ml.Report) any { return r.SignChange }, "whether c(x) takes both signs"},
	{"train_n", func(r ml.Report) any { return r.TrainN }, "points trained on"},
	{"train_accuracy", func(r ml.Report) any { return r.TrainAccuracy }, "share of them predicted right"},
	{"test_n", func(r ml.Report) any { return count(r.TestN) }, "points tested on, not trained on"},
	{"test_accuracy", func(r ml.Report) any { return r.TestAccuracy }, "share of them predicted right"},
	{"fit_seconds", func(r ml.Report) any { return r.FitSeconds }, "seconds of training, without reading and drawing"},
}

// only leaves a quantity to one learner.
func only(learner string, value func(r ml.Report) any) func(r ml.Report) any {
	return func(r ml.Report) any {
		if r.Learner != learner {
			return nil
		}
		return value(r)
	}
}

// count is n, nil when there is nothing to count.
func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// writeReport writes the numbers as a table: name, value, meaning.
func writeReport(w io.Writer, r ml.Report) error {
	type row struct{ name, value, meaning string }
	var rows []row
	var names, values int // widths
	for _, q := range quantities {
		s := text(q.value(r))
		if s == "" {
			continue
		}
		rows = append(rows, row{q.name, s, q.meaning})
		names = max(names, len(q.name))
		if q.meaning != "" && len(s) <= 24 { // a longer one pushes its own meaning aside
			values = max(values, len(s))
		}
	}
	b := bufio.NewWriter(w)
	for _, r := range rows {
		line := fmt.Sprintf("%-*s  %-*s  %s", names, r.name, values, r.value, r.meaning)
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	return b.Flush()
}

// text is a value for reading, "" for what does not apply.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 7, 64)
	case []float64:
		s := make([]string, len(v))
		for i, x := range v {
			s[i] = text(x)
		}
		return strings.Join(s, " ")
	case *int:
		if v != nil {
			return text(*v)
		}
	case *float64:
		if v != nil {
			return text(*v)
		}
	case *bool:
		if v != nil {
			return strconv.FormatBool(*v)
		}
	}
	return ""
}
