// Package results formats the measurements of runs, searches and studies as text and tables.
package results

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/views"
)

// When formats a time.
func When(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// Seconds formats a duration to the second.
func Seconds(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return Duration(d.Seconds())
}

// groups lists the headings over ml.Quantities, each with the name of its first quantity.
var groups = []struct{ first, title string }{
	{"test_accuracy", "Accuracy"},
	{"support_vectors", "Support vectors and f"},
	{"objective", "Optimisation"},
	{"n", "Data and settings"},
}

// Numbers turns a report into tables under headings, without those that would be empty.
func Numbers(r *ml.Report) (tables []views.NumberGroup) {
	at := -1
	for _, q := range ml.Quantities {
		if at+1 < len(groups) && groups[at+1].first == q.Name {
			at++
		}
		v := QuantityText(q, r)
		if v == "" {
			continue
		}
		if len(tables) == 0 || tables[len(tables)-1].Title != groups[at].title {
			tables = append(tables, views.NumberGroup{Title: groups[at].title})
		}
		last := &tables[len(tables)-1]
		last.Numbers = append(last.Numbers, views.Number{Name: q.Name, Label: q.Label, Value: v, Help: q.Help})
	}
	return tables
}

// Headline returns the most important numbers.
func Headline(r *ml.Report) []views.Headline {
	train, test := Scores(r)
	of := func(n int) string { return "of " + views.Counted(n, "point") }
	held := views.Headline{Label: "Test accuracy", Value: test, Note: of(r.TestN)}
	seen := views.Headline{Label: "Training accuracy", Value: train, Note: of(r.TrainN)}
	if r.Rule == ml.Value {
		held.Label, seen.Label = "Test fit", "Training fit"
	}
	if test == "" {
		held.Value, held.Note = "–", "no test set"
	} else if in := r.TestInterval; in != nil {
		held.Note += " (95\u00a0% CI " + intervalText(*in) + ")"
	}
	return []views.Headline{held, seen, {Label: "Support vectors", Value: strconv.Itoa(r.SupportVectors), Note: of(r.TrainN)}}
}

// Confusions returns the confusion matrices of a report, that of held-out points first.
func Confusions(r *ml.Report) (cs []views.Confusion) {
	if r.TestConfusion != nil {
		cs = append(cs, Confusion("Test confusion matrix", r.TestConfusion))
	}
	if r.Confusion != nil {
		cs = append(cs, Confusion("Training confusion matrix", r.Confusion))
	}
	return cs
}

// Confusion returns a confusion matrix for a page.
func Confusion(title string, rows []ml.ClassReport) views.Confusion {
	share := func(v *float64) string {
		if v == nil {
			return "–"
		}
		return param.Percent(*v)
	}
	c := views.Confusion{Title: title}
	for k, row := range rows {
		class := param.ClassText(row.Class)
		c.Classes = append(c.Classes, class)
		line := views.ConfusionRow{Class: class, Counts: row.Predicted, Diagonal: k, Precision: share(row.Precision), Recall: share(row.Recall), F1: "–"}
		if row.F1 != nil {
			line.F1 = strconv.FormatFloat(*row.F1, 'f', 3, 64)
		}
		if n := row.SupportVectors; n != nil {
			line.Vectors, c.Vectors = strconv.Itoa(*n), true
		}
		c.Rows = append(c.Rows, line)
	}
	return c
}

// Machines returns the measurements of each of several machines, without columns that apply to
// none of them.
func Machines(r *ml.Report) (t views.Table) {
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return views.Short(*v)
	}
	columns := []struct {
		head string
		cell func(m ml.MachineReport) string
	}{
		{"machine", func(m ml.MachineReport) string {
			if r.Rule == ml.Argmax {
				return m.Positive
			}
			return ml.Versus(m.Positive, m.Negative)
		}},
		{"points", func(m ml.MachineReport) string { return strconv.Itoa(m.TrainN) }},
		{"support vectors", func(m ml.MachineReport) string { return strconv.Itoa(m.SupportVectors) }},
		{"b", func(m ml.MachineReport) string { return number(m.B) }},
		{"objective", func(m ml.MachineReport) string { return number(m.Objective) }},
		{"sum of slacks", func(m ml.MachineReport) string { return number(m.SlackSum) }},
		{"margin 1/|w|", func(m ml.MachineReport) string { return number(m.Margin) }},
		{"h", func(m ml.MachineReport) string { return number(m.H) }},
		{"leave-one-out", func(m ml.MachineReport) string {
			if m.LOOAccuracy == nil {
				return ""
			}
			return param.Percent(*m.LOOAccuracy)
		}},
		{"J before", func(m ml.MachineReport) string { return number(m.JBefore) }},
		{"J after", func(m ml.MachineReport) string { return number(m.JAfter) }},
		{"iterations", func(m ml.MachineReport) string { return strconv.Itoa(m.Iterations) }},
		{"status", func(m ml.MachineReport) string { return string(m.Status) }},
	}
	t.Title = "Machines one by one"
	t.Rows = make([][]string, len(r.Machines))
	for _, c := range columns {
		cells, any := make([]string, len(r.Machines)), false
		for k, m := range r.Machines {
			cells[k] = c.cell(m)
			any = any || cells[k] != ""
		}
		if !any {
			continue
		}
		t.Head = append(t.Head, c.head)
		for k, cell := range cells {
			t.Rows[k] = append(t.Rows[k], cell)
		}
	}
	return t
}

