package runs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	runsview "marginlab/views/runs"
)

const (
	chance     = 0.05                   // differences with a smaller p-value are called real
	glance     = 400 * time.Millisecond // how long a page waits for a computation just started
	differRows = 40                     // maximum number of rows listed on which runs disagree
)

// evidence tests which differences between runs are real: on the points they held out, and on
// common folds if the query names searches that have them.
func (a *Reader) evidence(ctx context.Context, runs []store.Run, layers []figure.Layer, from results.Collection, q url.Values) (*runsview.Evidence, error) {
	done := finished(runs) // those of the layers
	if len(done) < 2 {
		return nil, nil
	}
	e := &runsview.Evidence{Runs: q["run"], Values: done[0].Spec.Regression()}
	e.Names = lists.Map(done, func(r store.Run) string { return called(runs, r) })
	e.Tests = from.Base + "/compare/tests.csv?" + only(q, "run", "folds").Encode()
	e.Disagreement = from.Base + "/compare/disagreement.csv?" + only(q, "run").Encode()
	of := reference(done, q.Get("base"))
	e.Against, e.Reference = e.Names[of], of
	defer func() {
		e.Few, e.FewFolds = against(e.Pairs, e.Against), against(e.FoldPairs, e.Against)
	}()
	err := results.Comparable(done)
	if err != nil {
		e.Why, err = results.UserMessage(err)
		return e, err
	}
	held, err := a.heldOut(ctx, e, done, layers)
	if err != nil {
		if e.Why, err = results.UserMessage(err); err != nil {
			return nil, err
		}
	}
	if from.Base == "" {
		e.Ask, e.AskFolds, e.AskRepeats = "/compare/folds", results.FoldsParam.Default, results.RepeatsParam.Default
	}
	var pairs []eval.FoldPair
	optimistic := false
	if q.Has("folds") {
		if pairs, err = a.folds(ctx, e, done, from, q["folds"]); err != nil {
			return nil, err
		}
	} else if kept, known, ok := results.KeptFolds(done); ok {
		pairs, optimistic = known, slices.ContainsFunc(kept, func(k eval.Evidence) bool { return k.Optimistic })
		a.kept(e, kept, pairs, from)
	}
	switch {
	case pairs != nil && (!optimistic || held == nil):
		e.Hero = onFolds(done, e, pairs)
	case held != nil:
		e.Hero = onHeldOut(done, e, held)
	}
	return e, nil
}

// kept fills in the evidence from folds stored with the runs.
func (a *Reader) kept(e *runsview.Evidence, kept []eval.Evidence, pairs []eval.FoldPair, from results.Collection) {
	e.Scheme, e.FoldsName = results.FoldsText(kept[0].Scheme), results.SchemeName(kept[0].Scheme)
	for i, k := range kept {
		score := eval.RankedBy(k.Score, false)
		row := runsview.OnFolds{Name: e.Names[i], Score: fmt.Sprintf("%s %s (sd %s)", score.Label, results.ScoreAmount(score, k.Mean), results.ScoreAmount(score, k.Deviation))}
		if from.Base == "" && k.Search != "" {
			row.Href = "/searches/" + k.Search
		}
		e.Folds = append(e.Folds, row)
	}
	a.foldPairs(e, pairs, kept[0].Score == "accuracy")
}

// foldPairs fills in the verdicts on common folds.
func (a *Reader) foldPairs(e *runsview.Evidence, pairs []eval.FoldPair, shares bool) {
	e.FoldHead = []string{"first less second", "95 %", "p", "p after Holm"}
	if shares {
		e.FoldHead = append(e.FoldHead, "first better", "the same", "second better")
	}
	for _, p := range pairs {
		e.FoldPairs = append(e.FoldPairs, foldVerdict(e.Names[p.First], e.Names[p.Second], p, shares))
	}
}

// manyPairs is the maximum number of pairs that are all shown; of more, only those with a reference
// are.
const manyPairs = 6

// reference returns the run to compare others with if there are many pairs: the baseline, else
// the best on held-out points.
func reference(runs []store.Run, base string) (of int) {
	best := math.Inf(-1)
	for i, r := range runs {
		if r.ID == base {
			return i
		}
		if q := r.Report.TestAccuracy; q != nil && *q > best {
			of, best = i, *q
		}
	}
	return of
}

// against returns the verdicts involving one run; nil if there are few enough to show all.
func against(all []runsview.Verdict, name string) []runsview.Verdict {
	if len(all) <= manyPairs {
		return nil
	}
	return lists.Filter(all, func(v runsview.Verdict) bool { return v.First == name || v.Second == name })
}

func finished(runs []store.Run) []store.Run {
	return lists.Filter(runs, func(r store.Run) bool { return r.Status == store.Done })
}

