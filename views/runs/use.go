package runsview

import (
	"strings"

	"marginlab/views"
)

// takes says which columns new rows have.
func takes(columns []string) string {
	const most = 12
	if len(columns) > most {
		return views.Counted(len(columns), "column") + ": " + strings.Join(columns[:most], ", ") + ", …"
	}
	return views.Counted(len(columns), "column") + ": " + strings.Join(columns, ", ")
}

func pasted(p *Predicted) string {
	if p == nil {
		return ""
	}
	return p.Text
}

// problem returns what is wrong with the pasted rows, or with the file.
func (p *Predicted) problem(pasted bool) string {
	if p == nil || pasted != (p.Text != "") {
		return ""
	}
	return p.Error
}

// lines counts the lines of a text.
func lines(text string) int { return 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n") }
