package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Result is a cross-validation.
type Result struct {
	Searched []string  `json:"searched"` // that of the plan
	Settings []Setting `json:"cells"`    // the first parameter of ml.Params outermost, C innermost and rising
	// Best is the index of the setting with the largest accuracy, or the least mean squared
	// error, the first of several.
	Best   int     `json:"best"`
	Nested *Nested `json:"nested,omitempty"`
}

// Setting is one point of the grid and how well it did. In JSON its values stand beside
// the rest: {"C":1,"gamma":"auto","accuracy":0.9,...}.
type Setting struct {
	Values param.Values `json:"-"` // of the parameters searched that apply
	*Mean
	*MeanErrors
	Folds []Fold `json:"folds"` // all those of the first deal, of the second ...
}

// Mean is what folds come to where classes are told; nil where f is fitted to values.
type Mean struct {
	Accuracy  float64 `json:"accuracy"`    // mean
	Deviation float64 `json:"accuracy_sd"` // sample standard deviation
}

// MeanErrors are what folds come to where f is fitted to values; nil where classes are
// told.
type MeanErrors struct {
	MSE          float64 `json:"mse"`    // mean
	MSEDeviation float64 `json:"mse_sd"` // sample standard deviation
	// R2 and its deviation are nil where the values of a fold are all the same.
	R2          *float64 `json:"r2,omitempty"`
	R2Deviation *float64 `json:"r2_sd,omitempty"`
}

// Fold is one fold that was held out.
type Fold struct {
	*Shares
	*Errors
	Status         trace.Status `json:"status"`
	SupportVectors int          `json:"support_vectors"`
}

// Shares are of points whose class was told; nil where f is fitted to values.
type Shares struct {
	Accuracy      float64 `json:"accuracy"`
	TrainAccuracy float64 `json:"train_accuracy"` // on the points that trained
}

// Errors are those of values; nil where classes are told.
type Errors struct {
	ml.Errors
	TrainMSE float64 `json:"train_mse"` // on the points that trained
}

// Nested judges the choice of the best setting.
type Nested struct {
	*Mean
	*MeanErrors
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
		case "accuracy", "accuracy_sd", "mse", "mse_sd", "r2", "r2_sd", "folds":
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

// score is larger for a better fold.
func (f Fold) score() float64 {
	if f.Errors != nil {
		return -f.MSE
	}
	return f.Accuracy
}

// over is what folds come to, two at least.
func over(folds []Fold) (*Mean, *MeanErrors) {
	spread := func(value func(f Fold) float64) (mean, deviation float64) {
		v := make([]float64, len(folds))
		for i, f := range folds {
			v[i] = value(f)
		}
		return stat.MeanStdDev(v, nil)
	}
	if folds[0].Errors == nil {
		m := new(Mean)
		m.Accuracy, m.Deviation = spread(func(f Fold) float64 { return f.Accuracy })
		return m, nil
	}
	m := new(MeanErrors)
	m.MSE, m.MSEDeviation = spread(func(f Fold) float64 { return f.MSE })
	if !slices.ContainsFunc(folds, func(f Fold) bool { return f.R2 == nil }) {
		r2, deviation := spread(func(f Fold) float64 { return *f.R2 })
		m.R2, m.R2Deviation = &r2, &deviation
	}
	return nil, m
}

// best is the first setting, of n, with the largest sum of scores. Those that differ by
// rounding count as equal.
func best(n int, folds func(i int) []Fold) (b int) {
	sum := func(i int) (sum float64) {
		for _, f := range folds(i) {
			sum += f.score()
		}
		return sum
	}
	top := sum(0)
	for i := 1; i < n; i++ {
		if s := sum(i); s > top+1e-12*math.Abs(top) {
			b, top = i, s
		}
	}
	return b
}