// CompareOnFolds starts cross-validating the compared runs on the same folds, each as a search
// of a single setting, and redirects to the comparison with them.
func (a *Handler) CompareOnFolds(w http.ResponseWriter, r *http.Request) error {
	from, err := a.shelf(r)
	if err != nil {
		return err
	}
	runs, err := comparedRuns(r.Context(), a.quick, from, r.PostForm)
	if err != nil {
		return err
	}
	if runs = finished(runs); len(runs) < 2 {
		return param.Problems{{Field: "run", Message: "at least two of the runs must be finished to compare them on folds"}}
	}
	number := map[string]int{}
	for field, p := range map[string]param.Param{"k": results.FoldsParam, "repeats": results.RepeatsParam} { // the query's folds are search ids
		v, err := p.Labelled().Parse(cmp.Or(r.PostFormValue(field), p.Default))
		if err != nil {
			return param.Problems{{Field: field, Message: err.Error()}}
		}
		number[field] = v.Int()
	}
	q := url.Values{"run": r.PostForm["run"]}
	if q["folds"], err = a.BeginFolds(r.Context(), frame.Workspace(r.Context()), store.Request{}, runs, number["k"], number["repeats"]); err != nil {
		return err
	}
	a.Jobs.Wait(r.Context(), glance, q["folds"]...)
	return frame.Redirect(w, r, "/compare?"+q.Encode()+"#h-folds")
}

// heldOut fills in the evidence on the points that all runs held out.
func (a *Reader) heldOut(ctx context.Context, e *runsview.Evidence, runs []store.Run, layers []figure.Layer) (*eval.HeldOut, error) {
	points := lists.Map(layers, func(l figure.Layer) []ml.Point { return l.Scene.Points })
	h, err := eval.OnHeldOut(points)
	if err != nil {
		return nil, err
	}
	e.N, e.Differ = h.N, len(h.Differ)
	e.PairHead = []string{"Only the first right", "Only the second", "p", "p after Holm"}
	if e.Values {
		e.PairHead[0], e.PairHead[1] = "The first closer", "The second closer"
	}
	for _, p := range h.Pairs {
		e.Pairs = append(e.Pairs, heldOutVerdict(e.Names[p.First], e.Names[p.Second], p, e.Values))
	}
	if len(h.Differ) == 0 {
		return h, nil
	}
	data, err := a.Store.Data(ctx, runs[0].Hash)
	if err != nil {
		return nil, err
	}
	for _, i := range h.Differ[:min(len(h.Differ), differRows)] {
		row := runsview.DifferRow{Row: i + 1, Label: param.ClassText(points[0][i].Label)}
		if data.Objects != nil {
			row.Where = pictures.Clipped(data.Objects.Text(i))
		} else {
			row.Where = pictures.Coordinates(data.X.RawRowView(i))
		}
		for _, ps := range points {
			row.Predicted, row.Wrong = append(row.Predicted, param.ClassText(ps[i].Predicted)), append(row.Wrong, ps[i].Wrong)
		}
		e.Rows = append(e.Rows, row)
	}
	return h, nil
}

// heldOutVerdict describes the result of a test on held-out points.
func heldOutVerdict(first, second string, d eval.HeldOutPair, values bool) runsview.Verdict {
	right, alike := "got %s right that the other did not", "get the same held-out points right"
	if values {
		right, alike = "came closer to %s", "come equally close to every held-out value"
	}
	v := verdict(first, second, d.P, d.Holm, d.FirstLeads)
	least := eval.SignTest(0, d.OnlyFirst+d.OnlySecond)
	counts := fmt.Sprintf("“%s” "+right+", “%s” %d", first, views.Counted(d.OnlyFirst, "point"), second, d.OnlySecond)
	switch {
	case d.OnlyFirst+d.OnlySecond == 0:
		v.Short, v.Text = "alike", fmt.Sprintf("“%s” and “%s” %s: there is no difference to test.", first, second, alike)
	case !values && least >= chance:
		v.Short = "too few points"
		v.Text = fmt.Sprintf("Too few points differ for a verdict: %s. Even if all of these favoured one run, p would be %s. Hold out more points, or compare on folds.", counts, short(least))
	default:
		if values {
			counts += ", and the test weighs by how much"
		}
		v.Text += fmt.Sprintf(": %s; %s.", counts, probability(d.P))
	}
	v.Cells = []string{strconv.Itoa(d.OnlyFirst), strconv.Itoa(d.OnlySecond), short(d.P), short(d.Holm)}
	return v
}

