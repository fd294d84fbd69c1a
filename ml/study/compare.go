package study

import (
	"fmt"
	"math"
	"slices"

	"marginlab/ml/eval"
	"marginlab/ml/lists"
)

// Level is the significance level of all tests of a study.
const Level = 0.05

// Comparison compares the learners in one quantity.
type Comparison struct {
	// Friedman ranks all learners over the data sets; nil if there is only one of either.
	Friedman *eval.Ranking `json:"friedman,omitempty"`
	// CriticalDifference is Nemenyi's critical difference of mean ranks at Level.
	CriticalDifference float64 `json:"critical_difference,omitempty"`
	// Against compares the other learners with the baseline.
	Against []Versus `json:"against_baseline,omitempty"`
}

// Versus compares a learner with the baseline.
type Versus struct {
	Learner    string  `json:"learner"`
	Difference float64 `json:"difference"` // learner minus baseline, mean over the data sets
	// Better and Worse count data sets; on the others both are equal. SurelyBetter and
	// SurelyWorse count those significant at Level by the corrected resampled t-test.
	Better       int              `json:"better"`
	SurelyBetter int              `json:"surely_better"`
	Worse        int              `json:"worse"`
	SurelyWorse  int              `json:"surely_worse"`
	Wilcoxon     eval.SignedRanks `json:"wilcoxon"` // on the differences over the data sets
	Holm         float64          `json:"p_holm"`   // p of Wilcoxon, Holm-adjusted over all learners
}

// quantity is a measure in which learners are compared.
type quantity struct {
	name string  // in files
	sign float64 // -1 if smaller is better, else 1
	mean func(o Outcome) float64
	fold func(f FoldOutcome) float64
	of   func(r *Result) *Comparison
}

var (
	accuracy = quantity{
		"accuracy", 1, func(o Outcome) float64 { return o.Accuracy }, func(f FoldOutcome) float64 { return f.Accuracy },
		func(r *Result) *Comparison { return &r.Accuracy },
	}
	vectors = quantity{
		"support_vector_share", -1, func(o Outcome) float64 { return o.Share }, func(f FoldOutcome) float64 { return float64(f.SupportVectors) / float64(f.Trained) },
		func(r *Result) *Comparison { return &r.Vectors },
	}
	left = quantity{
		"variance_left", -1, func(o Outcome) float64 { return o.Left }, func(f FoldOutcome) float64 { return f.Left },
		func(r *Result) *Comparison { return &r.Left },
	}
)

// quantities returns the quantities in which the learners are compared.
func (r *Result) quantities() []quantity {
	if r.Target == "value" {
		return []quantity{left}
	}
	return []quantity{accuracy, vectors}
}

// Compare computes the statistics from the outcomes.
func (r *Result) Compare() error {
	for _, q := range r.quantities() {
		c, err := r.compared(q)
		if err != nil {
			return err
		}
		*q.of(r) = c
	}
	return nil
}

// roundMean rounds a mean, so that means that differ only by rounding errors become equal.
func roundMean(v float64) float64 { return math.Round(v*1e12) / 1e12 }

func (r *Result) compared(q quantity) (c Comparison, err error) {
	if len(r.Learners) < 2 {
		return c, nil
	}
	if len(r.Sets) > 1 {
		scores := make([][]float64, len(r.Sets))
		for i, set := range r.Sets {
			for _, o := range set.Outcomes {
				scores[i] = append(scores[i], q.sign*roundMean(q.mean(o)))
			}
		}
		if c.Friedman, err = eval.Friedman(scores); err != nil {
			return c, err
		}
		if c.CriticalDifference, err = c.Friedman.Nemenyi(Level); err != nil {
			return c, err
		}
	}
	base := slices.Index(r.Learners, r.Baseline)
	for j, name := range r.Learners {
		if j == base {
			continue
		}
		v := Versus{Learner: name}
		var all []float64
		for _, set := range r.Sets {
			own, other := set.Outcomes[j], set.Outcomes[base]
			d := roundMean(q.mean(own) - q.mean(other))
			all = append(all, d)
			v.Difference += d / float64(len(r.Sets))
			test, err := r.onFolds(q, own, other)
			if err != nil {
				return c, fmt.Errorf("data set %s, learner %s: %w", set.Name, name, err)
			}
			surely := lists.Either(test.P != nil && *test.P < Level, 1, 0)
			switch d *= q.sign; {
			case d > 0:
				v.Better++
				v.SurelyBetter += surely
			case d < 0:
				v.Worse++
				v.SurelyWorse += surely
			}
		}
		if v.Wilcoxon, err = eval.Wilcoxon(all); err != nil {
			return c, err
		}
		c.Against = append(c.Against, v)
	}
	ps := lists.Map(c.Against, func(v Versus) float64 { return v.Wilcoxon.P })
	for j, p := range eval.Holm(ps) {
		c.Against[j].Holm = p
	}
	return c, nil
}

// onFolds tests the difference of two learners on one data set.
func (r *Result) onFolds(q quantity, own, other Outcome) (eval.TTest, error) {
	differences := lists.Make(len(own.Folds), func(f int) float64 { return roundMean(q.fold(own.Folds[f]) - q.fold(other.Folds[f])) })
	return eval.CorrectedT(differences, eval.FoldRatio(r.Folds))
}
