package runs

import (
	"net/http"
	"net/url"
	"strconv"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/views/figure"
	"marginlab/web"
)

// proofs returns the finished runs that a query compares, with their predictions for every point.
func (a *Reader) proofs(r *http.Request, q url.Values) (from results.Collection, runs []store.Run, points [][]ml.Point, err error) {
	if from, err = a.shelf(r); err != nil {
		return from, nil, nil, err
	}
	all, err := comparedRuns(r.Context(), a.find, from, q)
	if err != nil {
		return from, nil, nil, err
	}
	if runs = finished(all); len(runs) < 2 {
		return from, nil, nil, web.Errorf(web.Conflict, "At least two of the runs must be done.")
	}
	if err := results.Comparable(runs); err != nil {
		return from, nil, nil, err
	}
	layers, err := a.Layers(r.Context(), all, pictures.Options{})
	return from, runs, lists.Map(layers, func(l figure.Layer) []ml.Point { return l.Scene.Points }), err
}

// inCSV formats a number at full precision, empty for nil.
func inCSV(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// CompareTests sends the tests of a comparison as CSV, a row for each pair and kind, at full
// precision: on points that all runs held out, and on common folds of the searches in the query, by
// default those stored with the runs.
func (a *Reader) CompareTests(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	from, runs, points, err := a.proofs(r, q)
	if err != nil {
		return err
	}
	rows := [][]string{{"test", "first", "second", "first_id", "second_id", "points", "only_first", "only_second", "difference", "low", "high", "t", "freedom", "p", "p_holm", "first_better", "same", "second_better"}}
	pair := func(test string, first, second int, more ...string) {
		a, b := runs[first], runs[second]
		rows = append(rows, append([]string{test, dataset.Guard(a.Name), dataset.Guard(b.Name), a.ID, b.ID}, more...))
	}
	h, unequal := eval.OnHeldOut(points)
	if unequal == nil {
		test := lists.Either(runs[0].Spec.Regression(), "Wilcoxon", "McNemar")
		for _, p := range h.Pairs {
			pair(test, p.First, p.Second, strconv.Itoa(h.N), strconv.Itoa(p.OnlyFirst), strconv.Itoa(p.OnlySecond), "", "", "", "", "", inCSV(&p.P), inCSV(&p.Holm), "", "", "")
		}
	}
	folds := &results.OnFolds{}
	if q.Has("folds") {
		if folds, err = results.FoldsOf(r.Context(), a.Store, from.Workspace, runs, q["folds"]); err != nil {
			return err
		}
	}
	if !q.Has("folds") { // folds stored with the runs
		_, folds.Pairs, _ = results.KeptFolds(runs)
	}
	if unequal != nil && folds.Pairs == nil { // nothing to send
		return unequal
	}
	for _, p := range folds.Pairs {
		chances := []string{"", "", ""}
		if p.Posterior != nil {
			chances = []string{inCSV(&p.Posterior.Better), inCSV(&p.Posterior.Same), inCSV(&p.Posterior.Worse)}
		}
		pair("corrected t", p.First, p.Second, append([]string{"", "", "", inCSV(&p.Mean), inCSV(&p.Interval.Low), inCSV(&p.Interval.High), inCSV(p.T), strconv.Itoa(p.Freedom), inCSV(p.P), inCSV(p.Holm)}, chances...)...)
	}
	return frame.SendRows(w, r, "tests.csv", rows)
}

// ComparePoints sends, as CSV, the points held out by all runs on which they disagree: the row
// (from 1), the point, and the prediction of each run.
func (a *Reader) ComparePoints(w http.ResponseWriter, r *http.Request) error {
	_, runs, points, err := a.proofs(r, r.URL.Query())
	if err != nil {
		return err
	}
	h, err := eval.OnHeldOut(points)
	if err != nil {
		return err
	}
	d, err := a.Stored(r.Context(), runs[0].Hash)
	if err != nil {
		return err
	}
	head := []string{"row"}
	if d.Objects != nil {
		head = append(head, "object")
	} else {
		head = append(head, lists.Map(d.Features, dataset.Guard)...)
	}
	head = append(head, dataset.Guard(d.Label))
	for _, run := range runs {
		head = append(head, dataset.Guard(run.Name), dataset.Guard("f of "+run.Name))
	}
	rows := [][]string{head}
	for _, i := range h.Differ {
		row := []string{strconv.Itoa(i + 1)}
		if d.Objects != nil {
			row = append(row, dataset.Guard(d.Objects.Text(i)))
		} else {
			row = append(row, lists.Map(d.X.RawRowView(i), func(v float64) string { return inCSV(&v) })...)
		}
		row = append(row, dataset.Guard(points[0][i].Label))
		for _, ps := range points {
			row = append(row, dataset.Guard(ps[i].Predicted), "")
			if len(ps[i].Scores) == 1 { // several machines have no common f
				row[len(row)-1] = inCSV(&ps[i].F)
			}
		}
		rows = append(rows, row)
	}
	return frame.SendRows(w, r, "disagreement.csv", rows)
}
