package cmdline

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"marginlab/ml"
)

// writeReport writes the numbers as a table: name, value, meaning.
func writeReport(w io.Writer, r ml.Report) error {
	type row struct{ name, value, meaning string }
	var rows []row
	var names, values int // widths
	for _, q := range ml.Quantities {
		s := text(q.Value(&r))
		if s == "" {
			continue
		}
		rows = append(rows, row{q.Name, s, q.Help})
		names = max(names, len(q.Name))
		if len(s) <= 24 { // a longer one pushes its own meaning aside
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
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', 7, 64)
	case []float64:
		s := make([]string, len(v))
		for i, x := range v {
			s[i] = text(x)
		}
		return strings.Join(s, " ")
	default:
		return fmt.Sprint(v)
	}
}
