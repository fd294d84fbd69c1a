package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	runsview "marginlab/views/runs"
)

// effect is the difference of a run from the reference.
type effect struct {
	run  int
	mean float64
	ml.Interval
	holm *float64 // nil: undefined
}

// disputed reports whether the interval and the test disagree on whether there is a difference.
func (x effect) disputed() bool {
	return x.holm != nil && (*x.holm < chance) != (x.Low > 0 || x.High < 0)
}

// onFolds returns the verdict from common folds.
func onFolds(runs []store.Run, e *runsview.Evidence, pairs []eval.FoldPair) *runsview.Hero {
	var effects []effect
	for _, p := range pairs {
		switch e.Reference {
		case p.First:
			effects = append(effects, effect{p.Second, -p.Mean, ml.Interval{Low: -p.Interval.High, High: -p.Interval.Low}, p.Holm})
		case p.Second:
			effects = append(effects, effect{p.First, p.Mean, p.Interval, p.Holm})
		}
	}
	h := verdictOf(runs, e, effects)
	h.Sub = results.Capital(e.FoldsName) + " on the same folds; corrected t-test"
	if len(pairs) > 1 {
		h.Sub += " with Holm's correction"
	}
	h.Sub += "."
	if slices.ContainsFunc(effects, effect.disputed) {
		h.Sub += " The intervals are not adjusted for several comparisons; the test decides."
	}
	return h
}

// onHeldOut returns the verdict from the points that all runs held out.
func onHeldOut(runs []store.Run, e *runsview.Evidence, held *eval.HeldOut) *runsview.Hero {
	var effects []effect
	for _, p := range held.Pairs {
		mean, in := p.Difference(held.N)
		holm := p.Holm
		switch e.Reference {
		case p.First:
			effects = append(effects, effect{p.Second, -mean, ml.Interval{Low: -in.High, High: -in.Low}, &holm})
		case p.Second:
			effects = append(effects, effect{p.First, mean, in, &holm})
		}
	}
	if e.Values { // a sign test has no effect size
		for i, x := range effects {
			effects[i].Interval = ml.Interval{Low: x.mean, High: x.mean}
		}
	}
	h := verdictOf(runs, e, effects)
	if e.Values {
		h.Bars, h.Sub = nil, "Wilcoxon's signed-rank test on "+views.Counted(held.N, "point")+" that all runs held out."
		return h
	}
	h.Sub = "McNemar's exact test on " + views.Counted(held.N, "point") + " that all runs held out."
	least := 1
	for ; least <= held.N && eval.SignTest(0, least)*float64(len(held.Pairs)) >= chance; least++ {
	}
	if least > held.N {
		h.Sub += " They are too few to show any difference."
	} else {
		h.Sub += fmt.Sprintf(" They cannot show a difference below %s points.", tenth(100*float64(least)/float64(held.N)))
	}
	if slices.ContainsFunc(effects, effect.disputed) {
		note := " The interval is approximate"
		if len(effects) > 1 {
			note = " The intervals are approximate and not adjusted for several comparisons"
		}
		h.Sub += note + "; the test decides."
	}
	return h
}

// verdictOf summarises and draws effects.
func verdictOf(runs []store.Run, e *runsview.Evidence, effects []effect) *runsview.Hero {
	h := &runsview.Hero{P: make([]string, len(runs))}
	names := e.Names
	h.Against = names[e.Reference]
	better, worse, most := 0, 0, 0.0
	for _, x := range effects {
		h.P[x.run] = "–"
		if x.holm != nil {
			h.P[x.run] = short(*x.holm)
			if *x.holm < chance && x.mean > 0 {
				better++
			} else if *x.holm < chance {
				worse++
			}
		}
		most = max(most, math.Abs(x.Low), math.Abs(x.High))
	}
	top := names[e.Reference]
	switch n := len(effects); {
	case n == 1 && better+worse == 1:
		x, first, second := effects[0], top, names[effects[0].run]
		if x.mean > 0 {
			first, second = second, first
		}
		h.Sentence = fmt.Sprintf("“%s” is better than “%s”", first, second)
		if !e.Values {
			h.Sentence += fmt.Sprintf(" by %s points", tenth(100*math.Abs(x.mean)))
		}
		h.Sentence += "."
	case n == 1:
		h.Sentence = fmt.Sprintf("No significant difference between “%s” and “%s”.", top, names[effects[0].run])
	case better+worse == 0:
		h.Sentence = fmt.Sprintf("No significant difference between “%s” and the other %d runs.", top, n)
	case worse == n:
		h.Sentence = fmt.Sprintf("“%s” is better than all %d others.", top, n)
	case better == 0:
		h.Sentence = fmt.Sprintf("“%s” is better than %d of %d others; no significant difference from the rest.", top, worse, n)
	case worse == 0:
		h.Sentence = fmt.Sprintf("%d of %d runs are better than “%s”; no significant difference from the rest.", better, n, top)
	default:
		h.Sentence = fmt.Sprintf("“%s” is better than %d of %d others and worse than %d.", top, worse, n, better)
	}
	h.Sentence += fewest(runs, names)
	h.Most = tenth(100 * cmp.Or(most, 0.01))
	at := func(v float64) string { return strconv.FormatFloat(100+95*v/most, 'f', 1, 64) }
	if e.Values {
		h.Most = views.Short(most)
	}
	for _, x := range effects {
		bar := runsview.EffectBar{Name: names[x.run], Low: at(x.Low), Mean: at(x.mean), Width: strconv.FormatFloat(95*(x.High-x.Low)/most, 'f', 1, 64)}
		if e.Values {
			bar.Text = fmt.Sprintf("%s (%s to %s)", views.Short(x.mean), views.Short(x.Low), views.Short(x.High))
		} else {
			bar.Text = fmt.Sprintf("%s (%s to %s)", signed(100*x.mean), signed(100*x.Low), signed(100*x.High))
		}
		h.Bars = append(h.Bars, bar)
	}
	return h
}

// fewest describes the run with clearly the fewest support vectors, empty if there is none.
func fewest(runs []store.Run, names []string) string {
	least, second := 0, math.MaxInt
	for i, r := range runs {
		if r.Report.SupportVectors < runs[least].Report.SupportVectors {
			least = i
		}
	}
	for i, r := range runs {
		if i != least {
			second = min(second, r.Report.SupportVectors)
		}
	}
	n := runs[least].Report.SupportVectors
	if fewer := second - n; n > 0 && 10*fewer >= second {
		if len(runs) == 2 {
			return fmt.Sprintf(" “%s” needs %s.", names[least], views.Counted(fewer, "fewer support vector"))
		}
		return fmt.Sprintf(" “%s” needs the fewest support vectors, %d.", names[least], n)
	}
	return ""
}

func tenth(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// signed formats percentage points with their sign: "+1.2", "−0.4".
func signed(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	switch {
	case text == "0.0" || text == "-0.0":
		return "0"
	case v > 0:
		return "+" + text
	}
	return param.Minus(text)
}
