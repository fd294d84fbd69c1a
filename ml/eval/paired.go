package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"marginlab/ml"
	"marginlab/ml/param"
)

// Differences between two machines, fold by fold: which of them is better?
//
// The accuracies of two folds depend on each other, as the machines of both trained on
// rows that they share, and the plain t-test, which takes them for independent, finds
// differences where there are none. Nadeau and Bengio estimate the correlation of two
// folds by the share of the points that a fold judges, and widen the variance of the mean
// by it: from s²/n to (1/n + tested/trained) s².

// FoldRatio is how many points a fold of k-fold cross-validation judges for each that it
// trains on, 1/(k−1): what CorrectedT and Correlated ask for. k is at least 2.
func FoldRatio(k int) float64 { return 1 / float64(k-1) }

// Differences returns the scores of a first machine on each fold minus the scores of a
// second one, so that above 0 the first is better: accuracies or, where f is fitted to
// values, mean squared errors the other way round. The folds come in the same order; it is
// an error where one side has more of them, or tells classes and the other does not.
func Differences(first, second []Fold) ([]float64, error) {
	if len(first) != len(second) {
		return nil, fmt.Errorf("eval: %d folds and %d: differences are those of the same folds", len(first), len(second))
	}
	d := make([]float64, len(first))
	for i, f := range first {
		if (f.Errors == nil) != (second[i].Errors == nil) {
			return nil, fmt.Errorf("eval: fold %d tells classes on one side alone", i+1)
		}
		d[i] = f.score() - second[i].score()
	}
	return d, nil
}

// TTest holds the result of a t-test.
type TTest struct {
	Mean          float64  `json:"mean"`           // of the differences
	StandardError float64  `json:"standard_error"` // of the mean
	T             *float64 `json:"t,omitempty"`    // Mean over StandardError; nil where that is 0
	Freedom       int      `json:"freedom"`        // degrees of freedom: the number of differences − 1
	// P is the probability of a mean at least as far from 0, were there no difference; nil
	// where it cannot be told: differences that are all the same but not 0 have no variance.
	P        *float64    `json:"p,omitempty"`
	Interval ml.Interval `json:"interval"` // of the true mean, at the level 0.95
}

// CorrectedT tests whether the mean of differences is 0, each that of two machines on
// one fold or one split, of any number of repeats: the corrected resampled t-test.
// ratio is how many points a fold judges for each that it trains on (see FoldRatio); 0
// is the plain paired t-test. (Nadeau, Bengio: "Inference for the generalization error",
// Machine Learning 52, 2003; for repeated folds Bouckaert, Frank, PAKDD 2004.)
//
// Differences that are all 0 have P 1. Of those that are all another number P cannot be
// told, as R's t.test refuses data that are "essentially constant": without variance there
// is nothing to measure the mean by, and however few they are P would be 0.
// Errors: fewer than two differences, one that is not finite, a negative ratio.
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

// Posterior is how probable it is, after the folds that were seen, that the true
// difference of a first machine and a second one is below, within and above the region
// where it makes no practical difference. The three sum to 1.
type Posterior struct {
	Worse  float64 `json:"worse"` // the first is worse
	Same   float64 `json:"same"`
	Better float64 `json:"better"` // the first is better
}

