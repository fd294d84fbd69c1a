package runs

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/door"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

const (
	chance      = 0.05 // a difference that would come about by chance less often is taken for real
	equivalent  = 0.01 // of accuracy: a smaller difference is none in practice
	folds       = 10
	foldRepeats = 3
	differRows  = 40 // points on which runs disagree that a page lists
)

// evidence tells which differences between runs are real: on the points that they held
// out, and, where it is asked for, on common folds.
func (a *Reader) evidence(ctx context.Context, runs []store.Run, layers []figure.Layer, q url.Values) (*views.Evidence, error) {
	var done []store.Run // those of the layers
	for _, r := range runs {
		if r.Status == store.Done {
			done = append(done, r)
		}
	}
	if len(done) < 2 {
		return nil, nil
	}
	e := &views.Evidence{Runs: q["run"]}
	for _, r := range done {
		e.Names = append(e.Names, r.Name)
	}
	if err := asked(done); err != nil {
		e.Why, err = door.Told(err)
		return e, err
	}
	e.Folds = true
	if err := a.heldOut(ctx, e, done, layers); err != nil {
		if e.Why, err = door.Told(err); err != nil {
			return nil, err
		}
	}
	if q.Get("folds") == "" {
		return e, nil
	}
	if err := a.onFolds(ctx, e, done); err != nil {
		if e.FoldsWhy, err = door.Told(err); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// asked reports, as a *param.Refusal, why runs were not asked the same of the same data.
func asked(runs []store.Run) error {
	of := func(r store.Run) (string, []string) {
		classes := slices.Clone(r.Model.Classes)
		slices.Sort(classes)
		return r.Spec.Target, classes
	}
	target, classes := of(runs[0])
	for _, r := range runs {
		if r.Hash != runs[0].Hash {
			return param.Refuse("train both on the same data set", "no test tells whether the difference is real, because the runs were trained on different points")
		}
		switch t, c := of(r); {
		case t != target:
			return param.Refuse("compare runs with the same target", "no test tells which is better, because some of the runs tell classes apart and others fit values")
		case !slices.Equal(c, classes):
			return param.Refuse("compare runs with the same classes", "no test tells which is better, because the runs do not tell the same classes apart")
		}
	}
	return nil
}

// heldOut fills in what the points that all runs held out say.
func (a *Reader) heldOut(ctx context.Context, e *views.Evidence, runs []store.Run, layers []figure.Layer) error {
	points := make([][]ml.Point, len(layers))
	for i, l := range layers {
		points[i] = l.Scene.Points
	}
	h, err := eval.OnHeldOut(points)
	if err != nil {
		return err
	}
	e.N, e.Differ = h.N, len(h.Differ)
	e.Values = runs[0].Spec.Regression()
	e.PairHead = []string{"only the first right", "only the second", "p", "p after Holm"}
	if e.Values {
		e.PairHead[0], e.PairHead[1] = "the first closer", "the second"
	}
	for _, p := range h.Pairs {
		e.Pairs = append(e.Pairs, heldOutVerdict(e.Names[p.First], e.Names[p.Second], p, e.Values))
	}
	if len(h.Differ) == 0 {
		return nil
	}
	data, err := a.Store.Data(ctx, runs[0].Hash)
	if err != nil {
		return err
	}
	for _, i := range h.Differ[:min(len(h.Differ), differRows)] {
		row := views.DifferRow{Row: i + 1, Label: points[0][i].Label}
		if data.Objects != nil {
			row.Where = door.Clipped(data.Objects.Text(i))
		} else {
			row.Where = door.Coordinates(data.X.RawRowView(i))
		}
		for _, ps := range points {
			row.Told, row.Wrong = append(row.Told, ps[i].Predicted), append(row.Wrong, ps[i].Wrong)
		}
		e.Rows = append(e.Rows, row)
	}
	return nil
}

// heldOutVerdict says what a test on held-out points found.
func heldOutVerdict(first, second string, d eval.HeldOutPair, values bool) views.Verdict {
	right, alike := "got %s right that the other did not", "get the same held-out points right"
	if values {
		right, alike = "came closer to %s", "come equally close to every held-out value"
	}
	v := verdict(first, second, d.P, d.Holm, d.OnlyFirst >= d.OnlySecond)
	least := eval.SignTest(0, d.OnlyFirst+d.OnlySecond)
	counts := fmt.Sprintf("“%s” "+right+", “%s” %d", first, points(d.OnlyFirst), second, d.OnlySecond)
	switch {
	case d.OnlyFirst+d.OnlySecond == 0:
		v.Short, v.Text = "alike", fmt.Sprintf("“%s” and “%s” %s: nothing tells them apart.", first, second, alike)
	case !values && least >= chance:
		v.Short = "too little to tell"
		v.Text = fmt.Sprintf("There is too little to tell: %s. Even if all of these spoke for one of the two, p would be %s. Hold out more points, or compare on folds.", counts, short(least))
	default:
		v.Text += fmt.Sprintf(": %s; %s.", counts, probability(d.P))
	}
	v.Cells = []string{strconv.Itoa(d.OnlyFirst), strconv.Itoa(d.OnlySecond), short(d.P), short(d.Holm)}
	return v
}

// verdict is what two probabilities say of two runs, the second after Holm; firstBetter tells
// which is better if there is a difference.
func verdict(first, second string, p, holm float64, firstBetter bool) views.Verdict {
	v := views.Verdict{First: first, Second: second}
	better := second
	if firstBetter {
		better = first
	}
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

// onFolds fills in what cross-validation on common folds says.
func (a *Reader) onFolds(ctx context.Context, e *views.Evidence, runs []store.Run) error {
	data, err := a.Store.Data(ctx, runs[0].Hash)
	if err != nil {
		return err
	}
	specs := make([]ml.Spec, len(runs))
	for i, r := range runs {
		specs[i] = r.Spec
	}
	o, err := door.Within(ctx, a.House, "From the terminal, marginlab cv has all the time it needs.", func(ctx context.Context) (*eval.OnFolds, error) {
		return eval.CompareOnFolds(ctx, data, specs, eval.Scheme{Folds: folds, Repeats: foldRepeats, Seed: 1}, equivalent)
	})
	if err != nil {
		return err
	}
	for i, s := range o.Settings {
		text := ""
		switch {
		case s.Mean != nil:
			text = fmt.Sprintf("%s ± %s", door.Percent(s.Accuracy), door.Percent(s.Deviation))
		default:
			text = fmt.Sprintf("mean squared error %s ± %s", views.Short(s.MSE), views.Short(s.MSEDeviation))
		}
		if !s.Converged() {
			text += ", some folds stopped before the optimum"
		}
		e.OnFolds = append(e.OnFolds, views.Number{Label: e.Names[i], Value: text})
	}
	e.FoldHead = []string{"first less second", "95 %", "p", "p after Holm"}
	if o.Settings[0].Mean != nil {
		e.FoldHead = append(e.FoldHead, "first better", "the same", "second better")
	}
	for _, p := range o.Pairs {
		e.FoldPairs = append(e.FoldPairs, foldVerdict(e.Names[p.First], e.Names[p.Second], p))
	}
	return nil
}

// foldVerdict says what a test on common folds found. Accuracies differ by points of a
// hundred.
func foldVerdict(first, second string, d eval.FoldPair) views.Verdict {
	v := verdict(first, second, d.P, d.Holm, d.Mean >= 0)
	amount, unit := views.Short, "mean squared error"
	if d.Posterior != nil {
		amount = func(x float64) string { return strings.ReplaceAll(strconv.FormatFloat(100*x, 'f', 1, 64), "-", "−") }
		unit = "points of accuracy"
	}
	low, high, mean, better := d.Interval.Low, d.Interval.High, d.Mean, first
	if mean < 0 {
		low, high, mean, better = -high, -low, -mean, second
	}
	if d.Mean == 0 && d.P == 1 {
		v.Text = fmt.Sprintf("“%s” and “%s” do equally well", first, second)
	}
	v.Text += fmt.Sprintf(": “%s” leads by %s %s (95 %%: %s to %s; %s).", better, amount(mean), unit, amount(low), amount(high), probability(d.P))
	v.Cells = []string{amount(d.Mean), amount(d.Interval.Low) + " to " + amount(d.Interval.High), short(d.P), short(d.Holm)}
	if q := d.Posterior; q != nil {
		v.Text += fmt.Sprintf(" “%s” is better by more than one point with probability %s, “%s” with %s, and with %s there is no difference in practice.", first, short(q.Better), second, short(q.Worse), short(q.Same))
		v.Cells = append(v.Cells, short(q.Better), short(q.Same), short(q.Worse))
	}
	return v
}

// points counts points in words.
func points(n int) string {
	if n == 1 {
		return "1 point"
	}
	return strconv.Itoa(n) + " points"
}

// probability is "p = 0.77".
func probability(p float64) string {
	if text := short(p); text[0] == '<' {
		return "p " + text
	}
	return "p = " + short(p)
}

// short is a probability for reading.
func short(p float64) string {
	switch {
	case p < 0.001:
		return "< 0.001"
	case p >= 0.1:
		return strconv.FormatFloat(p, 'f', 2, 64)
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
