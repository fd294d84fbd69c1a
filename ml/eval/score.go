package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Score is an entry of the table of scores: a measure computed on a fold by which settings can
// be ranked.
type Score struct {
	Name   string // as in JSON: "balanced_accuracy"
	Label  string // as on a page, within a sentence: "balanced accuracy"
	Help   string // one sentence
	Larger bool   // larger is better
	Share  bool   // from 0 to 1, shown in per cent

	// Of returns the score of a fold, nil if the training failed or the score is undefined on it.
	// Trained is Of for the training set; nil: not measured.
	Of, Trained func(f Fold) *float64

	values        bool // for regression; otherwise for classification
	sides         bool // for two classes only
	probabilities bool // for calibrated machines only
	classes       bool // needs a test set with several classes
}

// Title returns the score with its unit, for the head of a column: "Accuracy in %".
func (s Score) Title() string {
	title := strings.ToUpper(s.Label[:1]) + s.Label[1:]
	if s.Share {
		title += " in %"
	}
	return title
}

// Scores lists the scores in the order pages show them. The first for classification and the first
// for regression are the defaults.
var Scores = []Score{
	{
		Name: "accuracy", Label: "accuracy", Larger: true, Share: true,
		Help: "Fraction of points whose class is predicted correctly.",
		Of:   ofShares(func(s *Shares) *float64 { return &s.Accuracy }), Trained: ofShares(func(s *Shares) *float64 { return &s.TrainAccuracy }),
	},
	{
		Name: "balanced_accuracy", Label: "balanced accuracy", Larger: true, Share: true, classes: true,
		Help: "Mean recall over the classes: a rare class counts as much as a frequent one.",
		Of:   ofConfusion(ml.BalancedAccuracy),
	},
	{
		Name: "f1", Label: "F1", Larger: true, classes: true,
		Help: "Mean over the classes of 2PR/(P + R), with precision P and recall R.",
		Of:   ofConfusion(ml.MacroF1),
	},
	{
		Name: "mcc", Label: "Matthews correlation", Larger: true, classes: true,
		Help: "Correlation of actual and predicted class: 0 for guessing, 1 if all are right.",
		Of:   ofConfusion(ml.MCC),
	},
	{
		Name: "auc", Label: "area under ROC", Larger: true, sides: true, classes: true,
		Help: "Probability that f is larger at a point of the positive class than at one of the other; it does not depend on b.",
		Of:   ofShares(func(s *Shares) *float64 { return s.AUC }),
	},
	{
		Name: "log_loss", Label: "log loss", sides: true, probabilities: true,
		Help: "Mean of −log p, where p is the predicted probability of the right class: lower is better. Needs calibration.",
		Of:   ofShares(func(s *Shares) *float64 { return s.LogLoss }),
	},
	{
		Name: "brier", Label: "Brier score", sides: true, probabilities: true,
		Help: "Mean of (1 − p)², where p is the predicted probability of the right class: lower is better. Needs calibration.",
		Of:   ofShares(func(s *Shares) *float64 { return s.Brier }),
	},
	{
		Name: "mse", Label: "mean squared error", values: true,
		Help: "Mean of (t − f(x))² for regression: lower is better.",
		Of:   ofErrors(func(e *Errors) *float64 { return &e.MSE }), Trained: ofErrors(func(e *Errors) *float64 { return &e.TrainMSE }),
	},
	{
		Name: "r2", Label: "R²", Larger: true, values: true,
		Help: "1 − the mean squared error over the variance of the values.",
		Of:   ofErrors(func(e *Errors) *float64 { return e.R2 }),
	},
}

func ofShares(of func(*Shares) *float64) func(Fold) *float64 {
	return func(f Fold) *float64 {
		if f.Shares == nil {
			return nil
		}
		return of(f.Shares)
	}
}

func ofErrors(of func(*Errors) *float64) func(Fold) *float64 {
	return func(f Fold) *float64 {
		if f.Errors == nil {
			return nil
		}
		return of(f.Errors)
	}
}

