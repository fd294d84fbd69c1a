package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
)

// chosenPercent formats a fraction given by the user, without further decimals: "30 %".
func chosenPercent(v float64) string { return strconv.FormatFloat(100*v, 'g', 3, 64) + "\u00a0%" }

// FoldsText describes a scheme.
func FoldsText(s eval.Scheme) string {
	text := fmt.Sprintf("%d folds", s.Folds)
	switch {
	case s.LeaveOneOut:
		return "leave-one-out"
	case s.Column != "":
		return "folds by the values of " + s.Column
	case s.HoldOut > 0:
		return fmt.Sprintf("%s held out, drawn %d times", chosenPercent(s.HoldOut), s.Repeats)
	}
	if s.Repeats > 1 {
		text += fmt.Sprintf(", %d repeats", s.Repeats)
	}
	return text
}

// RankedBy returns the ranking score of a search.
func RankedBy(s store.Search) eval.Score {
	if s.Result != nil {
		return s.Result.RankedBy()
	}
	return eval.RankedBy(s.Scheme.Score, s.Spec.Regression())
}

// ScoreText formats the mean of a score over folds with its deviation: "accuracy 93.1 % (sd
// 2.3 %)".
func ScoreText(score eval.Score, folds []eval.Fold) string {
	mean, deviation, ok := score.Over(folds)
	if !ok {
		return "no " + score.Label
	}
	return fmt.Sprintf("%s %s (sd %s)", score.Label, ScoreAmount(score, mean), ScoreAmount(score, deviation))
}

// ScoreAmount formats a value of a score.
func ScoreAmount(score eval.Score, v float64) string {
	switch {
	case score.Share:
		return param.Percent(v)
	case score.Name == "mse" || score.Name == "r2":
		return views.Short(v)
	}
	return param.Minus(strconv.FormatFloat(v, 'f', 3, 64))
}

// NestedText formats the nested score, "" if there is none.
func NestedText(r *eval.Result) string {
	if r.Nested == nil {
		return ""
	}
	how := "chosen anew in every fold"
	if r.Nested.Settings != nil {
		how = "chosen anew, search by search, in every fold"
	}
	return "Nested, with the setting " + how + ": " + ScoreText(r.RankedBy(), r.NestedFolds()) + "."
}

// Vectors returns the mean number of support vectors of a setting over its folds.
func Vectors(s eval.Setting) float64 {
	n := 0
	for _, f := range s.Folds {
		n += f.SupportVectors
	}
	return float64(n) / float64(len(s.Folds))
}

// Searched returns the parameters of a search with several values: C, then the others in the order
// of ml.Params.
func Searched(s store.Search) (names []string) {
	for _, name := range s.Design().Names() {
		switch {
		case s.Drawn == nil && len(slices.Compact(slices.Clone(s.Grid[name]))) < 2:
		case name == "C":
			names = slices.Insert(names, 0, name)
		default:
			names = append(names, name)
		}
	}
	return names
}

// SearchLine returns the terminal command that gives the same result. It is empty if there is none,
// because the search depends on the results of an earlier one.
func SearchLine(s store.Search) string {
	if s.Scheme.Onward != nil || s.Drawn != nil && len(s.Drawn.Besides) > 0 {
		return ""
	}
	spec := s.Spec
	spec.TestFraction, spec.Seed = ml.DefaultSpec().TestFraction, s.Scheme.Seed
	words := commandWords("cv", spec, s.DatasetName)
	for _, name := range Searched(s) {
		p, _ := ml.Param(name)
		flag := "--" + p.Flag() + "="
		words = slices.DeleteFunc(words, func(word string) bool { return strings.HasPrefix(word, flag) })
		words = append(words, flag+triedText(s, p))
	}
	if s.Drawn != nil {
		words = append(words, "--design="+s.Drawn.Design, fmt.Sprintf("--points=%d", s.Drawn.Points))
	}
	switch sc := s.Scheme; {
	case sc.LeaveOneOut:
		words = append(words, "--folds=loo")
	case sc.Column != "":
		words = append(words, "--fold-column="+shellQuote(sc.Column))
	case sc.HoldOut > 0:
		words = append(words, fmt.Sprintf("--hold-out=%v", sc.HoldOut))
	default:
		words = append(words, fmt.Sprintf("--folds=%d", sc.Folds))
	}
	if s.Scheme.Score != "" && s.Scheme.Score != eval.AutoScore {
		words = append(words, "--score="+s.Scheme.Score)
	}
	if s.Scheme.Repeats > 1 {
		words = append(words, fmt.Sprintf("--repeats=%d", s.Scheme.Repeats))
	}
	if s.Scheme.Nested {
		words = append(words, "--nested")
	}
	if shares := s.Scheme.Learning; len(shares) > 0 {
		texts := lists.Map(shares, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
		words = append(words, "--learning="+strings.Join(texts, ","))
	}
	return strings.Join(words, " ")
}

// triedText returns the values tried for a parameter, as eval.Axes reads them.
func triedText(s store.Search, p param.Param) string {
	values := s.Grid[p.Name]
	if s.Drawn != nil {
		if r, ok := s.Drawn.Ranges[p.Name]; ok {
			return rangeText(p, r)
		}
		values = s.Drawn.Lists[p.Name]
	}
	return strings.Join(lists.Map(values, param.Value.Text), ",")
}

// rangeText formats a range in the notation of eval.Axes: "0.1..100".
func rangeText(p param.Param, r eval.Range) string {
	text := param.Of(r.Low).Text() + ".." + param.Of(r.High).Text()
	switch {
	case r.Log && !p.Log:
		return text + "/log"
	case !r.Log && p.Log && r.Low > 0:
		return text + "/lin"
	}
	return text
}

// DesignText describes the design of a search, empty for a grid.
func DesignText(s store.Search) string {
	if s.Drawn == nil {
		return ""
	}
	how := lists.Either(s.Drawn.Design == eval.OfSobol, "of a Sobol sequence", "drawn at random")
	text := fmt.Sprintf("%d points %s", s.Drawn.Points, how)
	if len(s.Drawn.Besides) > 0 {
		text += " and the best of the search before"
	}
	return text
}

// Symbol returns a parameter's symbol in formulas, or its label.
func Symbol(name string) string {
	p, _ := ml.Param(name)
	return cmp.Or(p.Symbol, p.Label)
}

// SearchTitle describes a search: "C and γ of SVM, not standardised".
func SearchTitle(s store.Search) string {
	if len(s.Scheme.Learning) > 0 {
		return "Learning curve of " + s.Spec.Name(nil)
	}
	names := Searched(s)
	of := s.Spec.Name(nil, names...)
	names = lists.Map(names, Symbol)
	switch n := len(names); n {
	case 0:
		return of
	case 1:
		return names[0] + " of " + of
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " of " + of
	}
}

// SearchAndData describes a search and its data: "C and γ of SVM · Moons".
func SearchAndData(s store.Search) string { return SearchTitle(s) + " · " + s.DatasetName }
