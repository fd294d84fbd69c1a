package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Result is the result of a cross-validation.
type Result struct {
	Searched []string  `json:"searched"` // as in the plan
	Score    string    `json:"score"`    // name of the ranking score; empty in older results: accuracy or mse
	Settings []Setting `json:"cells"`    // the first parameter of ml.Params outermost, C innermost and ascending
	// Best is the index of the setting with the best score, the first among ties, ignoring
	// settings with a failed training.
	Best   int     `json:"best"`
	Nested *Nested `json:"nested,omitempty"`
	// Confusion is the confusion matrix of the best setting, summed over its folds; with
	// repeats a point counts once per repeat. nil for a regression and in older results.
	Confusion []ml.ClassReport `json:"confusion,omitempty"`
	// Learning is the learning curve, if requested; its last step is the single setting.
	Learning []LearningStep `json:"learning,omitempty"`
}

// RankedBy returns the ranking score.
func (r *Result) RankedBy() Score {
	return RankedBy(r.Score, r.Settings[r.Best].Folds[0].Errors != nil)
}

// Setting is one point of the grid with its scores. In JSON its values are inlined:
// {"C":1,"gamma":"auto","accuracy":0.9,...}.
type Setting struct {
	Values param.Values `json:"-"` // of the parameters searched that apply
	*Mean               // nil for a regression or if a fold failed
	*MeanErrors
	Folds []Fold `json:"folds"` // repeat by repeat
}

// Mean summarises the folds of a classification; nil for a regression.
type Mean struct {
	Accuracy  float64 `json:"accuracy"`    // mean
	Deviation float64 `json:"accuracy_sd"` // sample standard deviation
}

// MeanErrors summarises the folds of a regression; nil for a
// classification.
type MeanErrors struct {
	MSE          float64 `json:"mse"`    // mean
	MSEDeviation float64 `json:"mse_sd"` // sample standard deviation
	// R2 and its deviation are nil if the values of some fold are all equal.
	R2          *float64 `json:"r2,omitempty"`
	R2Deviation *float64 `json:"r2_sd,omitempty"`
}

// Fold is one fold that was held out.
type Fold struct {
	*Shares
	*Errors
	// Failure is the reason why the training failed; it then has neither shares nor errors.
	Failure        string       `json:"failure,omitempty"`
	Status         trace.Status `json:"status"`
	SupportVectors int          `json:"support_vectors"`
}

// Shares holds the scores of a classification; nil for a regression.
type Shares struct {
	Accuracy      float64 `json:"accuracy"`
	TrainAccuracy float64 `json:"train_accuracy"` // on the training set

	// Confusion counts the test points by actual class, then by predicted class; nil in older
	// results, as are the others.
	Confusion [][]int  `json:"confusion,omitempty"`
	AUC       *float64 `json:"auc,omitempty"`      // of two classes, both held out
	LogLoss   *float64 `json:"log_loss,omitempty"` // of a calibrated machine
	Brier     *float64 `json:"brier,omitempty"`    // of a calibrated machine
}

// Errors holds the errors of a regression; nil for classes.
type Errors struct {
	ml.Errors
	TrainMSE float64 `json:"train_mse"` // on the training set
}

// Nested evaluates the selection of the best setting.
type Nested struct {
	*Mean
	*MeanErrors
	// Chosen is, for each outer fold, the index of the setting selected by the inner folds;
	// empty if there are Settings.
	Chosen []int `json:"chosen"`
	// Settings holds, if the inner search was refined, the values selected for each outer fold.
	// See Refine.
	Settings []param.Values `json:"settings,omitempty"`
	// Folds holds the outer folds with the settings selected for them; nil in older results. See
	// Result.NestedFolds.
	Folds []Fold `json:"folds,omitempty"`
}

// nestedFields is Nested without its methods.
type nestedFields Nested

// MarshalJSON adds the means of all scores, as for a Setting.
func (n Nested) MarshalJSON() ([]byte, error) { return flat(nil, nestedFields(n), n.Folds) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Nested) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, (*nestedFields)(n)) }