// verdict describes the p-values of two runs, without and with Holm's correction; firstBetter
// tells which is better if there is a difference.
func verdict(first, second string, p, holm float64, firstBetter bool) runsview.Verdict {
	v := runsview.Verdict{First: first, Second: second}
	better := lists.Either(firstBetter, first, second)
	switch {
	case holm < chance:
		v.Real, v.Short, v.Text = true, "“"+better+"” is better", "The difference is real, “"+better+"” is better"
	case p > 0.3:
		v.Short, v.Text = "well within chance", "The difference is well within chance"
	default:
		v.Short, v.Text = "may be chance", "The difference may be chance"
	}
	return v
}

// folds fills in the evidence from searches that cross-validate the runs on the same folds.
func (a *Reader) folds(ctx context.Context, e *runsview.Evidence, runs []store.Run, from results.Collection, ids []string) ([]eval.FoldPair, error) {
	f, err := results.FoldsOf(ctx, a.Store, from.Workspace, runs, ids)
	if err != nil {
		e.FoldsWhy, err = results.UserMessage(err)
		return nil, err
	}
	e.Scheme, e.FoldsName = results.FoldsText(f.Scheme), results.SchemeName(f.Scheme)
	for i, s := range f.Searches {
		row := runsview.OnFolds{Name: runs[i].Name, Score: string(s.Status)}
		if from.Base == "" {
			row.Href = "/searches/" + s.ID
		}
		switch {
		case s.Result != nil:
			setting := s.Result.Settings[0]
			row.Score = results.ScoreText(s.Result.RankedBy(), setting.Folds)
			if !setting.Converged() {
				row.Score += ", not all at the optimum"
			}
		case s.Status.Ended():
			e.FoldsWhy = strings.TrimSpace("Some of the folds failed. " + results.Sentence(s.Error))
		}
		e.Folds = append(e.Folds, row)
	}
	switch {
	case e.FoldsWhy != "":
		return nil, nil
	case f.Done < f.Total || f.Pairs == nil:
		e.FoldsDone = fmt.Sprintf("%d of %d folds are done.", f.Done, f.Total)
		return nil, nil
	}
	a.foldPairs(e, f.Pairs, f.Searches[0].Result.Settings[0].Mean != nil)
	return f.Pairs, nil
}

// foldVerdict describes the result of a test on common folds, of accuracies (whose differences
// are in percentage points) or of errors.
func foldVerdict(first, second string, d eval.FoldPair, accuracies bool) runsview.Verdict {
	var v runsview.Verdict
	p, holm, chances := "–", "–", "p is undefined"
	if d.P != nil {
		v = verdict(first, second, *d.P, *d.Holm, d.Mean >= 0)
		p, holm, chances = short(*d.P), short(*d.Holm), probability(*d.P)
	} else {
		v = runsview.Verdict{First: first, Second: second, Short: "no spread", Text: "The test is undefined: the difference is the same on every fold, so it has no variance. Use more folds or repeats"}
	}
	amount, unit := views.Short, "mean squared error"
	if accuracies {
		amount = func(x float64) string { return param.Minus(strconv.FormatFloat(100*x, 'f', 1, 64)) }
		unit = "points of accuracy"
	}
	low, high, mean, better := d.Interval.Low, d.Interval.High, d.Mean, first
	if mean < 0 {
		low, high, mean, better = -high, -low, -mean, second
	}
	lead := fmt.Sprintf("“%s” leads by %s", better, amount(mean))
	if amount(mean) == amount(0) && (d.P == nil || *d.P > 0.5) { // 0 up to rounding
		v.Text, lead = fmt.Sprintf("“%s” and “%s” do equally well", first, second), "they differ by "+amount(0)
	}
	v.Text += fmt.Sprintf(": %s %s (95\u00a0%%: %s to %s; %s).", lead, unit, amount(low), amount(high), chances)
	v.Cells = []string{amount(d.Mean), amount(d.Interval.Low) + " to " + amount(d.Interval.High), p, holm}
	if q := d.Posterior; q != nil {
		v.Text += fmt.Sprintf(" “%s” is better by more than one point with probability %s, “%s” with %s, and with %s there is no difference in practice.", first, short(q.Better), second, short(q.Worse), short(q.Same))
		v.Cells = append(v.Cells, short(q.Better), short(q.Same), short(q.Worse))
	} else if accuracies {
		v.Cells = append(v.Cells, "–", "–", "–")
	}
	return v
}

// probability formats a p-value with its name: "p = 0.77".
func probability(p float64) string {
	if text := short(p); text[0] == '<' {
		return "p " + text
	}
	return "p = " + short(p)
}

// short formats a p-value.
func short(p float64) string {
	switch {
	case p < 0.001:
		return "< 0.001"
	case p >= 0.1:
		return strconv.FormatFloat(p, 'f', 2, 64)
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
