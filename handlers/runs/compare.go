package runs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	runsview "marginlab/views/runs"
)

// comparedRuns finds the runs that the query names.
func comparedRuns(ctx context.Context, find func(context.Context, store.Workspace, string) (store.Run, error), from results.Collection, q url.Values) ([]store.Run, error) {
	ids := q["run"]
	if q.Has("runs") { // from programs
		ids = strings.Split(q.Get("runs"), ",")
	}
	if err := results.ToCompare(ids); err != nil {
		return nil, err
	}
	runs := make([]store.Run, len(ids))
	for i, id := range ids {
		var err error
		if runs[i], err = find(ctx, from.Workspace, id); err != nil {
			return nil, err
		}
		runs[i] = from.Shown(runs[i])
	}
	return runs, nil
}

// overlaid is the number of boundaries that can be distinguished in one picture, and the number
// drawn by default.
const overlaid = 6

// drawn returns the runs whose boundaries to overlay: those in the query's draw, by default the
// first ones.
func drawn(runs []store.Run, q url.Values) (chosen []store.Run) {
	for _, r := range finished(runs) {
		if slices.Contains(q["draw"], r.ID) || !q.Has("draw") && len(chosen) < overlaid {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

// overlay returns the layers of drawn with their short names.
func (a *Reader) overlay(ctx context.Context, runs []store.Run, q url.Values, o pictures.Options) ([]figure.Layer, error) {
	lines := drawn(runs, q)
	layers, err := a.Layers(ctx, lines, o)
	for i := range layers {
		layers[i].Name = called(runs, lines[i])
	}
	return layers, err
}

// onData returns " on " and the name of the data set of runs, "" if they have several.
func onData(runs []store.Run) string {
	if slices.ContainsFunc(runs, func(r store.Run) bool { return r.DatasetName != runs[0].DatasetName }) {
		return ""
	}
	return " on " + runs[0].DatasetName
}

// called returns the short name of one of several runs, with its number if there are more than two.
func called(runs []store.Run, r store.Run) string {
	at := slices.IndexFunc(runs, func(o store.Run) bool { return o.ID == r.ID })
	name := shortNames(runs)[at]
	if len(runs) < 3 {
		return name
	}
	return numbered(at) + " " + name
}

// shortNames returns the names of runs without the name of their data set at the end, if that is
// common to all and the names stay distinct.
func shortNames(runs []store.Run) []string {
	full, short := make([]string, len(runs)), make([]string, len(runs))
	clear := true
	for i, r := range runs {
		full[i], short[i] = r.Name, strings.TrimSuffix(r.Name, " · "+runs[0].DatasetName)
		clear = clear && r.DatasetName == runs[0].DatasetName && full[slices.Index(short, short[i])] == full[i]
	}
	return lists.Either(clear, short, full)
}

// simpler returns the query of the page for one from elsewhere; ok is false if q is that already.
func simpler(q url.Values) (to string, ok bool) {
	switch {
	case q.Has("back"): // from a list's form, which sends more than a comparison needs
		to := url.Values{}
		for _, id := range q["run"] {
			if !slices.Contains(to["run"], id) {
				to.Add("run", id)
			}
		}
		if base := q.Get("base"); slices.Contains(q["run"], base) {
			to.Set("base", base)
		}
		return to.Encode(), true
	case q.Has("runs"): // from programs; links on the page use run
		q["run"] = strings.Split(q.Get("runs"), ",")
		q.Del("runs")
		return q.Encode(), true
	case q.Get("axis") != "": // from the form beside the axes
		q.Set("axes", strings.Trim(q.Get("axes")+","+q.Get("axis"), ","))
		q.Del("axis")
		return q.Encode() + "#h-quantities", true
	}
	return "", false
}

// compareRun describes a run by itself; query is the query of its picture, which scales it like the others.
func compareRun(run store.Run, base, query string) runsview.CompareRun {
	c := runsview.CompareRun{ID: run.ID, Status: string(run.Status)}
	if run.Status == store.Done {
		caption := headline(run)
		c.Best, c.Vectors = results.BestEvidence(run), strconv.Itoa(run.Report.SupportVectors)
		name, what := pictures.MainFigure(run.Report)
		c.Picture = pictures.Linked(base+"/runs/"+run.ID+"/figures/", name, query, pictures.SmallWidth, pictures.SmallHeight, what+" of "+run.Name+": "+caption, caption)
	}
	switch base {
	case "":
		c.Clone = "/lab?" + cloneQuery(run).Encode()
	case "/shared":
		c.Clone = copyOf(run, run.ID)
	}
	return c
}

// Compare shows runs side by side.
func (a *Reader) Compare(w http.ResponseWriter, r *http.Request) error {
	from, err := a.shelf(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	if to, ok := simpler(q); ok {
		return frame.Redirect(w, r, from.Base+"/compare?"+to)
	}
	runs, err := comparedRuns(r.Context(), a.find, from, q)
	if err != nil {
		return err
	}
	p := runsview.Compare{Page: a.Frame("Comparison", "runs"), Base: from.Base, OnlyDiffs: q.Get("diff") == "1"}
	for _, k := range []string{"run", "base", "folds", "draw", "diff", "where", "axes", "log", "x", "y"} {
		for _, v := range q[k] {
			p.Kept = append(p.Kept, views.Option{Label: k, Value: v})
		}
	}
	layers, err := a.Layers(r.Context(), runs, pictures.Options{Format: figure.Format{Width: pictures.MainWidth, Height: pictures.MainHeight}})
	if err != nil {
		return err
	}
	limits := pictures.CommonLimits(layers)
	query := ""
	if limits != (figure.Limits{}) {
		query = "limits=" + url.QueryEscape(fmt.Sprintf("%g,%g,%g,%g", limits.XMin, limits.XMax, limits.YMin, limits.YMax))
	}
	if slices.ContainsFunc(runs, func(r store.Run) bool { return r.Report != nil && figure.Noted(r.Report.Rule, r.Report.D, r.Report.N) }) {
		query = strings.TrimPrefix(query+"&noted=1", "&") // in all pictures, so that their frames have equal heights
	}
	base := slices.IndexFunc(runs, func(r store.Run) bool { return r.ID == q.Get("base") }) // the baseline, -1 for none
	names := shortNames(runs)
	for i, run := range runs {
		c := compareRun(run, from.Base, query)
		c.Number, c.Name = numbered(i), names[i]
		with := func(key string, values ...string) string {
			other := maps.Clone(q)
			if other[key] = values; key == "run" {
				other.Del("folds") // they belong to all runs
				other.Del("draw")
			}
			return from.Base + "/compare?" + other.Encode()
		}
		if len(runs) > 2 {
			c.Without = with("run", slices.Delete(slices.Clone(q["run"]), i, i+1)...)
		}
		if c.Baseline = i == base; c.Baseline {
			c.Pin = with("base")
		} else {
			c.Pin = with("base", run.ID)
		}
		p.Pending = p.Pending || !run.Status.Ended()
		p.Runs = append(p.Runs, c)
	}
	switch from.Base {
	case "":
		p.Shares = true
		if len(finished(runs)) == len(runs) {
			if p.Report, err = a.AddToReport(r.Context(), "/compare?"+r.URL.RawQuery); err != nil {
				return err
			}
		}
		if to := sharedComparison(runs, q); to != "" {
			p.ShareURL = a.Links.Origin(r) + to
		}
	case "/shared":
		p.Bare, p.ShareURL = true, a.Links.Origin(r)+"/shared/compare?"+q.Encode()
	}
	if p.ShareURL != "" {
		p.ShareQR, _ = pictures.QR(r.Context(), p.ShareURL) // none if the URL is too long
	}
	p.Export = from.Base + "/compare.csv?" + only(q, "run", "diff").Encode()
	p.Settings = compareSettings(runs)
	p.Same = !slices.ContainsFunc(p.Settings, func(r runsview.CompareRow) bool { return r.Differs })
	p.Numbers = compareNumbers(runs, base)
	if p.Evidence, err = a.evidence(r.Context(), runs, layers, from, q); err != nil {
		return err
	}
	if p.Evidence != nil && p.Evidence.Hero != nil {
		for i, run := range finished(runs) {
			at := slices.IndexFunc(p.Runs, func(c runsview.CompareRun) bool { return c.ID == run.ID })
			p.Runs[at].P = p.Evidence.Hero.P[i]
		}
	}
	p.Picturing = slices.ContainsFunc([]string{"where", "axes", "log", "x", "y"}, q.Has)
	p.Over = onData(runs)
	if err := a.quantities(r.Context(), &p, runs, from, q); err != nil {
		return err
	}
	if p.Problem != "" {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}

	if err := overlay(r.Context(), &p, runs, layers, q); err != nil {
		return err
	}
	return a.Render(w, r, runsview.ComparePage(p))
}

// overlay adds the picture of the boundaries of the drawn runs on common axes.
func overlay(ctx context.Context, p *runsview.Compare, runs []store.Run, layers []figure.Layer, q url.Values) error {
	lines := drawn(runs, q)
	for i := range p.Runs {
		p.Runs[i].Drawn = slices.ContainsFunc(lines, func(r store.Run) bool { return r.ID == p.Runs[i].ID })
	}
	var together []figure.Layer
	for i, run := range finished(runs) { // the runs of the layers
		if slices.ContainsFunc(lines, func(r store.Run) bool { return r.ID == run.ID }) {
			together = append(together, layers[i])
		}
	}
	pic, err := pictures.Overlay(ctx, together, pictures.CommonLimits(together))
	if err != nil {
		p.OverlayNote, err = results.UserMessage(err)
		return err
	}
	drawn := "All boundaries f = 0 on common axes."
	if len(together) < len(layers) {
		drawn = fmt.Sprintf("The boundaries f = 0 of %d of the runs on common axes.", len(together))
	}
	hatched := fmt.Sprintf(" Hatched: the predictions disagree (%s of the picture).", param.Percent(pic.Disagree))
	if together[0].Scene.Values {
		drawn, hatched = "All curves f(x) on common axes, with the points of the first run.", ""
	} else if slices.ContainsFunc(together, func(l figure.Layer) bool { return l.Scene.Model.Rule != ml.Sign }) {
		drawn = "Lines on common axes: where the predicted class of a run changes (f = 0 for a single machine)."
	}
	caption := drawn + hatched
	p.Overlay = pictures.Linked(p.Base+"/compare/figures/", "overlay", only(q, "run", "draw").Encode(), pictures.MainWidth, pictures.MainHeight, caption, caption)
	return nil
}

// CompareTable sends the settings and numbers of a comparison as CSV, a line per quantity and a
// column per run, at full precision; with diff, only those in which the runs differ.
func (a *Reader) CompareTable(w http.ResponseWriter, r *http.Request) error {
	from, err := a.shelf(r)
	if err != nil {
		return err
	}
	runs, err := comparedRuns(r.Context(), a.quick, from, r.URL.Query())
	if err != nil {
		return err
	}
	rows := [][]string{append([]string{"id"}, lists.Map(runs, func(run store.Run) string { return run.ID })...)}
	for _, f := range store.Fields() {
		row, differs, some := []string{f.Name}, false, false
		for _, run := range runs {
			text := inFull(f, run)
			row = append(row, text)
			differs, some = differs || text != row[1], some || text != ""
		}
		if !some || !differs && r.FormValue("diff") == "1" {
			continue
		}
		rows = append(rows, row)
	}
	return frame.SendRows(w, r, "comparison.csv", rows)
}

// headline returns the short result of a run.
func headline(run store.Run) string {
	return fmt.Sprintf("%s, %s", results.BestEvidence(run).String(), views.Counted(run.Report.SupportVectors, "support vector"))
}

// CompareFigure sends the picture of a comparison.
func (a *Reader) CompareFigure(w http.ResponseWriter, r *http.Request) error {
	from, err := a.shelf(r)
	if err != nil {
		return err
	}
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	runs, err := comparedRuns(r.Context(), a.quick, from, q)
	if err != nil {
		return err
	}
	switch name {
	case "overlay":
	case "parallel", "plot":
		return a.sendQuantities(w, r, runs, name, format)
	default:
		return store.ErrNotFound
	}
	o := pictures.Sized(r, pictures.MainWidth, pictures.MainHeight)
	return a.SendOverlay(w, r, drawn(runs, q), o, format, func(ctx context.Context) ([]figure.Layer, error) {
		runs, err := comparedRuns(ctx, a.find, from, q)
		if err != nil {
			return nil, err
		}
		return a.overlay(ctx, runs, q, o)
	})
}

// compareSettings returns a row per setting. A setting that does not apply to a run
// is a dash.
func compareSettings(runs []store.Run) []runsview.CompareRow {
	rows := []runsview.CompareRow{compareRow("Data", "The points trained on.", runs, func(r store.Run) string { return r.DatasetName })}
	rows = append(rows, compareRow("Data hash", "Equal points have equal hashes.", runs, func(r store.Run) string { return r.Hash[:12] }))
	for _, p := range ml.Params {
		row := compareRow(results.Capital(p.Label), p.Help, runs, func(r store.Run) string {
			if !results.Meant(p.Name, r.Spec, r.Report) {
				return ""
			}
			return results.OptionLabel(p, r.Spec.Text(p.Name))
		})
		if strings.Join(row.Cells, "") != strings.Repeat("–", len(runs)) {
			rows = append(rows, row)
		}
	}
	return rows
}

func compareRow(label, help string, runs []store.Run, cell func(store.Run) string) runsview.CompareRow {
	row := runsview.CompareRow{Label: label, Help: help}
	for _, r := range runs {
		v := cmp.Or(cell(r), "–")
		row.Cells = append(row.Cells, v)
		row.Differs = row.Differs || v != row.Cells[0]
	}
	return row
}

// compareNumbers returns a row per measured quantity, with the best values marked if better is
// defined and the runs differ. If base is the index of a baseline, the others show their
// difference from it.
func compareNumbers(runs []store.Run, base int) (rows []runsview.CompareRow) {
	for _, q := range ml.Quantities {
		row := compareRow(q.Label, q.Help, runs, func(r store.Run) string {
			if r.Report == nil {
				return ""
			}
			return results.QuantityText(q, r.Report)
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

// exceed returns the difference of each run from the baseline in a quantity, empty if either has
// no value or they are equal.
func exceed(q ml.Quantity, runs []store.Run, base int) []string {
	more := make([]string, len(runs))
	than, ok := results.QuantityNumber(q, runs[base].Report)
	for i, r := range runs {
		v, has := results.QuantityNumber(q, r.Report)
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
		v, ok := results.QuantityNumber(q, r.Report)
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
