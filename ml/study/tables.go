package study

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// Export is an output format of a result.
type Export struct {
	File, Type string // file name and media type
	Label      string // of a link
	Write      func(w io.Writer, r *Result) error
}

// Exports lists the output formats.
var Exports = []Export{
	{"results.csv", "text/csv; charset=utf-8", "CSV", func(w io.Writer, r *Result) error { return r.CSV(w) }},
	{"tests.csv", "text/csv; charset=utf-8", "CSV of the tests", func(w io.Writer, r *Result) error { return r.TestsCSV(w) }},
	{"tables.md", "text/markdown; charset=utf-8", "Markdown", func(w io.Writer, r *Result) error { return Markdown(w, r.Tables()) }},
	{"tables.tex", "application/x-tex", "LaTeX", func(w io.Writer, r *Result) error { return LaTeX(w, r.Tables()) }},
	{"results.json", "application/json", "JSON", func(w io.Writer, r *Result) error { return json.NewEncoder(w).Encode(r) }},
}

// Table is a formatted part of a result.
type Table struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`            // as long as Head
	Best  [][2]int   `json:"best,omitempty"`  // row and column of the best entry in each row
	Notes []string   `json:"notes,omitempty"` // sentences below the table
}

// Verdict returns the result in one or two sentences: which learners are significantly better or
// worse than the baseline over the data sets, and which needs the fewest support vectors. It is
// empty without a comparison.
func (r *Result) Verdict() string {
	q := r.quantities()[0]
	against := q.of(r).Against
	if len(against) == 0 {
		return ""
	}
	var better, worse []string
	for _, v := range against {
		switch {
		case v.Holm >= Level:
		case q.sign*v.Difference > 0:
			better = append(better, v.Learner)
		default:
			worse = append(worse, v.Learner)
		}
	}
	var text string
	switch {
	case len(worse) == len(against):
		text = fmt.Sprintf("%s is better than %s.", r.Baseline, strings.Join(worse, " and "))
	case len(better) == 0 && len(worse) > 0:
		text = fmt.Sprintf("No learner is significantly better than %s; worse: %s.", r.Baseline, strings.Join(worse, ", "))
	case len(better) == 0:
		text = fmt.Sprintf("No learner is significantly better than %s, and none is worse.", r.Baseline)
	default:
		text = fmt.Sprintf("Better than %s: %s.", r.Baseline, strings.Join(better, ", "))
		if len(worse) > 0 {
			text += fmt.Sprintf(" Worse: %s.", strings.Join(worse, ", "))
		}
	}
	if q.name != accuracy.name {
		return text
	}
	means := make([]float64, len(r.Learners))
	for _, set := range r.Sets {
		for j, o := range set.Outcomes {
			means[j] += o.SupportVectors / float64(len(r.Sets))
		}
	}
	least, base := slices.Index(means, slices.Min(means)), slices.Index(r.Learners, r.Baseline)
	if least != base && math.Round(means[least]) < math.Round(means[base]) {
		text += fmt.Sprintf(" On average %s needs %.0f support vectors, %s %.0f.", r.Learners[least], means[least], r.Baseline, means[base])
	}
	return text
}

// Tables returns the whole result: accuracies, support vectors, times, and the comparisons with
// the baseline.
func (r *Result) Tables() []Table {
	deal := fmt.Sprintf("Mean and standard deviation over %d folds", r.Folds)
	if r.Repeats > 1 {
		deal = fmt.Sprintf("Mean and standard deviation over %d repeats of %d folds", r.Repeats, r.Folds)
	}
	var tables []Table
	if r.Target == "value" {
		tables = append(tables, r.quantity("Variance left in %", left, r.Left, func(o Outcome) string {
			return percent(o.Left) + " ± " + percent(o.LeftDeviation)
		}, deal+" of the mean squared error over the variance of the data set; settings are chosen on the other folds. 0: f fits all values; 100: no better than their mean."))
	} else {
		tables = append(tables, r.quantity("Accuracy in %", accuracy, r.Accuracy, func(o Outcome) string {
			return percent(o.Accuracy) + " ± " + percent(o.Deviation)
		}, deal+"; settings are chosen on the other folds."),
			r.quantity("Support vectors", vectors, r.Vectors, func(o Outcome) string {
				return strconv.FormatFloat(o.SupportVectors, 'f', 1, 64) + " ± " + strconv.FormatFloat(o.VectorsDeviation, 'f', 1, 64)
			}, fmt.Sprintf("For the same models, each trained on %d/%d of the points.", r.Folds-1, r.Folds)))
	}
	if len(r.Accuracy.Against) > 0 {
		tables = append(tables, r.against("Accuracy against "+r.Baseline, r.Accuracy), r.against("Share of support vectors against "+r.Baseline, r.Vectors))
	}
	if len(r.Left.Against) > 0 {
		tables = append(tables, r.against("Variance left against "+r.Baseline, r.Left))
	}
	if r.timed() {
		tables = append(tables, r.times())
	}
	return tables
}

// timed reports whether training times are known.
func (r *Result) timed() bool {
	return slices.ContainsFunc(r.Sets, func(s SetResult) bool {
		return slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return o.Seconds > 0 })
	})
}

// signed formats a difference with one decimal and its sign; one that rounds to zero has none.
func signed(v float64) string {
	if s := fmt.Sprintf("%+.1f", v); s[1:] != "0.0" {
		return s
	}
	return "0.0"
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) }

// p formats a probability with three digits.
func p(v float64) string {
	if v < 0.001 {
		return "< 0.001"
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// size formats the number of rows used, and of all rows if it differs.
func (s SetResult) size() string {
	if s.Of > s.Rows {
		return fmt.Sprintf("%d of %d", s.Rows, s.Of)
	}
	return strconv.Itoa(s.Rows)
}

// quantity returns a table with a row per data set and a column per learner.
func (r *Result) quantity(title string, q quantity, c Comparison, text func(o Outcome) string, note string) Table {
	t := Table{Title: title, Head: append([]string{"Data set", "n"}, r.Learners...), Notes: []string{note}}
	for i, set := range r.Sets {
		row := []string{set.Name, set.size()}
		best := set.Outcomes[0]
		for _, o := range set.Outcomes {
			row = append(row, text(o))
			if q.sign*roundMean(q.mean(o)) > q.sign*roundMean(q.mean(best)) {
				best = o
			}
		}
		for j, o := range set.Outcomes {
			if roundMean(q.mean(o)) == roundMean(q.mean(best)) && len(set.Outcomes) > 1 {
				t.Best = append(t.Best, [2]int{i, j + 2})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if c.Friedman != nil {
		row := []string{"Mean rank", ""}
		least := slices.Min(c.Friedman.Ranks)
		for j, rank := range c.Friedman.Ranks {
			row = append(row, strconv.FormatFloat(rank, 'f', 2, 64))
			if rank == least {
				t.Best = append(t.Best, [2]int{len(t.Rows), j + 2})
			}
		}
		t.Rows = append(t.Rows, row)
		t.Notes = append(t.Notes, c.sentence())
	}
	return t
}

// sentence returns the result of the Friedman test. If all data sets rank the learners identically, F
// is infinite for any number of data sets, so it uses chi-squared instead.
func (c Comparison) sentence() string {
	f := c.Friedman
	degrees := lists.Either(f.Freedom[0] == 1, "degree", "degrees")
	test := fmt.Sprintf("%s (χ² = %.2f, %d %s of freedom)", equal(f.ChiP), f.ChiSquared, f.Freedom[0], degrees)
	if f.F != nil {
		test = fmt.Sprintf("%s (Iman and Davenport: F = %.2f, %d and %d degrees of freedom)", equal(f.P), *f.F, f.Freedom[0], f.Freedom[1])
	}
	finding := "no significant difference"
	if (f.F != nil && f.P < Level) || (f.F == nil && f.ChiP < Level) {
		finding = fmt.Sprintf("two learners differ if their mean ranks are %.2f apart, Nemenyi", c.CriticalDifference)
	}
	return fmt.Sprintf("Friedman test: p %s; %s.", test, finding)
}

// equal formats a p-value to follow the letter p: "= 0.03" or "< 0.001".
func equal(v float64) string {
	if text := p(v); text[0] == '<' {
		return text
	}
	return "= " + p(v)
}

func (r *Result) times() Table {
	t := Table{
		Title: "Training time in ms", Head: append([]string{"Data set", "n"}, r.Learners...),
		Notes: []string{"Mean wall-clock time over all trainings, including those for choosing settings."},
	}
	unfinished := 0
	for _, set := range r.Sets {
		row := []string{set.Name, set.size()}
		for _, o := range set.Outcomes {
			row = append(row, strconv.FormatFloat(1000*o.Seconds, 'f', 2, 64))
			unfinished += o.Unfinished
		}
		t.Rows = append(t.Rows, row)
	}
	if unfinished > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of the scored trainings did not converge; their last iterate counts.", unfinished))
	}
	return t
}

// against returns a table with a row per learner except for the baseline.
func (r *Result) against(title string, c Comparison) Table {
	t := Table{
		Title: title,
		Head:  []string{"Learner", "Points", "Better (significant)", "Worse (significant)", "p", "p (Holm)"},
		Notes: []string{fmt.Sprintf("Mean difference in points. Number of data sets on which the learner is better or worse; in parentheses: significantly, at the level %g, by the corrected resampled t-test (Nadeau and Bengio). p: Wilcoxon's signed-rank test over the data sets, alone and with Holm's correction.", Level)},
	}
	for _, v := range c.Against {
		t.Rows = append(t.Rows, []string{
			v.Learner, signed(100 * v.Difference), fmt.Sprintf("%d (%d)", v.Better, v.SurelyBetter),
			fmt.Sprintf("%d (%d)", v.Worse, v.SurelyWorse), p(v.Wilcoxon.P), p(v.Holm),
		})
	}
	return t
}

// best reports whether an entry is the best of its row.
func (t Table) best(i, j int) bool { return slices.Contains(t.Best, [2]int{i, j}) }

// Text writes the tables for a terminal, with * after the best of a row.
func Text(w io.Writer, tables []Table) error {
	return each(w, tables, func(b *strings.Builder, t Table) {
		lines := [][]string{t.Head}
		for i, row := range t.Rows {
			line := slices.Clone(row)
			for j := range line {
				if t.best(i, j) {
					line[j] += "*"
				}
			}
			lines = append(lines, line)
		}
		fmt.Fprintf(b, "%s\n\n", t.Title)
		WriteColumns(b, lines)
		for _, n := range t.Notes {
			fmt.Fprintf(b, "\n%s\n", n)
		}
	})
}

// WriteColumns writes lines of cells in columns. Errors show in a later write to w, such as
// [bufio.Writer.Flush].
func WriteColumns(w io.Writer, lines [][]string) {
	widths := ColumnWidths(lines)
	for _, line := range lines {
		var text strings.Builder
		for j, s := range line {
			fmt.Fprintf(&text, "%-*s  ", widths[j], s)
		}
		fmt.Fprintln(w, strings.TrimRight(text.String(), " "))
	}
}

// ColumnWidths returns the widths of the longest cells.
func ColumnWidths(lines [][]string) (widths []int) {
	for _, line := range lines {
		for j, s := range line {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], utf8.RuneCountInString(s))
		}
	}
	return widths
}

// each writes tables separated by empty lines.
func each(w io.Writer, tables []Table, write func(b *strings.Builder, t Table)) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		write(&b, t)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the tables in GitHub's Markdown, the best of a row in bold.
func Markdown(w io.Writer, tables []Table) error {
	escape := strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "]", `\]`, "~", `\~`, "&", "&amp;").Replace
	return each(w, tables, func(b *strings.Builder, t Table) {
		fmt.Fprintf(b, "**%s**\n\n", escape(t.Title))
		line := func(i int, row []string) {
			for j, s := range row {
				s = escape(s)
				if t.best(i, j) {
					s = "**" + s + "**"
				}
				fmt.Fprintf(b, "| %s ", s)
			}
			b.WriteString("|\n")
		}
		line(-1, t.Head)
		b.WriteString(strings.Repeat("|---", len(t.Head)) + "|\n")
		for i, row := range t.Rows {
			line(i, row)
		}
		for _, n := range t.Notes {
			fmt.Fprintf(b, "\n%s\n", escape(n))
		}
	})
}

// latex escapes special characters of LaTeX.
var latex = strings.NewReplacer(
	`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `$<$`, ">", `$>$`, "|", `$|$`, "[", "{[}", "*", "{*}", `"`, `''`, "±", `$\pm$`, "−", `$-$`, "χ²", `$\chi^2$`,
)

