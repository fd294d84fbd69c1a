package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views/figure"
	runsview "marginlab/views/runs"
)

// ReportRun returns a report item for a run and one of its figures, by default the main one.
func (a *Handler) ReportRun(ctx context.Context, id, name string) (item store.ReportItem, err error) {
	run, err := a.find(ctx, frame.Workspace(ctx), id)
	if err != nil {
		return item, err
	}
	if run.Status != store.Done {
		return item, results.Unfinished("the run “" + run.Name + "”")
	}
	alone := name != ""
	if !alone {
		name, _ = pictures.MainFigure(run.Report)
	}
	fig, err := pictures.ReportFigure(ctx, func(o pictures.Options) (*figure.Picture, error) {
		shown, err := a.Base.Run(ctx, run, nil, o)
		if err != nil {
			return nil, err
		}
		pic, err := shown.Draw(ctx, name)
		if errors.Is(err, figure.ErrNoFigure) {
			err = param.Problems{{Field: "text", Message: results.Sentence(err.Error())}}
		}
		return pic, err
	})
	if err != nil {
		return item, err
	}
	item = store.ReportItem{
		Title: run.Name, Verdict: results.Capital(headline(run)) + ".", Details: details(run),
		Figures: []store.ReportFigure{fig}, Command: results.CommandLine(run.Spec, run.DatasetName),
	}
	if !alone {
		t := study.Table{Title: "Evidence for “" + run.Name + "”", Head: []string{"Estimate", "Score", "95 % CI", "Points", "From"}}
		for _, row := range results.EvidenceRows(run, nil) {
			from := row.From
			if row.Note != "" {
				from += " (" + row.Note + ")"
			}
			t.Rows = append(t.Rows, []string{results.Capital(row.Scheme), row.Score, cmp.Or(row.Interval, "–"), strings.Fields(row.Points + " –")[0], from})
		}
		item.Tables = append(item.Tables, t)
	}
	item.Task, err = task(run)
	return item, err
}

// details describes the settings and data of a run.
func details(run store.Run) string {
	return fmt.Sprintf("%s on %s (n = %d), data hash %s.", run.Spec.Name(nil), run.DatasetName, run.Report.N, run.Hash[:12])
}

func task(run store.Run) (repeat.Task, error) {
	spec, err := json.Marshal(run.Spec)
	return repeat.Task{Title: run.Name, Points: run.Hash, Spec: spec, Numbers: repeat.OfRun(run.Report)}, err
}

// ReportComparison returns a report item for the comparison in a query.
func (a *Handler) ReportComparison(ctx context.Context, q url.Values) (item store.ReportItem, err error) {
	from := results.Collection{Workspace: frame.Workspace(ctx)}
	runs, err := comparedRuns(ctx, a.find, from, q)
	if err != nil {
		return item, err
	}
	for _, run := range runs {
		if run.Status != store.Done {
			return item, results.Unfinished("the run “" + run.Name + "”")
		}
	}
	layers, err := a.Layers(ctx, runs, pictures.Options{})
	if err != nil {
		return item, err
	}
	e, err := a.evidence(ctx, runs, layers, from, q)
	if err != nil {
		return item, err
	}
	item.Title = fmt.Sprintf("Comparison of %d runs", len(runs)) + onData(runs)
	item.Verdict = e.Why
	table := study.Table{Title: "Results", Head: []string{"Run", "Score", "95 % CI", "Support vectors"}}
	if e.Hero != nil {
		item.Verdict, item.Details = e.Hero.Sentence, e.Hero.Sub
		table.Head = append(table.Head, "p")
	}
	effects := map[string]string{}
	if e.Hero != nil && len(e.Hero.Bars) > 0 {
		table.Head = append(table.Head, "Difference (95 % interval)")
		table.Notes = append(table.Notes, "Difference from “"+e.Hero.Against+"”; p after Holm's correction.")
		for _, b := range e.Hero.Bars {
			effects[b.Name] = b.Text
		}
	}
	for i, run := range runs {
		best := results.BestEvidence(run)
		row := []string{e.Names[i], best.Score, cmp.Or(best.Interval, "–"), fmt.Sprint(run.Report.SupportVectors)}
		if e.Hero != nil {
			row = append(row, cmp.Or(e.Hero.P[i], "–"))
		}
		if len(table.Head) > len(row) {
			effect := ""
			if i != e.Reference {
				effect = effects[e.Names[i]]
			}
			row = append(row, cmp.Or(effect, "–"))
		}
		table.Rows = append(table.Rows, row)
		table.Notes = append(table.Notes, e.Names[i]+": "+best.Scheme+"; "+details(run))
	}
	item.Tables = append(item.Tables, table)
	for _, tests := range []struct {
		title string
		head  []string
		pairs []runsview.Verdict
	}{{"Tests on common folds", e.FoldHead, e.FoldPairs}, {"Tests on held-out points", e.PairHead, e.Pairs}} {
		t := study.Table{Title: tests.title, Head: append([]string{"First", "Second", "Verdict"}, tests.head...)}
		for _, v := range tests.pairs {
			t.Rows = append(t.Rows, append([]string{v.First, v.Second, v.Short}, v.Cells...))
		}
		if len(t.Rows) > 0 {
			item.Tables = append(item.Tables, t)
		}
	}
	fig, err := pictures.ReportFigure(ctx, func(o pictures.Options) (*figure.Picture, error) {
		layers, err := a.overlay(ctx, runs, q, o)
		if err != nil {
			return nil, err
		}
		return pictures.Overlay(ctx, layers, pictures.CommonLimits(layers))
	})
	if err == nil {
		item.Figures = append(item.Figures, fig)
	} else if _, err := results.UserMessage(err); err != nil { // there is nothing to draw
		return item, err
	}
	return item, a.compareTask(ctx, &item, runs, layers, from, q)
}

// compareTask fills in the tasks that repeat the runs of a comparison and its tests.
func (a *Handler) compareTask(ctx context.Context, item *store.ReportItem, runs []store.Run, layers []figure.Layer, from results.Collection, q url.Values) error {
	item.Task.Title = item.Title
	var points [][]ml.Point
	var lines []string
	for i, run := range runs {
		t, err := task(run)
		if err != nil {
			return err
		}
		item.Task.Runs = append(item.Task.Runs, t)
		points = append(points, layers[i].Scene.Points)
		lines = append(lines, results.CommandLine(run.Spec, run.DatasetName))
	}
	item.Command = strings.Join(lines, "\n")
	if results.Comparable(runs) == nil {
		if held, err := eval.OnHeldOut(points); err == nil { // on an error there is no test
			item.Task.Numbers = repeat.OfHeldOut(held)
		}
	}
	if !q.Has("folds") {
		return nil
	}
	folds, err := results.FoldsOf(ctx, a.Store, from.Workspace, runs, q["folds"])
	if err != nil {
		_, err = results.UserMessage(err)
		return err
	}
	for _, s := range folds.Searches {
		if t, err := results.SearchTask(s); err != nil {
			return err
		} else if s.Result != nil {
			item.Task.Runs = append(item.Task.Runs, t)
		}
	}
	return nil
}