// QuantityText formats a quantity, "" if it does not apply.
func QuantityText(q ml.Quantity, r *ml.Report) string {
	return q.Text(r, func(u ml.Unit, v float64) string {
		switch u {
		case ml.Share:
			return param.Percent(v)
		case ml.Seconds:
			return Duration(v)
		}
		return views.Short(v)
	})
}

// QuantityNumber returns a quantity for sorting and comparing, false if it does not
// apply or is not a number.
func QuantityNumber(q ml.Quantity, r *ml.Report) (float64, bool) {
	if r == nil {
		return 0, false
	}
	switch v := q.Value(r).(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// Settings returns a spec as rows of a table. rep may be nil; it gives the number of classes.
func Settings(s ml.Spec, rep *ml.Report) (rows []views.Number) {
	for _, p := range ml.Params {
		if v := s.Text(p.Name); v != "" && Meant(p.Name, s, rep) {
			row := views.Number{Name: p.Name, Label: p.Label, Value: OptionLabel(p, v), Help: p.Help}
			if row.Value == defaultLimit && rep != nil {
				row.Value = views.Short(float64(rep.DefaultLimit())) + " (default)"
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Meant reports whether a parameter applies to a spec and, given a report, to the data.
func Meant(name string, s ml.Spec, rep *ml.Report) bool {
	if name == "multiclass" && rep != nil && len(rep.Classes) <= 2 {
		return false
	}
	return s.Applies(name)
}

// defaultLimit is the label of the iteration limit 0.
const defaultLimit = "default"

// OptionLabel returns the label of a parameter's value.
func OptionLabel(p param.Param, v string) string {
	if o, ok := lists.Find(p.Options, func(o param.Option) bool { return o.Name == v }); ok {
		return o.Label
	}
	if p.Name == "max_iter" && v == "0" {
		return defaultLimit
	}
	if p.Kind == param.Switch {
		return map[string]string{"true": "yes", "false": "no"}[v]
	}
	if p.Kind == param.Number {
		return minus().ReplaceAllString(v, "−$1")
	}
	return v
}

// Scores formats the training and test scores of a run, empty if missing: accuracies, or for a
// regression R², or the mean squared error if there is no R².
func Scores(r *ml.Report) (train, test string) {
	if r.Rule != ml.Value {
		if r.TrainAccuracy != nil {
			train = param.Percent(*r.TrainAccuracy)
		}
		if r.TestAccuracy != nil {
			test = param.Percent(*r.TestAccuracy)
		}
		return train, test
	}
	score := func(r2, mse *float64) string {
		switch {
		case r2 != nil:
			return "R² " + strconv.FormatFloat(*r2, 'f', 3, 64)
		case mse != nil:
			return "mse " + views.Short(*mse)
		}
		return ""
	}
	return score(r.R2, r.MSE), score(r.TestR2, r.TestMSE)
}

// Duration formats a number of seconds.
func Duration(s float64) string {
	switch {
	case s < 1e-3:
		return strconv.FormatFloat(1e6*s, 'f', 0, 64) + " µs"
	case s < 1:
		return strconv.FormatFloat(1e3*s, 'f', 1, 64) + " ms"
	case s < 120:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	}
	if s < 2*3600 {
		return strconv.FormatFloat(s/60, 'f', 0, 64) + " min"
	}
	return strconv.FormatFloat(s/3600, 'f', 1, 64) + " h"
}

// Remarks returns notes for the user about the numbers.
func Remarks(r *ml.Report, s ml.Spec) (notes []string) {
	if r.Status != trace.Converged {
		why := map[trace.Status]string{trace.IterationLimit: "The solver reached its iteration limit", trace.Numerical: "Rounding kept the solver from the requested accuracy"}[r.Status]
		notes = append(notes, cmp.Or(why, "The solver was stopped early")+": the numbers are approximate.")
	}
	if r.Local != nil && *r.Local {
		notes = append(notes, "This kernel need not be positive semidefinite: the problem can be non-convex, with many local optima. Two distant starting points were tried and the better solution was kept; no bound proves it optimal. Steps are guarded with τ = 1e-12 as in LIBSVM.")
	}
	if s.Values.Number("rho") == 0 && r.Rank != nil && *r.Rank >= r.TrainN && r.H != nil && *r.H < 1+1e-6 {
		notes = append(notes, "The kernel matrix has full rank, so f interpolates the labels: h = 1, no slack, and C has no effect. Raise the sparsity ρ for a sparse machine, or the rank cut for a smoother one.")
	}
	if r.SignChange != nil && *r.SignChange {
		note := "c(x) takes both signs on the training points."
		if row, err := kernel.Lookup(s.Kernel); err == nil && row.PSD {
			note += " The kernel is still positive semidefinite."
		}
		notes = append(notes, note)
	}
	if s.Targets() && r.Cores != nil {
		if *r.Cores == r.TrainN {
			notes = append(notes, "Every training point has a weight and so is a core of the map. Set cores to N to take every N-th row.")
		}
		if r.LOOAccuracy != nil {
			notes = append(notes, "The leave-one-out numbers are optimistic here: the map was fitted to all points, including the one left out.")
		}
	}
	if !s.Values.Switch("hard_margin") && r.Free != nil && *r.Free == 0 {
		notes = append(notes, "No support vector is free, so b is determined only up to an interval; its midpoint is used.")
	}
	return notes
}