// LaTeXText returns text escaped for LaTeX.
func LaTeXText(text string) string { return latex.Replace(text) }

// LaTeX writes the tables as floats that need no packages, the best of a row in bold.
func LaTeX(w io.Writer, tables []Table) error {
	return each(w, tables, func(b *strings.Builder, t Table) {
		fmt.Fprintf(b, "\\begin{table}\n\\centering\n\\caption{%s. %s}\n\\begin{tabular}{l%s}\n\\hline\n", LaTeXText(t.Title), LaTeXText(strings.Join(t.Notes, " ")), strings.Repeat("r", max(len(t.Head)-1, 0)))
		line := func(i int, row []string) {
			cells := make([]string, len(row))
			for j, s := range row {
				if number, negative := strings.CutPrefix(s, "-"); negative && j > 0 {
					s = "−" + number // a hyphen is no minus
				}
				cells[j] = LaTeXText(s)
				if t.best(i, j) {
					cells[j] = `\textbf{` + cells[j] + `}`
				}
			}
			fmt.Fprintf(b, "%s \\\\\n", strings.Join(cells, " & "))
		}
		line(-1, t.Head)
		b.WriteString("\\hline\n")
		for i, row := range t.Rows {
			line(i, row)
		}
		b.WriteString("\\hline\n\\end{tabular}\n\\end{table}\n")
	})
}