func ofConfusion(of func([]ml.ClassReport) *float64) func(Fold) *float64 {
	return ofShares(func(s *Shares) *float64 {
		if len(s.Confusion) == 0 {
			return nil
		}
		return of(ml.ConfusionOf(nil, s.Confusion))
	})
}

// AutoScore stands for the default score: accuracy or mse.
const AutoScore = "auto"

// ScoreParam describes the choice of the ranking score.
var ScoreParam = func() param.Param {
	p := param.Param{Name: "score", Label: "ranked by", Kind: param.Choice, Default: AutoScore, Help: "Score on held-out points that ranks the settings."}
	p.Options = []param.Option{{Name: AutoScore, Label: "accuracy, or mse for regression", Help: "accuracy, or mse for regression."}}
	for _, s := range Scores {
		p.Options = append(p.Options, param.Option{Name: s.Name, Label: s.Label, Help: s.Help})
	}
	return p
}()

// RankedBy returns the named score. An empty or unknown name and AutoScore give the default for
// regression (values) or classification.
func RankedBy(name string, values bool) Score {
	i := slices.IndexFunc(Scores, func(s Score) bool { return s.Name == name })
	if i < 0 {
		i = slices.IndexFunc(Scores, func(s Score) bool { return s.values == values })
	}
	return Scores[i]
}

// ScoresFor returns the scores for regression (values) or classification.
func ScoresFor(values bool) []Score {
	return lists.Filter(Scores, func(s Score) bool { return s.values == values })
}

// ranking is RankedBy for a spec and target. Errors are param.Problems.
func ranking(name string, spec ml.Spec, target ml.Target) (Score, error) {
	if name != "" {
		if err := ScoreParam.Check(name); err != nil {
			return Score{}, param.Problems{{Field: "score", Message: err.Error()}}
		}
	}
	values := target.Rule == ml.Value
	s := RankedBy(name, values)
	refuse := func(format string, args ...any) (Score, error) {
		return Score{}, param.Problems{{Field: "score", Message: fmt.Sprintf("score: "+format, args...)}}
	}
	switch {
	case s.values && !values:
		return refuse("%s needs numeric values, but these are classes; use %s", s.Label, RankedBy("", values).Name)
	case !s.values && values:
		return refuse("%s needs classes, but the target is values; use %s", s.Label, RankedBy("", values).Name)
	case s.sides && target.Rule != ml.Sign:
		return refuse("%s needs two classes, not %d; choose a positive class, or use another score", s.Label, len(target.Classes))
	case s.probabilities && !spec.Calibrated():
		return refuse("%s needs probabilities; use the calibration platt", s.Label)
	}
	return s, nil
}

// FoldValues returns a value of each fold, NaN if it has none.
func FoldValues(folds []Fold, of func(Fold) *float64) []float64 {
	return lists.Map(folds, func(f Fold) float64 {
		if v := of(f); v != nil {
			return *v
		}
		return math.NaN()
	})
}

// Over returns the mean and sample standard deviation over folds; ok is false if one of them has
// no score.
func (s Score) Over(folds []Fold) (mean, deviation float64, ok bool) {
	v := make([]float64, len(folds))
	for i, f := range folds {
		of := s.Of(f)
		if of == nil {
			return 0, 0, false
		}
		v[i] = *of
	}
	if len(v) == 0 {
		return 0, 0, false
	}
	mean, deviation = stat.MeanStdDev(v, nil)
	return mean, deviation, true
}

// sign flips scores for which smaller is better.
func (s Score) sign(v float64) float64 {
	if s.Larger {
		return v
	}
	return -v
}

// sum returns the total over folds, negated if smaller scores are better. ok is as in Over.
func (s Score) sum(folds []Fold) (sum float64, ok bool) {
	for _, f := range folds {
		of := s.Of(f)
		if of == nil {
			return 0, false
		}
		sum += s.sign(*of)
	}
	return sum, true
}
