// Package repeat runs the trainings of a report again and compares the numbers.
package repeat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/study"
)

// File holds the tasks of a report and their data.
type File struct {
	Format int               `json:"format"`
	Title  string            `json:"title"`
	Tasks  []Task            `json:"tasks"`
	Points map[string]string `json:"points"` // canonical CSV by its SHA-256
}

// Task is a run, a search, a study or a comparison of runs, with its reported numbers.
type Task struct {
	Title  string          `json:"title"`
	Points string          `json:"points,omitempty"` // hash of the data of a run or search
	Spec   json.RawMessage `json:"spec,omitempty"`   // of a run or search
	Search *Search         `json:"search,omitempty"`
	Study  *Study          `json:"study,omitempty"`
	Runs   []Task          `json:"runs,omitempty"` // compared runs, on the points that all hold out, and searches, on their folds
	// Numbers holds the numbers of the task itself, not of its Runs.
	Numbers []Number `json:"numbers"`
}

// Search holds the design of a search and its validation scheme.
type Search struct {
	Grid   eval.Grid   `json:"grid,omitempty"`
	Drawn  *eval.Drawn `json:"drawn,omitempty"` // instead of Grid
	Scheme eval.Scheme `json:"scheme"`
}

// Study holds a study as TOML and the hashes of its data files by the names of the data sets.
type Study struct {
	File   string            `json:"file"`
	Points map[string]string `json:"points,omitempty"`
}

// Number is one result.
type Number struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// MaxFile is the largest size of a File in bytes.
const MaxFile = 64 << 20

// Read decodes a File.
func Read(r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxFile {
		return nil, fmt.Errorf("the report is larger than %d MB", MaxFile>>20)
	}
	dec := json.NewDecoder(param.Unfolding(bytes.NewReader(text), 2*MaxFile))
	var f File
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a report in JSON: %w", err)
	}
	if f.Format != 1 {
		return nil, fmt.Errorf("the report has format %d, but this version reads format 1; use a newer version of Margin Lab", f.Format)
	}
	if !slices.ContainsFunc(f.Tasks, Task.hasNumbers) {
		return nil, errors.New("the report has no numbers to repeat; add a run, a search, a study or a comparison")
	}
	return &f, nil
}

// hasNumbers reports whether t or one of its Runs has numbers.
func (t Task) hasNumbers() bool {
	return len(t.Numbers) > 0 || slices.ContainsFunc(t.Runs, Task.hasNumbers)
}

// Hashes returns the hashes of the data of t and its Runs.
func (t Task) Hashes() (all []string) {
	if t.Points != "" {
		all = append(all, t.Points)
	}
	if t.Study != nil {
		all = slices.AppendSeq(all, maps.Values(t.Study.Points))
	}
	for _, run := range t.Runs {
		all = append(all, run.Hashes()...)
	}
	return all
}

// Data returns the data set with the given hash, which it checks.
func (f *File) Data(hash string) (*dataset.Data, error) {
	text, ok := f.Points[hash]
	if sum := sha256.Sum256([]byte(text)); !ok || hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("the data %.12s are missing or were changed", hash)
	}
	return dataset.Decode(strings.NewReader(text))
}

// reported lists the quantities of a run that must agree. It excludes those that depend on the
// order of additions, such as the number of iterations.
var reported = []string{"test_accuracy", "train_accuracy", "test_mse", "mse", "support_vectors", "test_n", "train_n"}

// OfRun returns the numbers of a run.
func OfRun(r *ml.Report) (numbers []Number) {
	for _, q := range ml.Quantities {
		if !slices.Contains(reported, q.Name) {
			continue
		}
		switch v := q.Value(r).(type) {
		case float64:
			numbers = append(numbers, Number{q.Label, v})
		case int:
			numbers = append(numbers, Number{q.Label, float64(v)})
		}
	}
	return numbers
}

// OfSearch returns the numbers of a search.
func OfSearch(r *eval.Result) (numbers []Number) {
	if len(r.Settings) == 0 {
		return nil
	}
	score := r.RankedBy()
	if mean, _, ok := score.Over(r.Settings[r.Best].Folds); ok {
		numbers = append(numbers, Number{"Best setting", float64(r.Best + 1)}, Number{"Best " + score.Label, mean})
	}
	if r.Nested != nil {
		if mean, _, ok := score.Over(r.NestedFolds()); ok {
			numbers = append(numbers, Number{"Nested " + score.Label, mean})
		}
	}
	return numbers
}

