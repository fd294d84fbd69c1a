package eval

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// What has to be said beside the score of the best setting: NotNested where its choice is not
// judged, NestedInPart where nested folds judge a search around what an earlier one found.
const (
	NotNested    = "The score of the best setting is too good: it was chosen for being the best on these very folds. Nested folds, which judge the choice as well, give a number to report."
	NestedInPart = "The settings lie around what all points, the held-out ones among them, had chosen before: even the nested number is a little too good. To judge all of it, begin with nested folds in the first search and go on around its best from there: every fold then goes on around its own."
)

// Warning returns the caveat to show beside the score of the best of settings that a scheme has
// judged, or beside the nested number; empty: nothing.
func (s Scheme) Warning(r *Result) string {
	switch {
	case len(r.Settings) < 2:
		return ""
	case r.Nested == nil:
		return NotNested
	case s.Finer && s.Onward == nil:
		return NestedInPart
	}
	return ""
}

// WithinOneError is the index of the simplest setting that is about as good as the best:
// of those whose mean score, that which ranks, is less than the best's by one standard error of the best's
// at most, the one with the fewest support vectors, over all folds; of several the one
// with the best score, then the first, which has the smallest C. A difference that is
// smaller than what the choice of folds makes is no reason for the larger model
// (Breiman, Friedman, Olshen, Stone: "Classification and Regression Trees", 1984,
// section 3.4.3; Hastie, Tibshirani, Friedman: "The Elements of Statistical Learning",
// 2nd ed., 2009, section 7.10). The standard error is MeanError's, over the folds.
func (r *Result) WithinOneError() int {
	score := r.RankedBy()
	scores := func(s Setting) []float64 {
		v := make([]float64, len(s.Folds))
		for i, f := range s.Folds {
			v[i] = score.sign(*score.of(f))
		}
		return v
	}
	vectors := func(s Setting) (n int) {
		for _, f := range s.Folds {
			n += f.SupportVectors
		}
		return n
	}
	top, spread := MeanError(scores(r.Settings[r.Best]))
	least := top - spread
	least -= 1e-12 * math.Abs(least) // rounding
	chosen, fewest, value := r.Best, vectors(r.Settings[r.Best]), top
	for i, s := range r.Settings {
		if _, ok := score.sum(s.Folds); !ok {
			continue
		}
		mean := stat.Mean(scores(s), nil)
		if n := vectors(s); mean >= least && (n < fewest || n == fewest && mean > value) {
			chosen, fewest, value = i, n, mean
		}
	}
	return chosen
}
