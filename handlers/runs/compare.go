package runs

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"marginlab/handlers/door"
	"marginlab/ml"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// comparedRuns finds the runs that the query names.
func (a *Reader) comparedRuns(ctx context.Context, from door.Shelf, q url.Values) ([]store.Run, error) {
	ids := q["run"]
	if err := door.ToCompare(ids); err != nil {
		return nil, err
	}
	runs := make([]store.Run, len(ids))
	for i, id := range ids {
		var err error
		if runs[i], err = a.Store.Run(ctx, from.Workspace, id); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// Compare shows runs side by side.
func (a *Reader) Compare(w http.ResponseWriter, r *http.Request) error {
	from, err := a.shelf(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	if q.Has("back") { // from a list, whose form says more than a comparison needs
		to := url.Values{}
		for _, id := range q["run"] {
			if !slices.Contains(to["run"], id) {
				to.Add("run", id)
			}
		}
		if base := q.Get("base"); slices.Contains(q["run"], base) {
			to.Set("base", base)
		}
		return door.Redirect(w, r, from.Base+"/compare?"+to.Encode())
	}
	runs, err := a.comparedRuns(r.Context(), from, q)
	if err != nil {
		return err
	}
	p := views.Compare{Page: a.Frame("Comparison", "runs"), Base: from.Base, Folds: q["folds"], OnlyDiffs: q.Get("diff") == "1"}
	layers, err := a.Layers(r.Context(), runs, door.Options{Width: door.MainWidth, Height: door.MainHeight})
	if err != nil {
		return err
	}
	limits := door.CommonLimits(layers)
	query := ""
	if limits != (figure.Limits{}) {
		query = "limits=" + url.QueryEscape(fmt.Sprintf("%g,%g,%g,%g", limits.XMin, limits.XMax, limits.YMin, limits.YMax))
	}
	base := slices.IndexFunc(runs, func(r store.Run) bool { return r.ID == q.Get("base") }) // the baseline, -1 for none
	for i, run := range runs {
		c := views.CompareRun{ID: run.ID, Name: run.Name, Status: string(run.Status)}
		if run.Status == store.Done {
			caption := headline(run.Report)
			name, what := door.MainFigure(run.Report)
			c.Picture = door.Linked(from.Base+"/runs/"+run.ID+"/figures/", name, query, door.SmallWidth, door.SmallHeight, what+" of "+run.Name+": "+caption, caption)
		}
		p.Pending = p.Pending || run.Status == store.Queued || run.Status == store.Running
		with := func(key string, values ...string) string {
			other := maps.Clone(q)
			if other[key] = values; key == "run" {
				other.Del("folds") // which are of all of them
			}
			return from.Base + "/compare?" + other.Encode()
		}
		if len(runs) > 2 {
			c.Without = with("run", slices.Delete(slices.Clone(q["run"]), i, i+1)...)
		}
		if c.Baseline = i == base; c.Baseline {
			c.Pin, p.Baseline = with("base"), run.ID
		} else {
			c.Pin = with("base", run.ID)
		}
		p.Runs = append(p.Runs, c)
	}
	p.Settings = compareSettings(runs)
	p.Same = !slices.ContainsFunc(p.Settings, func(r views.CompareRow) bool { return r.Differs })
	p.Numbers = compareNumbers(runs, base)
	if p.Evidence, err = a.evidence(r.Context(), runs, layers, from, q); err != nil {
		return err
	}

	pic, err := door.Overlay(layers, limits)
	if err != nil {
		if p.OverlayNote, err = door.Told(err); err != nil {
			return err
		}
	} else {
		drawn := "All boundaries f = 0 on common axes."
		hatched := fmt.Sprintf(" Where the predictions disagree is hatched: %s of the picture.", door.Percent(pic.Disagree))
		if layers[0].Scene.Values {
			drawn, hatched = "All curves f(x) on common axes, with the points of the first run.", ""
		} else if slices.ContainsFunc(layers, func(l figure.Layer) bool { return l.Scene.Model.Rule != ml.Sign }) {
			drawn = "The lines on common axes: where the class that a run predicts changes; with a single machine that is f = 0."
		}
		caption := drawn + hatched
		p.Overlay = door.Linked(from.Base+"/compare/figures/", "overlay", url.Values{"run": q["run"]}.Encode(), door.MainWidth, door.MainHeight, caption, caption)
	}
	return a.Render(w, r, views.ComparePage(p))
}

// headline is the short result of a run.
func headline(rep *ml.Report) string {
	train, test := door.Scores(rep)
	text := fmt.Sprintf("%s training, %d SVs", train, rep.SupportVectors)
	switch in := rep.TestInterval; {
	case in != nil:
		text = fmt.Sprintf("%s held out (%s to %s), %s", test, door.Percent(in.Low), door.Percent(in.High), text)
	case test != "":
		text = test + " held out, " + text
	}
	return text
}

// CompareFigure sends the picture of a comparison.
func (a *Reader) CompareFigure(w http.ResponseWriter, r *http.Request) error {
	from, err := a.shelf(r)
	if err != nil {
		return err
	}
	name, format, err := door.FigureName(r)
	if err != nil {
		return err
	}
	if name != "overlay" {
		return store.ErrNotFound
	}
	runs, err := a.comparedRuns(r.Context(), from, r.URL.Query())
	if err != nil {
		return err
	}
	o := door.Options{Width: door.MainWidth, Height: door.MainHeight, Dark: r.FormValue("dark") == "1"}
	o.Size(r)
	return a.SendOverlay(w, r, runs, o, format, func(all []figure.Layer) []figure.Layer { return all })
}

// compareSettings puts the settings side by side. A setting without a meaning
// for a run is a dash.
func compareSettings(runs []store.Run) []views.CompareRow {
	rows := []views.CompareRow{compareRow("data", "The points trained on.", runs, func(r store.Run) string { return r.DatasetName })}
	rows = append(rows, compareRow("data hash", "Equal points have equal hashes.", runs, func(r store.Run) string { return r.Hash[:12] }))
	for _, p := range ml.Params {
		row := compareRow(p.Label, p.Help, runs, func(r store.Run) string {
			if !door.Meant(p.Name, r.Spec, r.Report) {
				return ""
			}
			return door.OptionLabel(p, r.Spec.Text(p.Name))
		})
		if strings.Join(row.Cells, "") != strings.Repeat("–", len(runs)) {
			rows = append(rows, row)
		}
	}
	return rows
}

func compareRow(label, help string, runs []store.Run, cell func(store.Run) string) views.CompareRow {
	row := views.CompareRow{Label: label, Help: help}
	for _, r := range runs {
		v := cell(r)
		if v == "" {
			v = "–"
		}
		row.Cells = append(row.Cells, v)
		row.Differs = row.Differs || v != row.Cells[0]
	}
	return row
}

// compareNumbers puts the measured quantities side by side and marks the best
// where better has a meaning and the runs differ. Where one of them, number base, is the
// baseline, the others are told by how much they exceed it.
func compareNumbers(runs []store.Run, base int) (rows []views.CompareRow) {
	for _, q := range ml.Quantities {
		row := compareRow(q.Label, q.Help, runs, func(r store.Run) string {
			if r.Report == nil {
				return ""
			}
			return door.QuantityText(q, r.Report)
		})
		if strings.Join(row.Cells, "") == strings.Repeat("–", len(runs)) {
			continue
		}
		if q.Better != 0 && row.Differs {
			row.Best = best(q, runs)
		}
		if base >= 0 && row.Differs {
			row.More = exceed(q, runs, base)
		}
		rows = append(rows, row)
	}
	return rows
}

// exceed is by how much each run exceeds the baseline in a quantity, empty where either has
// none or both the same.
func exceed(q ml.Quantity, runs []store.Run, base int) []string {
	more := make([]string, len(runs))
	than, ok := door.QuantityNumber(q, runs[base].Report)
	for i, r := range runs {
		v, has := door.QuantityNumber(q, r.Report)
		if !ok || !has || v == than {
			continue
		}
		more[i] = exceeds(q.Unit, v, than)
	}
	return more
}

// best marks the runs with the best value.
func best(q ml.Quantity, runs []store.Run) []bool {
	marks := make([]bool, len(runs))
	top := math.Inf(-1)
	for i, r := range runs {
		v, ok := door.QuantityNumber(q, r.Report)
		if !ok {
			continue
		}
		v *= float64(q.Better)
		if v > top {
			top = v
			clear(marks)
		}
		marks[i] = v == top
	}
	return marks
}