// OfStudy returns the numbers of a study.
func OfStudy(r *study.Result) (numbers []Number) {
	for _, set := range r.Sets {
		for _, o := range set.Outcomes {
			where := set.Name + ", " + o.Learner + ": "
			if r.Target == "value" {
				numbers = append(numbers, Number{where + "MSE", o.MSE})
			} else {
				numbers = append(numbers, Number{where + "accuracy", o.Accuracy})
			}
			numbers = append(numbers, Number{where + "support vectors", o.SupportVectors})
		}
	}
	return numbers
}

// OfHeldOut returns the numbers of the tests on the points held out by all runs.
func OfHeldOut(h *eval.HeldOut) []Number {
	return lists.Map(h.Pairs, func(p eval.HeldOutPair) Number {
		return Number{fmt.Sprintf("p of runs %d and %d", p.First+1, p.Second+1), p.P}
	})
}

// Run trains the task again and returns it with the new numbers. data returns a data set by its
// hash.
func (t Task) Run(ctx context.Context, data func(hash string) (*dataset.Data, error)) (again Task, err error) {
	again, _, err = t.run(ctx, data)
	if err != nil {
		err = fmt.Errorf("%s: %w", t.Title, err)
	}
	return again, err
}

func (t Task) run(ctx context.Context, data func(hash string) (*dataset.Data, error)) (again Task, points []ml.Point, err error) {
	again = t
	again.Numbers = nil // replaced by the new numbers
	switch {
	case t.Study != nil:
		again.Numbers, err = t.Study.run(ctx, data)
		return again, nil, err
	case t.Runs != nil:
		var all [][]ml.Point // by run; a search holds nothing out
		again.Runs = make([]Task, len(t.Runs))
		for i, run := range t.Runs {
			if again.Runs[i], points, err = run.run(ctx, data); err != nil {
				return again, nil, err
			}
			if run.Search == nil {
				all = append(all, points)
			}
		}
		if len(t.Numbers) > 0 && len(all) > 1 {
			held, err := eval.OnHeldOut(all)
			if err != nil {
				return again, nil, err
			}
			again.Numbers = OfHeldOut(held)
		}
		return again, nil, nil
	}
	d, err := data(t.Points)
	if err != nil {
		return again, nil, err
	}
	spec, err := ml.ReadStoredSpec(t.Spec)
	if err != nil {
		return again, nil, err
	}
	if s := t.Search; s != nil {
		var design eval.Design = s.Grid
		if s.Drawn != nil {
			design = s.Drawn
		}
		all, err := eval.Refine(ctx, d, spec, design, s.Scheme, 0, nil)
		if err == nil {
			again.Numbers = OfSearch(all[0])
		}
		return again, nil, err
	}
	res, err := ml.Train(ctx, d, spec, nil)
	if err == nil {
		again.Numbers = OfRun(&res.Report)
		points, err = res.Points(ctx, res.Model, d, spec)
	}
	return again, points, err
}

func (s *Study) run(ctx context.Context, data func(hash string) (*dataset.Data, error)) ([]Number, error) {
	asked, err := study.Parse(s.File, "study")
	if err != nil {
		return nil, err
	}
	for i := range asked.Sets {
		set := &asked.Sets[i]
		if hash := s.Points[set.Name]; set.File != "" {
			if set.Data, err = data(hash); err != nil {
				return nil, err
			}
		}
	}
	samples, err := asked.Load(nil)
	if err != nil {
		return nil, err
	}
	res, err := study.Run(ctx, asked, samples, study.Keeper{}, nil)
	if err != nil {
		return nil, err
	}
	return OfStudy(res), nil
}

// Numbers agree up to a relative tolerance, as processors add in different orders. Smaller numbers
// than smallest count as smallest.
const (
	tolerance = 1e-6
	smallest  = 1e-9
)

// Compared is a number in the report and its repetition.
type Compared struct {
	Task, Name string
	Was, Is    float64
}

// Agrees reports whether both are the same up to rounding.
func (c Compared) Agrees() bool {
	return math.Abs(c.Was-c.Is) <= tolerance*max(smallest, math.Abs(c.Was))
}

// Compare pairs the numbers of a task and its repetition, NaN if one is missing.
func (t Task) Compare(again Task) (all []Compared) {
	for i, n := range t.Numbers {
		c := Compared{t.Title, n.Name, n.Value, math.NaN()}
		if i < len(again.Numbers) && again.Numbers[i].Name == n.Name {
			c.Is = again.Numbers[i].Value
		}
		all = append(all, c)
	}
	for i, run := range t.Runs {
		all = append(all, run.Compare(again.Runs[i])...)
	}
	return all
}