// Correlated is the Bayesian correlated t-test: the posterior of the mean of differences,
// first less second, under a prior that says nothing, with the correlation of CorrectedT.
// rope, at least 0, is half the region of practical equivalence: 0.01 takes accuracies
// for the same that differ by less than one point in a hundred. (Corani, Benavoli: "A
// Bayesian approach for comparing cross-validated algorithms on multiple data sets",
// Machine Learning 100, 2015; Benavoli, Corani, Demšar, Zaffalon: "Time for a change",
// JMLR 18, 2017.)
//
// The posterior is Student's t about the mean, with the standard error and the degrees of
// freedom of CorrectedT. Where all differences are the same it is certain. Errors are
// those of CorrectedT, and a rope below 0 or infinite.
func Correlated(differences []float64, ratio, rope float64) (Posterior, error) {
	s, err := spreadOf(differences, ratio)
	if err != nil {
		return Posterior{}, err
	}
	if !(rope >= 0) || math.IsInf(rope, 1) {
		return Posterior{}, param.Refuse("take 0 or more, as 0.01", "%g for half the region of practical equivalence", rope)
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

// spread is the mean of differences and its standard error, that of correlated folds.
type spread struct{ mean, scale float64 }

func spreadOf(differences []float64, ratio float64) (s spread, err error) {
	if len(differences) < 2 {
		return s, fmt.Errorf("eval: %d differences between two machines: a test needs two folds at least", len(differences))
	}
	if err := finite(differences); err != nil {
		return s, err
	}
	if !(ratio >= 0) || math.IsInf(ratio, 1) {
		return s, fmt.Errorf("eval: %g points judged for each that was trained on", ratio)
	}
	// What differs by rounding is the same: its deviation would be that of the rounding.
	if low, high := slices.Min(differences), slices.Max(differences); high-low <= 1e-12*max(math.Abs(low), math.Abs(high)) {
		return spread{mean: differences[0]}, nil
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	return spread{mean, deviation * math.Sqrt(1/float64(len(differences))+ratio)}, nil
}

func finite(v []float64) error {
	if i := slices.IndexFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); i >= 0 {
		return fmt.Errorf("eval: number %d of %d is %g: a test takes finite ones", i+1, len(v), v[i])
	}
	return nil
}

// Disagreement is two machines on the same points.
type Disagreement struct {
	Both        int `json:"both"` // right
	OnlyFirst   int `json:"only_first"`
	OnlySecond  int `json:"only_second"`
	NeitherSame int `json:"neither_same"` // both wrong with the same answer
	Neither     int `json:"neither"`      // both wrong, each in its way
	// P is the exact probability of a split of OnlyFirst + OnlySecond at least as uneven,
	// were both equally good: McNemar's test. (McNemar: "Note on the sampling error of the
	// difference between correlated proportions", Psychometrika 12, 1947.)
	P float64 `json:"p"`
}

// McNemar compares the answers of two machines on the same points, of which right has
// the true ones, by the points that only one gets right. The three are as long.
func McNemar(right, first, second []int) (d Disagreement, err error) {
	if len(first) != len(right) || len(second) != len(right) {
		return d, fmt.Errorf("eval: %d and %d answers on %d points", len(first), len(second), len(right))
	}
	for i, r := range right {
		d.count(first[i] == r, second[i] == r, first[i] == second[i])
	}
	d.P = SignTest(d.OnlyFirst, d.OnlySecond)
	return d, nil
}

// Difference returns by what share of n points the first is right more often, with its interval
// at the level 0.95: Wald's, after half a point was added to each of the four counts, which holds
// its level also where few points disagree. (Agresti, Min: "Simple improved confidence intervals
// for comparing matched proportions", Statistics in Medicine 24, 2005.)
func (d Disagreement) Difference(n int) (share float64, in ml.Interval) {
	first, second, all := float64(d.OnlyFirst)+0.5, float64(d.OnlySecond)+0.5, float64(n)+2
	middle := (first - second) / all
	half := distuv.UnitNormal.Quantile(0.975) * math.Sqrt(first+second-(first-second)*(first-second)/all) / all
	return float64(d.OnlyFirst-d.OnlySecond) / float64(n), ml.Interval{Low: max(-1, middle-half), High: min(1, middle+half)}
}

// count counts a point.
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

// Holm returns the values of p that take account of how many there are: each may be
// compared with the level as if it were alone, and the probability of any false finding
// among all stays below the level. (Holm: "A simple sequentially rejective multiple test
// procedure", Scandinavian Journal of Statistics 6, 1979.)
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, top := make([]float64, len(p)), 0.0
	for place, i := range order {
		top = max(top, min(1, p[i]*float64(len(p)-place)))
		out[i] = top
	}
	return out
}
