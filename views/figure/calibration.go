package figure

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"marginlab/ml"
	"marginlab/ml/param"
)

// Minimum number of points per bin of the reliability diagram, and number of bins.
const (
	leastInBin = 10
	mostBins   = 10
)

// hasCalibration reports a figure if a calibrated machine has enough held-out points of two classes
// for two bins.
func hasCalibration(r Run) []int {
	return when(r.Result.Model.Platt != nil && r.Result.Report.TestN >= 2*leastInBin)
}

// drawCalibration draws the reliability diagram: for groups of held-out points with similar
// predicted probability, the fraction that belongs to the class. Groups are equally large, so
// that all fractions are about equally precise. (Murphy, Winkler:
// "Reliability of subjective probability forecasts", Applied Statistics 26, 1977.)
func drawCalibration(ctx context.Context, r Run, _ int) (*Picture, error) {
	points, err := r.Result.Points(ctx, r.Result.Model, r.Data, r.Spec)
	if err != nil {
		return nil, err
	}
	type told struct {
		p     float64
		right bool
	}
	var all []told
	for _, p := range points {
		if p.HeldOut {
			all = append(all, told{r.Result.Model.Platt.Probability(p.F), p.Y > 0})
		}
	}
	if len(all) < 2*leastInBin {
		return nil, ErrNoFigure
	}
	slices.SortStableFunc(all, func(a, b told) int { return cmp.Compare(a.p, b.p) })
	class := param.ClassText(r.Result.Model.Classes[1])
	curve := Curve{Name: "held out, with 95 % intervals", Marks: true}
	bins := min(mostBins, len(all)/leastInBin)
	worst := 0.0
	for b := range bins {
		own := all[b*len(all)/bins : (b+1)*len(all)/bins]
		mean, n := 0.0, 0
		for _, t := range own {
			mean += t.p / float64(len(own))
			if t.right {
				n++
			}
		}
		interval, err := ml.Wilson(n, len(own), 0.95)
		if err != nil {
			return nil, err
		}
		if k := len(curve.X); k > 0 && mean <= curve.X[k-1] { // many points have the same probability
			continue
		}
		share := float64(n) / float64(len(own))
		worst = max(worst, interval.Low-mean, mean-interval.High)
		curve.X, curve.Y = append(curve.X, mean), append(curve.Y, share)
		curve.Lo, curve.Hi = append(curve.Lo, interval.Low), append(curve.Hi, interval.High)
	}
	ends := Axis{Min: -0.02, Max: 1.02}
	ch := Chart{Format: r.format(), X: ends, Y: ends}
	ch.X.Name, ch.Y.Name = "predicted probability of "+class, "observed frequency of "+class
	ch.Curves = []Curve{curve, {Name: "perfectly calibrated", X: []float64{0, 1}, Y: []float64{0, 1}}}
	ch.Caption = fmt.Sprintf("Calibration on %d held-out points in %d groups, by the predicted probability of %s. On the diagonal, predictions match observed frequencies.", len(all), bins, class)
	if worst > 0 {
		ch.Caption += fmt.Sprintf(" Some intervals miss it, by up to %s.", param.Digits(worst, 2))
	} else {
		ch.Caption += " All intervals reach it."
	}
	return ch.Picture()
}
