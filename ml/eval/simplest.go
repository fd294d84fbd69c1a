package eval

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Caveats on the score of the best setting: NotNested if its selection was not evaluated,
// NestedInPart if nested folds evaluate only the refinement of an earlier search.
const (
	NotNested    = "The score of the best setting is optimistic: the same folds chose it. Nested cross-validation, which judges the choice as well, gives a number to report."
	NestedInPart = "The settings lie around an earlier choice made with all points, held-out ones included: even the nested number is a little optimistic. To judge both searches, start the first one with nested cross-validation and refine from there: every fold then refines around its own choice."
)

// Warning returns the caveat to show beside the best score or the nested score; empty if none.
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

// WithinOneError returns the index of the simplest setting about as good as the best: among
// those whose mean ranking score is within one standard error of the best, the one with the
// fewest support vectors over all folds, then the best score, then the smallest C. Differences
// below the fold-to-fold noise do not justify a larger model (Breiman, Friedman, Olshen, Stone:
// "Classification and Regression Trees", 1984,
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
