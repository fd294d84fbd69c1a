package door

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// Size of the figures of a report.
const reportWidth, reportHeight = 520, 390

// ReportFigure draws a figure in every form in which a report keeps it.
func ReportFigure(draw func(Options) (*figure.Picture, error)) (f store.ReportFigure, err error) {
	o := Options{Width: reportWidth, Height: reportHeight, Cores: true}
	for _, form := range []struct {
		to   *[]byte
		dark bool
		as   string
	}{{&f.SVG, false, "svg"}, {&f.Dark, true, "svg"}, {&f.PDF, false, "pdf"}} {
		o.Dark = form.dark
		pic, err := draw(o)
		if err != nil {
			return f, err
		}
		var b bytes.Buffer
		if write := pic.SVG; form.as == "pdf" {
			err = pic.PDF(&b)
		} else {
			err = write(&b)
		}
		if err != nil {
			return f, err
		}
		*form.to, f.Caption, f.Width, f.Height = b.Bytes(), pic.Caption, pic.Width, pic.Height
	}
	return f, nil
}

// StoredSpec returns a spec as a report keeps it.
func StoredSpec(s ml.Spec) (json.RawMessage, error) { return json.Marshal(s) }

// Unfinished is the error of an item of a report that has no result.
func Unfinished(what string) error {
	return param.Problems{{Field: "text", Message: what + " has no result yet; place it in a report once it is done"}}
}

// AddToReport returns the form that adds the page of an address to a report.
func (a *Base) AddToReport(ctx context.Context, address string) (f views.AddToReport, err error) {
	list, _, err := a.Store.Reports(ctx, Workspace(ctx), store.MaxReports, 0)
	f.Address = address
	for _, r := range list {
		f.Reports = append(f.Reports, views.Option{Value: r.ID, Label: r.Title})
	}
	return f, err
}

// SearchTask returns what repeats a search.
func SearchTask(s store.Search) (t repeat.Task, err error) {
	t = repeat.Task{Title: SearchTitle(s), Points: s.Hash, Search: &repeat.Search{Grid: s.Grid, Drawn: s.Drawn, Scheme: s.Scheme}}
	if s.Result != nil {
		t.Numbers = repeat.OfSearch(s.Result)
	}
	t.Spec, err = StoredSpec(s.Spec)
	return t, err
}

// minus is the sign of a number, for which a page has a longer line than files.
var minus = regexp.MustCompile(`^-(\d)`)

// StudyTable is a table of a study as a page shows it.
func StudyTable(t study.Table) views.StudyTable {
	table := views.StudyTable{Title: t.Title, Head: t.Head, Notes: t.Notes}
	for i, row := range t.Rows {
		var texts []views.StudyText
		for j, text := range row {
			texts = append(texts, views.StudyText{Text: minus.ReplaceAllString(text, "−$1"), Best: slices.Contains(t.Best, [2]int{i, j})})
		}
		table.Rows = append(table.Rows, texts)
	}
	return table
}