// CSV writes a row per data set and learner, at full precision.
func (r *Result) CSV(w io.Writer) error {
	head := []string{"data", "learner", "rows", "of", "features", "classes", "accuracy", "accuracy_sd", "support_vectors", "support_vectors_sd", "support_vector_share", "not_converged", "trainings", "seconds", "sha256"}
	values := r.Target == "value"
	if values {
		head = slices.Concat(head[:5], []string{"mse", "mse_sd", "variance_left", "variance_left_sd"}, head[8:])
	}
	rows := [][]string{head}
	for _, set := range r.Sets {
		for _, o := range set.Outcomes {
			row := []string{dataset.Guard(set.Name), dataset.Guard(o.Learner), strconv.Itoa(set.Rows), strconv.Itoa(set.Of), strconv.Itoa(set.Features)}
			if values {
				row = append(row, number(o.MSE), number(o.MSEDeviation), number(o.Left), number(o.LeftDeviation))
			} else {
				row = append(row, strconv.Itoa(set.Classes), number(o.Accuracy), number(o.Deviation))
			}
			seconds := ""
			if o.Seconds > 0 {
				seconds = number(o.Seconds)
			}
			rows = append(rows, append(row, number(o.SupportVectors), number(o.VectorsDeviation), number(o.Share),
				strconv.Itoa(o.Unfinished), strconv.Itoa(o.Trainings), seconds, set.SHA256))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// TestsCSV writes a row for each test, at full precision: all learners over the data sets, each
// learner against the baseline over the data sets, and each learner against the baseline on each data
// set. Missing numbers are empty.
func (r *Result) TestsCSV(w io.Writer) error {
	rows := [][]string{{"quantity", "test", "data", "learner", "baseline", "difference", "statistic", "freedom", "freedom_2", "p", "p_holm", "mean_rank", "critical_difference"}}
	optional := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	for _, q := range r.quantities() {
		c := *q.of(r)
		row := func(test string, more ...string) { rows = append(rows, append([]string{q.name, test}, more...)) }
		if f := c.Friedman; f != nil {
			row("Friedman", "", "", "", "", number(f.ChiSquared), strconv.Itoa(f.Freedom[0]), "", number(f.ChiP), "", "", "")
			if f.F != nil {
				row("Iman-Davenport", "", "", "", "", number(*f.F), strconv.Itoa(f.Freedom[0]), strconv.Itoa(f.Freedom[1]), number(f.P), "", "", "")
			}
			for j, rank := range f.Ranks {
				row("Nemenyi", "", dataset.Guard(r.Learners[j]), "", "", "", "", "", "", "", number(rank), number(c.CriticalDifference))
			}
		}
		base := slices.Index(r.Learners, r.Baseline)
		for _, v := range c.Against {
			own := slices.Index(r.Learners, v.Learner)
			names := []string{dataset.Guard(v.Learner), dataset.Guard(r.Baseline)}
			row("Wilcoxon", "", names[0], names[1], number(v.Difference), number(min(v.Wilcoxon.Plus, v.Wilcoxon.Minus)), "", "", number(v.Wilcoxon.P), number(v.Holm), "", "")
			for _, set := range r.Sets {
				t, err := r.onFolds(q, set.Outcomes[own], set.Outcomes[base])
				if err != nil {
					return err
				}
				row("corrected t", dataset.Guard(set.Name), names[0], names[1], number(t.Mean), optional(t.T), strconv.Itoa(t.Freedom), "", optional(t.P), "", "", "")
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// number formats v at full precision.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
