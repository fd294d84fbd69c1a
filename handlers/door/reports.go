package door

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"sync"

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
	for _, form := range []struct {
		to            *[]byte
		width, height int
		dark, pdf     bool
	}{
		{&f.Narrow, phoneWidth, phoneHeight, false, false},
		{&f.NarrowDark, phoneWidth, phoneHeight, true, false},
		{&f.SVG, reportWidth, reportHeight, false, false},
		{&f.Dark, reportWidth, reportHeight, true, false},
		{&f.PDF, reportWidth, reportHeight, false, true},
	} {
		pic, err := draw(Options{Width: form.width, Height: form.height, Cores: true, Dark: form.dark})
		if err != nil {
			return f, err
		}
		var b bytes.Buffer
		write := pic.SVG
		if form.pdf {
			write = pic.PDF
		}
		if err := write(&b); err != nil {
			return f, err
		}
		if *form.to, f.Caption = b.Bytes(), pic.Caption; form.width == phoneWidth {
			f.NarrowWidth, f.NarrowHeight = pic.Width, pic.Height
		} else {
			f.Width, f.Height = pic.Width, pic.Height
		}
	}
	return f, nil
}

// Unfinished is the error of an item of a report that has no result.
func Unfinished(what string) error {
	return param.Problems{{Field: "text", Message: what + " has no result yet; place it in a report once it is done"}}
}

// AddToReport returns the form that adds the page of an address to a report.
func (a *Base) AddToReport(ctx context.Context, address string) (f views.AddToReport, err error) {
	list, err := a.Store.ReportTitles(ctx, Workspace(ctx))
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
	t.Spec, err = json.Marshal(s.Spec)
	return t, err
}

// minus is the sign of a number, for which a page has a longer line than files.
var minus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-(\d)`) })

// StudyTable is a table of a study as a page shows it.
func StudyTable(t study.Table) views.StudyTable {
	table := views.StudyTable{Title: t.Title, Head: t.Head, Notes: t.Notes}
	for i, row := range t.Rows {
		var texts []views.StudyText
		for j, text := range row {
			texts = append(texts, views.StudyText{Text: minus().ReplaceAllString(text, "−$1"), Best: slices.Contains(t.Best, [2]int{i, j})})
		}
		table.Rows = append(table.Rows, texts)
	}
	return table
}
