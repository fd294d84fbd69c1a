package results

import (
	"fmt"
	"strconv"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
)

// SchemeName names a cross-validation as the field does: "nested 5-fold cross-validation".
func SchemeName(s eval.Scheme) string {
	text := lists.Either(s.Nested, "nested ", "")
	switch {
	case s.LeaveOneOut:
		text += "leave-one-out cross-validation"
	case s.Column != "":
		text += "cross-validation by " + s.Column
	case s.HoldOut > 0:
		return text + fmt.Sprintf("%s held out, %d times", chosenPercent(s.HoldOut), s.Repeats)
	default:
		text += fmt.Sprintf("%d-fold cross-validation", s.Folds)
	}
	if s.Repeats > 1 {
		text += fmt.Sprintf(", %d repeats", s.Repeats)
	}
	return text
}

// EvidenceRows returns all evidence of a run's performance, best first, training last. linked
// reports whether the reader can open the page of a search; if it is nil, no search is linked.
func EvidenceRows(run store.Run, linked func(search string) bool) (rows []views.EvidenceRow) {
	tested := -1
	for _, e := range run.Evidence {
		row := views.EvidenceRow{Scheme: SchemeName(e.Scheme), From: "the same settings on folds"}
		row.Score, row.Interval = scored(e.Score == "accuracy", e.Mean, &e.Interval)
		if e.Points > 0 {
			row.Points = views.Counted(e.Points, "point")
		}
		switch {
		case e.Settings > 1 && e.Scheme.Nested:
			row.From = fmt.Sprintf("search of %d settings", e.Settings)
		case e.Settings > 1:
			row.From = fmt.Sprintf("search of %d settings, which chose it", e.Settings)
		}
		if e.Search != "" && linked != nil && linked(e.Search) {
			row.Href = "/searches/" + e.Search
		}
		if e.Optimistic {
			row.Note = "optimistic: these folds chose the settings"
			if tested < 0 {
				tested = len(rows)
			}
		}
		rows = append(rows, row)
	}
	if rep := run.Report; rep != nil {
		train, test := Scores(rep)
		if test != "" {
			row := views.EvidenceRow{Scheme: "test set", Score: test, Points: views.Counted(rep.TestN, "point"), From: "this run"}
			if rep.TestInterval != nil {
				row.Interval = intervalText(*rep.TestInterval)
			}
			if tested < 0 {
				tested = len(rows)
			}
			rows = append(rows[:tested], append([]views.EvidenceRow{row}, rows[tested:]...)...)
		}
		if train != "" {
			rows = append(rows, views.EvidenceRow{Scheme: "training set", Score: train, Points: views.Counted(rep.TrainN, "point"), From: "this run", Note: "says nothing about unseen points"})
		}
	}
	return rows
}

func scored(accuracy bool, mean float64, in *ml.Interval) (score, interval string) {
	if accuracy {
		return param.Percent(mean), intervalText(*in)
	}
	return "mse " + views.Short(mean), views.Short(in.Low) + "–" + views.Short(in.High)
}

// intervalText formats an interval of fractions: "91–97".
func intervalText(in ml.Interval) string {
	whole := func(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) }
	return whole(in.Low) + "–" + whole(in.High)
}

// BestEvidence returns the best evidence of a run, such as "nested 5-fold cross-validation,
// 94.1 % (95 % CI 91–97)". It is zero for an unfinished run.
func BestEvidence(run store.Run) (best views.EvidenceRow) {
	if rows := EvidenceRows(run, nil); len(rows) > 0 {
		best = rows[0]
	}
	return best
}

// KeptFolds compares runs by stored evidence on common folds: the best evidence of the first run
// for which all others have the same folds. ok is false if there is none.
func KeptFolds(runs []store.Run) (kept []eval.Evidence, pairs []eval.FoldPair, ok bool) {
	for _, first := range runs[0].Evidence {
		kept = kept[:0]
		for _, r := range runs {
			for _, e := range r.Evidence {
				if first.SameFolds(e) {
					kept = append(kept, e)
					break
				}
			}
		}
		if len(kept) != len(runs) {
			continue
		}
		if pairs, err := eval.OnSameFolds(kept, noDifference); err == nil {
			return kept, pairs, true
		}
	}
	return nil, nil, false
}
