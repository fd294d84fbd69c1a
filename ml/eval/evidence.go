package eval

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Evidence holds the cross-validation scores of one setting, stored with a run to compare runs.
type Evidence struct {
	Search   string `json:"search,omitempty"` // id of the search that computed it, possibly deleted
	Scheme   Scheme `json:"scheme"`           // with Nested, the score includes the selection of the setting
	Settings int    `json:"settings"`         // number of settings of the search
	// Optimistic reports that the setting was selected, at least in part, by the same folds.
	Optimistic  bool      `json:"optimistic"`
	Score       string    `json:"score"` // "accuracy" or "mse"
	Mean        float64   `json:"mean"`
	Deviation   float64   `json:"sd"`
	ml.Interval           // 95 % confidence interval of Mean
	Points      int       `json:"points,omitempty"` // test points of one repeat; 0: unknown
	Folds       []float64 `json:"folds,omitempty"`  // score of each fold; nil for more than maxStoredFolds
}

// maxStoredFolds is the largest number of folds that evidence stores individually.
const maxStoredFolds = 1000

// EvidenceOf returns the evidence of a result for one of its settings, the best evidence first:
// the nested score, for the best setting of a nested search, and the setting's own folds. It
// returns nil if a training of the setting failed or the result is a learning curve.
func EvidenceOf(search string, scheme Scheme, r *Result, at int) (all []Evidence) {
	if len(scheme.Learning) > 0 {
		return nil
	}
	inPart := scheme.Warning(r) != ""
	scheme.Onward = nil // large, and not needed
	add := func(nested, optimistic bool, folds []Fold) {
		e := Evidence{Search: search, Scheme: scheme, Settings: len(r.Settings), Optimistic: optimistic}
		if e.Scheme.Nested = nested; e.estimate(folds) {
			all = append(all, e)
		}
	}
	if r.Nested != nil && at == r.Best {
		add(true, inPart, r.NestedFolds())
	}
	add(false, len(r.Settings) > 1, r.Settings[at].Folds)
	SortEvidence(all)
	return all
}

// estimate sets the estimate from folds and reports whether there is one.
//
// The interval uses Nadeau and Bengio's corrected variance: training folds overlap, so the plain
// standard error is too small. A few folds can agree by chance, so an accuracy's interval is
// never narrower than Wilson's for the points tested.
func (e *Evidence) estimate(folds []Fold) bool {
	score := RankedBy("", folds[0].Errors != nil)
	mean, deviation, ok := score.Over(folds)
	if !ok {
		return false
	}
	e.Score, e.Mean = score.Name, mean
	n, repeats := len(folds), max(1, e.Scheme.Repeats)
	half := 0.0
	if n > 1 {
		e.Deviation = deviation
		half = deviation * math.Sqrt(1/float64(n)+ratioOf(e.Scheme, n)) * distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	}
	e.Low, e.High = max(0, mean-half), mean+half
	right := 0.0
	for _, f := range folds {
		if n <= maxStoredFolds {
			e.Folds = append(e.Folds, *score.Of(f))
		}
		if f.Shares == nil {
			continue
		}
		for _, row := range f.Confusion {
			for _, count := range row {
				e.Points += count
				right += f.Accuracy * float64(count)
			}
		}
	}
	if score.Share {
		e.High = min(1, e.High)
	}
	if e.Points > 0 {
		share := right / float64(e.Points)
		e.Points /= repeats
		if in, err := ml.Wilson(int(math.Round(share*float64(e.Points))), e.Points, 0.95); err == nil {
			e.Low, e.High = min(e.Low, in.Low), max(e.High, in.High)
		}
	}
	return true
}

// ratioOf returns the ratio for a scheme with n folds over all repeats.
func ratioOf(s Scheme, n int) float64 {
	if s.HoldOut > 0 {
		return s.HoldOut / (1 - s.HoldOut)
	}
	return FoldRatio(max(2, n/max(1, s.Repeats)))
}

// SortEvidence sorts the best evidence first: scores of folds not used for selection, then nested
// ones, then by the number of folds.
func SortEvidence(all []Evidence) {
	slices.SortStableFunc(all, func(a, b Evidence) int {
		return cmp.Or(
			cmp.Compare(lists.CountTrue(a.Optimistic), lists.CountTrue(b.Optimistic)),
			cmp.Compare(lists.CountTrue(b.Scheme.Nested), lists.CountTrue(a.Scheme.Nested)),
			cmp.Compare(len(b.Folds), len(a.Folds)),
		)
	})
}

// SameFolds reports whether two settings on the same data were evaluated on the same folds.
func (e Evidence) SameFolds(o Evidence) bool {
	a, b := e.Scheme, o.Scheme
	return a.LeaveOneOut == b.LeaveOneOut && a.HoldOut == b.HoldOut && a.Column == b.Column && a.Folds == b.Folds && max(1, a.Repeats) == max(1, b.Repeats) && a.Seed == b.Seed &&
		a.Nested == b.Nested && e.Score == o.Score && len(e.Folds) > 1 && len(e.Folds) == len(o.Folds)
}

// OfSetting returns a spec with the values of one setting of a search on all points.
func OfSetting(spec ml.Spec, values param.Values) ml.Spec {
	for _, p := range ml.Params {
		if values.Has(p.Name) {
			_ = spec.Set(p.Name, values.Text(p.Name)) // valid, since it was tried
		}
	}
	spec.TestFraction = 0
	return spec
}
