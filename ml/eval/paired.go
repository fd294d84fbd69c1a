package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Tests on the differences between two machines, fold by fold.
//
// Accuracies of different folds are correlated, because their training sets overlap. The plain
// t-test assumes independence and finds differences where there are none. Nadeau and Bengio
// estimate the correlation by the fraction of points in a test fold and increase the variance of
// the mean accordingly, from s²/n to (1/n + tested/trained) s².

// FoldRatio returns the ratio of test to training points in k-fold cross-validation, 1/(k−1), for
// CorrectedT and Correlated. k must be at least 2.
func FoldRatio(k int) float64 { return 1 / float64(k-1) }

// Differences returns, for each fold, the advantage of the first machine over the second: the
// difference of accuracies or, for regressions, of mean squared errors with the opposite sign.
// The folds must be in the same order. It returns an error if their numbers differ, or if only
// one side is a classifier.
func Differences(first, second []Fold) ([]float64, error) {
	if len(first) != len(second) {
		return nil, fmt.Errorf("eval: %d folds and %d: differences need the same folds", len(first), len(second))
	}
	d := make([]float64, len(first))
	for i, f := range first {
		if (f.Errors == nil) != (second[i].Errors == nil) {
			return nil, fmt.Errorf("eval: fold %d has classes on one side only", i+1)
		}
		d[i] = f.score() - second[i].score()
	}
	return d, nil
}

// TTest holds the result of a t-test.
type TTest struct {
	Mean          float64  `json:"mean"`           // of the differences
	StandardError float64  `json:"standard_error"` // of the mean
	T             *float64 `json:"t,omitempty"`    // Mean over StandardError; nil if that is 0
	Freedom       int      `json:"freedom"`        // degrees of freedom: the number of differences − 1
	// P is the two-sided p-value; nil if undefined: equal nonzero differences have no
	// variance.
	P        *float64    `json:"p,omitempty"`
	Interval ml.Interval `json:"interval"` // of the true mean, at the level 0.95
}

// CorrectedT performs the corrected resampled t-test of whether the mean of differences is 0,
// where each is the difference of two machines on one fold or split of any number of repeats.
// ratio is the ratio of test to training points (see FoldRatio); 0 gives the plain paired
// t-test. (Nadeau, Bengio: "Inference for the generalization error", Machine Learning 52, 2003; for
// repeated folds Bouckaert, Frank, PAKDD 2004.)
//
// If all differences are 0, P is 1. If all are equal to another number, P is undefined, as in R's
// t.test for data that are "essentially constant": without variance, P would be 0 even for two
// differences. Errors: fewer than two differences, one that is not finite, a negative ratio.
func CorrectedT(differences []float64, ratio float64) (TTest, error) {
	s, err := spreadOf(differences, ratio)
	if err != nil {
		return TTest{}, err
	}
	t := TTest{Mean: s.mean, StandardError: s.scale, Freedom: len(differences) - 1}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(t.Freedom)}
	half := s.scale * student.Quantile(0.975)
	t.Interval = ml.Interval{Low: s.mean - half, High: s.mean + half}
	switch {
	case s.scale > 0:
		statistic := s.mean / s.scale
		p := min(1, 2*student.CDF(-math.Abs(statistic)))
		t.T, t.P = &statistic, &p
	case s.mean == 0:
		certain := 1.0
		t.P = &certain
	}
	return t, nil
}

// Posterior holds the posterior probabilities that the true difference between two machines lies
// below, within and above the region of practical equivalence. They sum to 1.
type Posterior struct {
	Worse  float64 `json:"worse"` // the first is worse
	Same   float64 `json:"same"`
	Better float64 `json:"better"` // the first is better
}

