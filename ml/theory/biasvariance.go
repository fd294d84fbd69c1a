package theory

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// BiasVariance decomposes the expected error of a learner (Domingos 2000, "A unified
// bias-variance decomposition", 0/1 loss, two classes). At a point x let y* be the more likely
// label, ym the main prediction, made by most models, N the probability that the label is not y*,
// and V the fraction of models that do not predict ym. Then
//
//	error(x) = N + (1 - 2N) V              if ym = y*  (unbiased),
//	error(x) = N + (1 - 2N) (1 - V)        if ym ≠ y*  (biased),
//
// so variance hurts where the main prediction is right and helps where it is wrong. All fields
// are means over the points, or values per point.
type BiasVariance struct {
	Error float64 // expected error of one model: Noise + Bias + Variance
	Noise float64 // mean N, the error of the best rule (Bayes)
	Bias  float64 // mean (1 - 2N) over biased points: contribution of the main prediction
	// Variance is UnbiasedVariance - BiasedVariance, the contribution of the models' variation;
	// negative if it helps.
	Variance         float64
	UnbiasedVariance float64 // mean (1 - 2N) V over unbiased points
	BiasedVariance   float64 // mean (1 - 2N) V over biased points

	Main   []float64 // ym per point, ±1; +1 in a tie
	Biased []bool    // ym ≠ y* per point
	Spread []float64 // V per point, 0 to 1/2
}

// NewBiasVariance computes the decomposition for models trained on resamples. f is R x T: row r
// holds the predictions of model r at the T test points, ±1 or decision values, read as +1
// iff >= 0. posterior (length T) is P(y = +1 | x) at them, 1 or 0 for labels without noise. For a
// posterior of 1/2, y* is +1. The resamples must not contain the test points.
func NewBiasVariance(f *mat.Dense, posterior []float64) (BiasVariance, error) {
	if f.IsEmpty() {
		return BiasVariance{}, errors.New("theory: no predictions; give at least one model and one test point")
	}
	r, t := f.Dims()
	if len(posterior) != t {
		return BiasVariance{}, fmt.Errorf("theory: %d posteriors for %d test points", len(posterior), t)
	}
	d := BiasVariance{Main: make([]float64, t), Biased: make([]bool, t), Spread: make([]float64, t)}
	for j, p := range posterior {
		if !(p >= 0 && p <= 1) {
			return BiasVariance{}, fmt.Errorf("theory: posterior %d is %g; it must be from 0 to 1", j+1, p)
		}
		plus := 0
		for i := range r {
			v := f.At(i, j)
			if v != v {
				return BiasVariance{}, fmt.Errorf("theory: model %d predicts NaN at test point %d", i+1, j+1)
			}
			if v >= 0 {
				plus++
			}
		}
		main := 2*plus >= r
		d.Main[j] = -1
		if main {
			d.Main[j] = 1
		}
		d.Biased[j] = main != (p >= 0.5)
		d.Spread[j] = float64(min(plus, r-plus)) / float64(r)
		noise := min(p, 1-p)
		scale := 1 - 2*noise
		d.Noise += noise / float64(t)
		if d.Biased[j] {
			d.Bias += scale / float64(t)
			d.BiasedVariance += scale * d.Spread[j] / float64(t)
		} else {
			d.UnbiasedVariance += scale * d.Spread[j] / float64(t)
		}
	}
	d.Variance = d.UnbiasedVariance - d.BiasedVariance
	d.Error = d.Noise + d.Bias + d.Variance
	return d, nil
}
