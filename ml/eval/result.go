package eval

import (
	"encoding/json"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Result is a cross-validation.
type Result struct {
	Searched []string  `json:"searched"` // that of the plan
	Settings []Setting `json:"cells"`    // the first parameter of ml.Params outermost, C innermost and rising
	// Best is the index of the setting with the largest accuracy, the first of several.
	Best   int     `json:"best"`
	Nested *Nested `json:"nested,omitempty"`
}

// Setting is one point of the grid and how well it did. In JSON its values stand beside
// the rest: {"C":1,"gamma":"auto","accuracy":0.9,...}.
type Setting struct {
	Values    param.Values `json:"-"`           // of the parameters searched that apply
	Accuracy  float64      `json:"accuracy"`    // mean over Folds
	Deviation float64      `json:"accuracy_sd"` // sample standard deviation over Folds
	Folds     []Fold       `json:"folds"`       // all those of the first deal, of the second ...
}

// Fold is one fold that was held out.
type Fold struct {
	Accuracy       float64      `json:"accuracy"`
	TrainAccuracy  float64      `json:"train_accuracy"` // on the points that trained
	Status         trace.Status `json:"status"`
	SupportVectors int          `json:"support_vectors"`
}

// Nested judges the choice of the best setting.
type Nested struct {
	Accuracy  float64 `json:"accuracy"`    // mean over the folds
	Deviation float64 `json:"accuracy_sd"` // sample standard deviation over the folds
	// Chosen is, for each fold held out, the setting that folds of the other points chose.
	Chosen []int `json:"chosen"`
}

// Converged tells whether all trainings of the setting ended with the optimum.
func (s Setting) Converged() bool {
	return !slices.ContainsFunc(s.Folds, func(f Fold) bool { return f.Status != trace.Converged })
}

// measured is a Setting without its values.
type measured Setting

// MarshalJSON puts the values first.
func (s Setting) MarshalJSON() ([]byte, error) {
	values, err := json.Marshal(s.Values)
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(measured(s))
	if err != nil || len(s.Values) == 0 {
		return rest, err
	}
	return slices.Concat(values[:len(values)-1], []byte(","), rest[1:]), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Setting) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	var m measured
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	m.Values = make(param.Values)
	for name, text := range all {
		switch name {
		case "accuracy", "accuracy_sd", "folds":
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

// spread is mean and sample standard deviation of n values, at least two.
func spread(n int, value func(i int) float64) (mean, deviation float64) {
	v := make([]float64, n)
	for i := range v {
		v[i] = value(i)
	}
	return stat.MeanStdDev(v, nil)
}

// best is the first of the largest of n values. Those that differ by rounding count as
// equal.
func best(n int, value func(i int) float64) (b int) {
	for i := range n {
		if value(i) > value(b)+1e-12 {
			b = i
		}
	}
	return b
}