// Correlated performs the Bayesian correlated t-test: it returns the posterior of the mean of
// differences, first minus second, under a noninformative prior, with the correlation of
// CorrectedT. rope, at least 0, is half the width of the region of practical equivalence: 0.01
// treats accuracies that differ by less than one percentage point as equal. (Corani, Benavoli: "A
// Bayesian approach for comparing cross-validated algorithms on multiple data sets",
// Machine Learning 100, 2015; Benavoli, Corani, Demšar, Zaffalon: "Time for a change",
// JMLR 18, 2017.)
//
// The posterior is Student's t about the mean, with the standard error and the degrees of
// freedom of CorrectedT; if all differences are equal, it is a point mass. Correlated returns the
// errors of CorrectedT, and an error for a rope that is negative or infinite.
func Correlated(differences []float64, ratio, rope float64) (Posterior, error) {
	s, err := spreadOf(differences, ratio)
	if err != nil {
		return Posterior{}, err
	}
	if !(rope >= 0) || math.IsInf(rope, 1) {
		return Posterior{}, param.Refuse("use 0 or more, such as 0.01", "half the region of practical equivalence is %g", rope)
	}
	if s.scale == 0 {
		switch {
		case s.mean < -rope:
			return Posterior{Worse: 1}, nil
		case s.mean > rope:
			return Posterior{Better: 1}, nil
		}
		return Posterior{Same: 1}, nil
	}
	student := distuv.StudentsT{Mu: s.mean, Sigma: s.scale, Nu: float64(len(differences) - 1)}
	p := Posterior{Worse: student.CDF(-rope), Better: student.Survival(rope)}
	p.Same = max(0, 1-p.Worse-p.Better)
	return p, nil
}

// spread holds the mean of differences and its standard error for correlated folds.
type spread struct{ mean, scale float64 }

func spreadOf(differences []float64, ratio float64) (s spread, err error) {
	if len(differences) < 2 {
		return s, fmt.Errorf("eval: %d differences between two machines: a test needs at least two folds", len(differences))
	}
	if err := checkFinite(differences); err != nil {
		return s, err
	}
	if !(ratio >= 0) || math.IsInf(ratio, 1) {
		return s, fmt.Errorf("eval: the ratio of test to training points is %g", ratio)
	}
	// Treat differences that vary only by rounding as equal.
	if low, high := slices.Min(differences), slices.Max(differences); high-low <= 1e-12*max(math.Abs(low), math.Abs(high)) {
		return spread{mean: differences[0]}, nil
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	return spread{mean, deviation * math.Sqrt(1/float64(len(differences))+ratio)}, nil
}

func checkFinite(v []float64) error {
	if i := slices.IndexFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); i >= 0 {
		return fmt.Errorf("eval: number %d of %d is %g: a test needs finite numbers", i+1, len(v), v[i])
	}
	return nil
}

// Disagreement counts the points that two machines classify correctly.
type Disagreement struct {
	Both        int `json:"both"` // correct in both
	OnlyFirst   int `json:"only_first"`
	OnlySecond  int `json:"only_second"`
	NeitherSame int `json:"neither_same"` // wrong in both, with the same prediction
	Neither     int `json:"neither"`      // wrong in both, with different predictions
	// P is the exact two-sided p-value of McNemar's test: the probability of a split of
	// OnlyFirst + OnlySecond at least as uneven. (McNemar: "Note on the sampling error of the
	// difference between correlated proportions", Psychometrika 12, 1947.)
	P float64 `json:"p"`
}

// Difference returns the difference of the two accuracies on n points, first minus second, with
// its 95 % interval: Wald's after adding half a point to each of the four counts, which keeps its
// level even if few points disagree. (Agresti, Min: "Simple improved confidence intervals
// for comparing matched proportions", Statistics in Medicine 24, 2005.)
func (d Disagreement) Difference(n int) (share float64, in ml.Interval) {
	first, second, all := float64(d.OnlyFirst)+0.5, float64(d.OnlySecond)+0.5, float64(n)+2
	middle := (first - second) / all
	half := distuv.UnitNormal.Quantile(0.975) * math.Sqrt(first+second-(first-second)*(first-second)/all) / all
	return float64(d.OnlyFirst-d.OnlySecond) / float64(n), ml.Interval{Low: max(-1, middle-half), High: min(1, middle+half)}
}

// count counts a point: whether first and second are correct, and whether they are the same.
func (d *Disagreement) count(first, second, same bool) {
	switch {
	case first && second:
		d.Both++
	case first:
		d.OnlyFirst++
	case second:
		d.OnlySecond++
	case same:
		d.NeitherSame++
	default:
		d.Neither++
	}
}

// Holm returns p-values adjusted for multiple testing: comparing each with a significance level
// keeps the probability of any false positive below that level. (Holm: "A simple sequentially
// rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.)
func Holm(p []float64) []float64 {
	order := dataset.Indices(len(p))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, top := make([]float64, len(p)), 0.0
	for place, i := range order {
		top = max(top, min(1, p[i]*float64(len(p)-place)))
		out[i] = top
	}
	return out
}
