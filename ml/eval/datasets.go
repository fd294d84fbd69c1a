package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Comparisons over several data sets. Accuracies on different data sets are not commensurable, so
// ranks are compared. (Demšar: "Statistical comparisons of classifiers over multiple data
// sets", JMLR 7, 2006.)

// SignedRanks holds the result of Wilcoxon's signed-rank test.
type SignedRanks struct {
	N     int     `json:"n"`     // number of nonzero differences
	Zeros int     `json:"zeros"` // number of zero differences, which are dropped
	Plus  float64 `json:"plus"`  // sum of the ranks of positive differences
	Minus float64 `json:"minus"` // sum of the ranks of negative differences
	Exact bool    `json:"exact"` // P is exact, not approximate
	P     float64 `json:"p"`
}

// maxExact is the largest number of differences with an exact P.
const maxExact = 50

// Wilcoxon performs the two-sided signed-rank test of whether differences, one per data set, are
// symmetric about 0. Magnitudes are ranked, with mean ranks for ties, and the ranks of each sign
// are summed. Zero differences are dropped, as by Wilcoxon, SciPy and R (Demšar splits them).
// P is exact, by enumerating all assignments of signs, even with ties; for more than 50
// differences it uses the normal approximation with the variance corrected for ties and no
// continuity correction. (Wilcoxon: "Individual comparisons by ranking methods", Biometrics
// Bulletin 1, 1945.)
//
// P is 1 if there are no nonzero differences. A difference that is not finite is an error.
func Wilcoxon(differences []float64) (SignedRanks, error) {
	var s SignedRanks
	if err := checkFinite(differences); err != nil {
		return s, err
	}
	sizes := lists.Map(lists.Filter(differences, func(d float64) bool { return d != 0 }), math.Abs)
	s.N, s.Zeros, s.P = len(sizes), len(differences)-len(sizes), 1
	s.Exact = s.N <= maxExact
	places := ranks(sizes)
	at := 0
	for _, d := range differences {
		switch {
		case d > 0:
			s.Plus += places[at]
			at++
		case d < 0:
			s.Minus += places[at]
			at++
		}
	}
	switch {
	case s.N == 0:
	case s.Exact:
		s.P = min(1, 2*signsBelow(places, min(s.Plus, s.Minus)))
	default:
		n := float64(s.N)
		deviation := math.Sqrt(n*(n+1)*(2*n+1)/24 - tieSum(places)/48)
		s.P = min(1, 2*distuv.UnitNormal.CDF((min(s.Plus, s.Minus)-n*(n+1)/4)/deviation))
	}
	return s, nil
}

// signsBelow returns the fraction of all assignments of signs to the ranks, multiples of one half,
// whose positive ranks sum to at most most.
func signsBelow(places []float64, most float64) (share float64) {
	var all int
	for _, r := range places {
		all += int(2 * r)
	}
	chance := make([]float64, all+1) // of each sum, in halves
	chance[0] = 1
	for _, r := range places {
		step := int(2 * r)
		for sum := all; sum >= 0; sum-- {
			chance[sum] /= 2
			if sum >= step {
				chance[sum] += chance[sum-step] / 2
			}
		}
	}
	for sum := range int(2*most) + 1 {
		share += chance[sum]
	}
	return share
}

// tieSum returns Σ (t³ − t) over the groups of t equal ranks.
func tieSum(places []float64) (sum float64) {
	group := make(map[float64]float64)
	for _, r := range places {
		group[r]++
	}
	for _, t := range group {
		sum += t*t*t - t
	}
	return sum
}

// Ranking ranks machines over several data sets.
type Ranking struct {
	Sets  int       `json:"sets"`  // data sets
	Ranks []float64 `json:"ranks"` // mean rank of each machine over the data sets; 1 is best
	// ChiSquared is Friedman's statistic, corrected for ties, and ChiP its p-value.
	ChiSquared float64 `json:"chi_squared"`
	ChiP       float64 `json:"chi_p"`
	// F is the statistic of Iman and Davenport, less conservative than ChiSquared, with Freedom
	// degrees of freedom, and P its p-value, the one to report. If all data sets rank the machines
	// identically, F is infinite, represented by nil, and P is 0.
	F       *float64 `json:"f,omitempty"`
	Freedom [2]int   `json:"freedom"`
	P       float64  `json:"p"`
}