// Along returns the indices of the settings that differ from the best at most in the named
// numeric parameter, in its ascending order, without those with a failed training.
func (r *Result) Along(name string) (places []int) {
	best := r.Settings[r.Best].Values
	for i, s := range r.Settings {
		if !s.Values.Has(name) || !s.Values[name].IsNumber() || s.Failure() != "" {
			continue
		}
		same := len(s.Values) == len(best)
		for other, v := range s.Values {
			same = same && (other == name || best[other] == v)
		}
		if same {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Compare(r.Settings[a].Values.Number(name), r.Settings[b].Values.Number(name))
	})
	return places
}

// NestedFolds returns the outer folds, each with the setting selected for it.
func (r *Result) NestedFolds() []Fold {
	if r.Nested.Settings != nil {
		return r.Nested.Folds
	}
	return lists.Make(len(r.Nested.Chosen), func(i int) Fold { return r.Settings[r.Nested.Chosen[i]].Folds[i] })
}

// Failure returns the reason why a training of the setting failed, empty if all succeeded.
func (s Setting) Failure() string {
	failed, _ := lists.Find(s.Folds, func(f Fold) bool { return f.Failure != "" })
	return failed.Failure
}

// Converged reports whether all trainings of the setting converged.
func (s Setting) Converged() bool {
	return !slices.ContainsFunc(s.Folds, func(f Fold) bool { return f.Status != trace.Converged })
}

// settingFields is Setting without its methods.
type settingFields Setting

// MarshalJSON writes the values first and appends the means of all other scores:
// {"C":1, …, "f1":0.9,"f1_sd":0.01}.
func (s Setting) MarshalJSON() ([]byte, error) { return flat(s.Values, settingFields(s), s.Folds) }

// flat returns a JSON object of values, the fields of rest, and the means over folds of the scores
// that have no field.
func flat(values param.Values, rest any, folds []Fold) ([]byte, error) {
	head, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	if len(values) > 0 {
		text = slices.Concat(head[:len(head)-1], []byte(","), text[1:])
	}
	for _, score := range Scores {
		if slices.Contains(ownFields, score.Name) {
			continue
		}
		if mean, deviation, ok := score.Over(folds); ok {
			text = fmt.Appendf(text[:len(text)-1], `,"%[1]s":%[2]s,"%[1]s_sd":%[3]s}`, score.Name, number(mean), number(deviation))
		}
	}
	return text, nil
}

// ownFields lists the scores with fields in Mean and MeanErrors.
var ownFields = []string{"accuracy", "mse", "r2"}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Setting) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	var m settingFields
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	m.Values = make(param.Values)
	for name, text := range all {
		score := strings.TrimSuffix(name, "_sd")
		if name == "folds" || slices.ContainsFunc(Scores, func(s Score) bool { return s.Name == score }) {
			continue
		}
		var v param.Value
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m.Values[name] = v
	}
	*s = Setting(m)
	return nil
}

// score returns the accuracy or the negative mean squared error.
func (f Fold) score() float64 {
	if f.Errors != nil {
		return -f.MSE
	}
	return f.Accuracy
}

// meanOf summarises at least two folds; it returns nil if one of them failed.
func meanOf(folds []Fold) (*Mean, *MeanErrors) {
	if m, e := new(Mean), new(MeanErrors); folds[0].Errors == nil {
		var ok bool
		if m.Accuracy, m.Deviation, ok = RankedBy("accuracy", false).Over(folds); ok {
			return m, nil
		}
	} else {
		var ok bool
		if e.MSE, e.MSEDeviation, ok = RankedBy("mse", true).Over(folds); ok {
			if r2, deviation, ok := RankedBy("r2", true).Over(folds); ok {
				e.R2, e.R2Deviation = &r2, &deviation
			}
			return nil, e
		}
	}
	return nil, nil
}

// best returns the first of n settings with the best total of a score, -1 if none has one.
// Differences within rounding count as equal.
func best(score Score, n int, folds func(i int) []Fold) int {
	b, top := -1, 0.0
	for i := range n {
		if s, ok := score.sum(folds(i)); ok && (b < 0 || s > top+1e-12*math.Abs(top)) {
			b, top = i, s
		}
	}
	return b
}
