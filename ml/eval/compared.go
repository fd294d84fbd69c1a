package eval

import (
	"math"
	"slices"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// HeldOut compares machines on the points that none of them was trained on.
type HeldOut struct {
	N int // number of points
	// Differ lists the indices of points on which the machines disagree; empty for a
	// regression.
	Differ []int
	Pairs  []HeldOutPair // all pairs: first and second, first and third, …
}

// HeldOutPair compares two machines. For classifiers, P comes from McNemar's test. For regressions,
// OnlyFirst and OnlySecond count the points where the first or the second is closer, and P comes
// from Wilcoxon's test on the absolute errors.
type HeldOutPair struct {
	First, Second int
	Disagreement
	FirstLeads bool    // the difference favours the first; for a regression, by the sum of ranks
	Holm       float64 // P with Holm's correction over all pairs
}

// OnHeldOut compares at least two machines on the points that all of them held out. points holds
// the ml.Result.Points of every machine, on the same data in the same order. It returns a
// *param.Refusal if no test is possible because no points, or not the same, were held out.
func OnHeldOut(points [][]ml.Point) (*HeldOut, error) {
	held := func(ps []ml.Point) []int {
		return lists.Where(len(ps), func(i int) bool { return ps[i].HeldOut })
	}
	rows := held(points[0])
	for _, ps := range points {
		switch own := held(ps); {
		case len(own) == 0:
			return nil, param.Refuse("train again with a held-out fraction", "not every run held out points, and training points do not measure how good a model is")
		case !slices.Equal(own, rows):
			return nil, param.Refuse("train again with the same seed and held-out fraction", "the runs held out different points, so they cannot be compared point by point")
		}
	}
	h := &HeldOut{N: len(rows)}
	h.Differ = lists.Filter(rows, func(i int) bool {
		return slices.ContainsFunc(points, func(ps []ml.Point) bool { return ps[i].Predicted != points[0][i].Predicted })
	})
	var ps []float64
	for a := range points {
		for b := a + 1; b < len(points); b++ {
			p := HeldOutPair{First: a, Second: b}
			if err := p.compare(points[a], points[b], rows); err != nil {
				return nil, err
			}
			h.Pairs, ps = append(h.Pairs, p), append(ps, p.P)
		}
	}
	for k, p := range Holm(ps) {
		h.Pairs[k].Holm = p
	}
	return h, nil
}

// compare sets the comparison on rows.
func (d *HeldOutPair) compare(first, second []ml.Point, rows []int) error {
	var nearer []float64 // error of the second minus error of the first
	for _, i := range rows {
		a, b := first[i], second[i]
		if a.Predicted == "" {
			by := math.Abs(b.Y-b.F) - math.Abs(a.Y-a.F)
			nearer = append(nearer, by)
			switch {
			case by > 0:
				d.OnlyFirst++
			case by < 0:
				d.OnlySecond++
			}
			continue
		}
		d.count(!a.Wrong, !b.Wrong, a.Predicted == b.Predicted)
	}
	if nearer == nil {
		d.P, d.FirstLeads = SignTest(d.OnlyFirst, d.OnlySecond), d.OnlyFirst > d.OnlySecond
		return nil
	}
	w, err := Wilcoxon(nearer)
	d.P, d.FirstLeads = w.P, w.Plus > w.Minus
	return err
}

// FoldPair compares two settings on the same folds.
type FoldPair struct {
	First, Second int
	TTest
	// Posterior allows for a region of practical equivalence; nil for a regression, which has
	// no natural region, and if P is undefined because the differences have no spread.
	Posterior *Posterior
	Holm      *float64 // P with Holm's correction over all pairs that have one
}

// OnFolds compares all pairs of at least two settings evaluated on the same k folds, with any
// number of repeats. rope is as in Correlated. It returns an error for settings with different
// numbers of folds, or if some are classifiers and others regressions.
func OnFolds(settings []Setting, k int, rope float64) (pairs []FoldPair, err error) {
	return pairsOnFolds(len(settings), FoldRatio(k), rope, settings[0].Mean != nil, func(a, b int) ([]float64, error) {
		return Differences(settings[a].Folds, settings[b].Folds)
	})
}

// OnSameFolds is OnFolds for stored evidence. All of it must satisfy SameFolds with the first.
func OnSameFolds(all []Evidence, rope float64) (pairs []FoldPair, err error) {
	sign := RankedBy(all[0].Score, false).sign(1)
	return pairsOnFolds(len(all), ratioOf(all[0].Scheme, len(all[0].Folds)), rope, RankedBy(all[0].Score, false).Share, func(a, b int) ([]float64, error) {
		return lists.Make(len(all[a].Folds), func(i int) float64 { return sign * (all[a].Folds[i] - all[b].Folds[i]) }), nil
	})
}

// pairsOnFolds compares all pairs of n settings. differences returns the differences of two of them
// by fold; shares is set for scores from 0 to 1.
func pairsOnFolds(n int, ratio, rope float64, shares bool, differences func(a, b int) ([]float64, error)) (pairs []FoldPair, err error) {
	var ps []float64
	for a := range n {
		for b := a + 1; b < n; b++ {
			difference, err := differences(a, b)
			if err != nil {
				return nil, err
			}
			pair := FoldPair{First: a, Second: b}
			if pair.TTest, err = CorrectedT(difference, ratio); err != nil {
				return nil, err
			}
			if shares && pair.P != nil {
				p, err := Correlated(difference, ratio, rope)
				if err != nil {
					return nil, err
				}
				pair.Posterior = &p
			}
			if pairs = append(pairs, pair); pair.P != nil {
				ps = append(ps, *pair.P)
			}
		}
	}
	after := Holm(ps)
	for k := range pairs {
		if pairs[k].P != nil {
			pairs[k].Holm, after = &after[0], after[1:]
		}
	}
	return pairs, nil
}
