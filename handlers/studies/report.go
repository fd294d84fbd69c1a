package studies

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/eval"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// reportRows is the number of settings of a search in a report.
const reportRows = 10

// ReportSearch returns a report item for a search.
func (a *Handler) ReportSearch(ctx context.Context, id string) (item store.ReportItem, err error) {
	s, err := a.FindSearch(ctx, frame.Workspace(ctx), id)
	if err != nil {
		return item, err
	}
	item.Title = results.SearchAndData(s.Search)
	if s.Result == nil {
		return item, results.Unfinished("the search “" + item.Title + "”")
	}
	item.Details = fmt.Sprintf("%s, data hash %s.", results.SchemeName(s.Scheme), s.Hash[:12])
	item.Details = results.Capital(item.Details)
	item.Command = results.SearchLine(s.Search)
	var names, titles []string
	if len(s.Scheme.Learning) > 0 {
		l := learning(s)
		t := study.Table{Title: "Learning curve", Head: []string{"Training points", "Share", "Test " + l.Score, "Support vectors"}}
		for _, r := range l.Rows {
			t.Rows = append(t.Rows, []string{strconv.Itoa(r.N), r.Share, r.HeldOut, r.Vectors})
		}
		item.Tables, names = append(item.Tables, t), []string{learningName}
	} else {
		none := func(eval.Setting) string { return "" }
		best := choice(s, s.Result.Best, none)
		item.Verdict = fmt.Sprintf("Best of %s: %s, %s support vectors on average.", views.Counted(len(s.Settings), "setting"), strings.TrimPrefix(best.Values+", "+best.Score, ", "), best.Vectors)
		item.Details += strings.TrimRight(" "+strings.TrimSpace(results.NestedText(s.Result)+" "+s.Scheme.Warning(s.Result)), " ")
		if list := newShades(s, none).list(); list != nil {
			t := study.Table{Title: "Best settings", Head: append(append([]string{}, list.Names...), list.Score, "Sd", "Support vectors")}
			for i, row := range list.Rows[:min(len(list.Rows), reportRows)] {
				t.Rows = append(t.Rows, append(append([]string{}, row.Values...), row.Cell.Text, row.Deviation, row.Vectors))
				if row.Cell.Best {
					t.Best = append(t.Best, [2]int{i, len(list.Names)})
				}
			}
			item.Tables = append(item.Tables, t)
		}
		for _, pic := range picturesOf(s.Search) {
			name, _, _ := strings.Cut(pic.Src[strings.LastIndex(pic.Src, "/")+1:], ".")
			names, titles = append(names, name), append(titles, pic.Caption)
		}
		names = names[:min(len(names), 2)]
	}
	for i, name := range names {
		fig, err := pictures.ReportFigure(ctx, func(o pictures.Options) (*figure.Picture, error) {
			return draw(s, name, o.Format)
		})
		if err != nil {
			return item, err
		}
		if i < len(titles) {
			fig.Title = titles[i]
		}
		item.Figures = append(item.Figures, fig)
	}
	item.Task, err = results.SearchTask(s.Search)
	return item, err
}

// ReportStudy returns a report item for a study.
func (a *Handler) ReportStudy(ctx context.Context, id string) (item store.ReportItem, err error) {
	s, err := a.Store.Study(ctx, frame.Workspace(ctx), id)
	if err != nil {
		return item, err
	}
	if s.Status() != store.Done {
		return item, results.Unfinished("the study “" + s.Title + "”")
	}
	res, err := a.Store.StudyResult(ctx, s)
	if err != nil {
		return item, err
	}
	asked, err := study.Parse(s.File, "study")
	if err != nil {
		return item, err
	}
	item = store.ReportItem{
		Title: s.Title, Verdict: res.Verdict(), Tables: res.Tables(), Command: "marginlab study study.toml",
		Details: fmt.Sprintf("%s on %s, %s, settings chosen on the training folds.", views.Counted(len(res.Learners), "learner"), views.Counted(len(res.Sets), "data set"), views.Counted(asked.Folds, "fold")),
		Task:    repeat.Task{Title: s.Title, Numbers: repeat.OfStudy(res)},
	}
	f := repeat.Study{File: s.File, Points: map[string]string{}}
	for i, set := range asked.Sets {
		if at := i * len(asked.Learners); at < len(s.Searches) && set.File != "" {
			f.Points[set.Name] = s.Searches[at].Hash
		}
		if set.File != "" && f.Points[set.Name] == "" { // brought by an archive, without its points
			item.Command = ""
		}
	}
	if item.Command != "" {
		item.Task.Study = &f
	}
	for k, ranks := range figure.StudyRanks(res, figure.Format{}) {
		fig, err := pictures.ReportFigure(ctx, func(o pictures.Options) (*figure.Picture, error) {
			return figure.StudyRanks(res, figure.Format{Dark: o.Dark, Width: o.Width})[k].Picture()
		})
		if err != nil {
			return item, err
		}
		fig.Title = ranks.Title
		item.Figures = append(item.Figures, fig)
	}
	return item, nil
}
