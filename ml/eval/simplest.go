package eval

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml/lists"
)

// Caveats on the score of the best setting: NotNested if its selection was not evaluated,
// NestedInPart if nested folds evaluate only the refinement of an earlier search.
const (
	NotNested    = "The score of the best setting is optimistic: the setting was chosen because it is the best on these folds. Nested folds give an unbiased number to report."
	NestedInPart = "The settings lie around the best setting of a search over all points, including the held-out ones: even the nested score is slightly optimistic. For an unbiased score, use nested folds in the first search and refine from there: each fold then refines around its own best setting."
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
// fewest support vectors over all folds, then the best score, then the first. Differences below the
// fold-to-fold noise do not justify a larger model (Breiman, Friedman, Olshen, Stone:
// "Classification and Regression Trees", 1984, section 3.4.3; Hastie, Tibshirani, Friedman: "The
// Elements of Statistical Learning", 2nd ed., 2009, section 7.10). The standard error is
// MeanError's, over the folds.
func (r *Result) WithinOneError() int {
	score := r.RankedBy()
	scores := func(s Setting) []float64 {
		return lists.Map(s.Folds, func(f Fold) float64 { return score.sign(*score.Of(f)) })
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