// Friedman ranks machines on each data set by a score (higher is better) and tests whether
// all are equally good. scores[i][j] is the score of machine j on data set i. Ties get mean
// ranks. If all scores of every data set are equal, ChiSquared and F are 0. (Friedman, JASA 32,
// 1937; correction for ties: Conover, "Practical nonparametric statistics", 1999; Iman, Davenport:
// "Approximations of the critical region of the Friedman statistic", Communications in Statistics A
// 9, 1980.)
//
// Errors: fewer than two data sets or two machines, rows of different lengths, a score
// that is not finite.
func Friedman(scores [][]float64) (*Ranking, error) {
	if len(scores) < 2 || len(scores[0]) < 2 {
		return nil, param.Refuse("add data sets or learners", "a ranking needs at least two data sets and two learners")
	}
	n, k := float64(len(scores)), len(scores[0])
	r := &Ranking{Sets: len(scores), Ranks: make([]float64, k), Freedom: [2]int{k - 1, (k - 1) * (len(scores) - 1)}}
	var ties float64
	for i, row := range scores {
		if len(row) != k {
			return nil, fmt.Errorf("eval: data set %d has %d scores, but the first has %d", i+1, len(row), k)
		}
		if err := checkFinite(row); err != nil {
			return nil, fmt.Errorf("data set %d: %w", i+1, err)
		}
		places := ranks(row)
		ties += tieSum(places)
		for j, p := range places { // ascending
			r.Ranks[j] += (float64(k+1) - p) / n
		}
	}
	m := float64(k)
	var between float64 // variation of the mean ranks
	for _, mean := range r.Ranks {
		between += (mean - (m+1)/2) * (mean - (m+1)/2)
	}
	if whole := m*(m+1)/12 - ties/(12*n*(m-1)); ties < n*(m*m*m-m) {
		r.ChiSquared = min(n*between/whole, n*(m-1))
	}
	r.ChiP = distuv.ChiSquared{K: m - 1}.Survival(r.ChiSquared)
	if left := n*(m-1) - r.ChiSquared; left > 1e-9*n*m {
		f := (n - 1) * r.ChiSquared / left
		r.F, r.P = &f, distuv.F{D1: float64(r.Freedom[0]), D2: float64(r.Freedom[1])}.Survival(f)
	}
	return r, nil
}

// Nemenyi returns the critical difference of two mean ranks at a significance level for all pairs
// together: q √(k(k+1)/6N) for k machines over N data sets, with q the quantile of the studentised
// range of k groups and infinitely many degrees of freedom, divided by √2. level, such as 0.05, must
// be between 0 and 1. (Nemenyi, 1963, after Demšar, section 3.2.2.)
func (r *Ranking) Nemenyi(level float64) (float64, error) {
	if !(level > 0 && level < 1) {
		return 0, param.Refuse("choose a level between 0 and 1, such as 0.05", "the significance level is %g", level)
	}
	k := float64(len(r.Ranks))
	unit := math.Sqrt(k * (k + 1) / (6 * float64(r.Sets))) // standard error of the difference of two mean ranks
	return rangeQuantile(len(r.Ranks), 1-level) / math.Sqrt2 * unit, nil
}

// rangeCDF returns the probability that the range of k standard normal variables is at most w:
// k ∫ φ(z) (Φ(z) − Φ(z−w))^(k−1) dz, with z the largest.
func rangeCDF(k int, w float64) float64 {
	if w <= 0 {
		return 0
	}
	normal := distuv.UnitNormal
	const far = 9 // standard deviations: the probability beyond is below 1e-18
	density := func(z float64) float64 {
		return float64(k) * normal.Prob(z) * math.Pow(normal.CDF(z)-normal.CDF(z-w), float64(k-1))
	}
	return min(1, quad.Fixed(density, -far, far+min(w, far), 200, nil, 0))
}

// rangeQuantile returns the w with rangeCDF(k, w) = p, for p in (0, 1).
func rangeQuantile(k int, p float64) float64 {
	low, high := 0.0, 1.0
	for rangeCDF(k, high) < p && high < 1e3 {
		low, high = high, 2*high
	}
	for range 60 {
		if middle := (low + high) / 2; rangeCDF(k, middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
