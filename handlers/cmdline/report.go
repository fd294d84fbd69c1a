package cmdline

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/study"
)

// writeReport writes a table of numbers: name, value, meaning.
func writeReport(w io.Writer, r ml.Report) error {
	type row struct{ name, value, meaning string }
	var rows []row
	var names, values int // column widths
	for _, q := range ml.Quantities {
		s := q.Text(&r, digits)
		if s == "" {
			continue
		}
		rows = append(rows, row{q.Name, s, q.Help})
		names = max(names, len(q.Name))
		if len(s) <= 24 { // longer values indent their own line only
			values = max(values, len(s))
		}
	}
	b := bufio.NewWriter(w)
	for _, r := range rows {
		line := fmt.Sprintf("%-*s  %-*s  %s", names, r.name, values, r.value, r.meaning)
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	writeConfusion(b, "confusion", "training", r.Confusion)
	writeConfusion(b, "test_confusion", "held-out", r.TestConfusion)
	return b.Flush()
}

// digits formats the numbers of the table regardless of unit.
func digits(_ ml.Unit, v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }

// writeConfusion writes a confusion matrix, a line per class.
func writeConfusion(w io.Writer, name, points string, rows []ml.ClassReport) {
	if rows == nil {
		return
	}
	fmt.Fprintf(w, "\n%s  of the %s points; rows: actual, columns: predicted\n\n", name, points)
	classes := lists.Map(rows, func(r ml.ClassReport) string { return r.Class })
	lines := [][]string{slices.Concat([]string{""}, classes, []string{"precision", "recall", "F1"})}
	vectors := rows[0].SupportVectors != nil
	if vectors {
		lines[0] = append(lines[0], "SVs")
	}
	share := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return percent(*v) + " %"
	}
	for _, r := range rows {
		line := append([]string{r.Class}, lists.Map(r.Predicted, strconv.Itoa)...)
		f1 := "-"
		if r.F1 != nil {
			f1 = strconv.FormatFloat(*r.F1, 'f', 3, 64)
		}
		line = append(line, share(r.Precision), share(r.Recall), f1)
		if vectors && r.SupportVectors != nil {
			line = append(line, strconv.Itoa(*r.SupportVectors))
		}
		lines = append(lines, line)
	}
	widths := study.ColumnWidths(lines)
	for _, line := range lines {
		fmt.Fprintf(w, "  %-*s", widths[0], line[0])
		for j, s := range line[1:] {
			fmt.Fprintf(w, "  %*s", widths[j+1], s)
		}
		fmt.Fprintln(w)
	}
}
