package eval

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Scheme describes how settings are evaluated: which points are held out, and the score. By
// default, points are held out in k stratified folds; LeaveOneOut, HoldOut and Column are
// alternatives.
type Scheme struct {
	Folds   int    `json:"folds"`   // K, at least 2
	Repeats int    `json:"repeats"` // number of different splits into folds; 0 means 1
	Seed    uint64 `json:"seed"`    // of the splits
	Nested  bool   `json:"nested"`  // also evaluate the selection of the best setting

	Score string `json:"score,omitempty"` // name of the ranking score; empty: AutoScore

	LeaveOneOut bool    `json:"leave_one_out,omitempty"` // every point is a fold
	HoldOut     float64 `json:"hold_out,omitempty"`      // fraction of every class drawn at random, Repeats times
	Column      string  `json:"fold_column,omitempty"`   // every value of this feature is a fold; machines do not use the feature

	// Learning asks for a learning curve of a single setting: in each fold machines are trained
	// on these fractions, in (0, 1], of the training set, stratified by class and nested within
	// a fold.
	Learning []float64 `json:"shares,omitempty"`

	// Finer marks a design centred on the best setting of an earlier search on the same points.
	// It does not change the folds, only the caveat on a nested score: see Scheme.Warning.
	Finer bool `json:"finer,omitempty"`

	// Onward holds, for a nested selection that is Finer, the design with which each fold
	// continues from its own earlier selection, so that the nested score covers the whole
	// selection. nil: every fold selects from the design.
	Onward []Onward `json:"onward,omitempty"`
}

// maxLeaveOneOut is the largest number of points for leave-one-out.
const maxLeaveOneOut = 3000

// maxLearningSteps is the largest number of steps of a learning curve.
const maxLearningSteps = 100

// check validates s for n points. Errors are param.Problems and *param.Refusal.
func (s Scheme) check(n int) error {
	ways := lists.CountTrue(s.LeaveOneOut, s.HoldOut != 0, s.Column != "")
	switch {
	case ways > 1:
		return param.Problems{{Field: "folds", Message: "folds: choose only one of leave-one-out, a held-out fraction and a column of folds"}}
	case s.HoldOut != 0 && !(s.HoldOut > 0 && s.HoldOut <= 0.9):
		return param.Problems{{Field: "hold_out", Message: fmt.Sprintf("hold_out expects a fraction above 0 and at most 0.9, not %v", s.HoldOut)}}
	case s.HoldOut != 0 && s.Repeats < 2:
		return param.Problems{{Field: "repeats", Message: "repeats: a single holdout has no standard deviation; use at least 2 repeats, such as 10"}}
	case (s.LeaveOneOut || s.Column != "") && s.Repeats > 1:
		return param.Problems{{Field: "repeats", Message: "repeats: these folds are always the same; use 1"}}
	case s.LeaveOneOut && n > maxLeaveOneOut:
		return param.Refuse("use folds", "leave-one-out over %d points needs as many trainings, and the limit is %d", n, maxLeaveOneOut)
	case ways == 0 && s.Folds < 2:
		return param.Refuse("use at least 2", "%d folds", s.Folds)
	case len(s.Learning) > 0 && s.Nested:
		return param.Problems{{Field: "shares", Message: "shares: a learning curve has a single setting, so nested folds have nothing to choose"}}
	case len(s.Learning) > maxLearningSteps:
		return param.Problems{{Field: "shares", Message: fmt.Sprintf("shares: at most %d shares, not %d", maxLearningSteps, len(s.Learning))}}
	}
	for i, share := range s.Learning {
		if !(share > 0 && share <= 1) {
			return param.Problems{{Field: "shares", Message: fmt.Sprintf("shares: expected a fraction of the training set above 0 and at most 1, not %g", share)}}
		}
		if i > 0 && share <= s.Learning[i-1] {
			return param.Problems{{Field: "shares", Message: "shares: expected increasing shares"}}
		}
	}
	return nil
}

// Count returns the number of splits of d, including the inner splits of a nested selection, without
// making them. It returns the errors of NewPlan about the scheme.
func (s Scheme) Count(d *dataset.Data) (int, error) {
	if err := s.check(d.Len()); err != nil {
		return 0, err
	}
	outer, inner := s.Folds*max(1, s.Repeats), s.Folds
	switch {
	case s.LeaveOneOut:
		outer, inner = d.Len(), d.Len()-1
	case s.HoldOut > 0:
		outer, inner = s.Repeats, s.Repeats
	case s.Column != "":
		groups, err := s.groups(d)
		if err != nil {
			return 0, err
		}
		outer = slices.Max(groups) + 1
		inner = outer - 1
	}
	if s.Nested {
		return outer * (1 + inner), nil
	}
	return outer * max(1, len(s.Learning)), nil
}

// groups returns the fold of every row, the rank of its value in the column, from 0.
func (s Scheme) groups(d *dataset.Data) ([]int, error) {
	j := slices.Index(d.Features, s.Column)
	if j < 0 || d.X == nil {
		return nil, param.Problems{{Field: "fold_column", Message: fmt.Sprintf("fold_column: %q is not a numeric feature of the data", s.Column)}}
	}
	values := mat.Col(nil, j, d.X)
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	least := lists.Either(s.Nested, 3, 2)
	if len(distinct) < least {
		return nil, param.Problems{{Field: "fold_column", Message: fmt.Sprintf("fold_column: %q has %d values, but at least %d folds are needed", s.Column, len(distinct), least)}}
	}
	groups := make([]int, len(values))
	for i, v := range values {
		groups[i], _ = slices.BinarySearch(distinct, v)
	}
	return groups, nil
}

// Settled returns spec without the column of folds among its features.
func (s Scheme) Settled(d *dataset.Data, spec ml.Spec) ml.Spec {
	if s.Column == "" {
		return spec
	}
	features := spec.Features
	if len(features) == 0 {
		features = d.Features
	}
	spec.Features = slices.DeleteFunc(slices.Clone(features), func(name string) bool { return name == s.Column })
	return spec
}

// Split holds disjoint rows to train on and to test on.
type Split struct {
	Train Rows `json:"train"`
	Test  Rows `json:"test"`
}

// Rows holds row numbers from 0 in ascending order. In JSON they are a bit set in base64: row i is
// bit i%8, from the lowest, of byte i/8.
type Rows []int

// MarshalJSON writes the bit set.
func (r Rows) MarshalJSON() ([]byte, error) {
	var set []byte
	for k, i := range r {
		switch {
		case i < 0 || k > 0 && i <= r[k-1]:
			return nil, fmt.Errorf("rows: %d at place %d: expected increasing numbers of at least 0", i, k)
		case k == 0:
			set = make([]byte, r[len(r)-1]/8+1)
		}
		set[i/8] |= 1 << (i % 8)
	}
	return json.Marshal(set)
}

// UnmarshalJSON reads the bit set.
func (r *Rows) UnmarshalJSON(data []byte) error {
	var set []byte
	if err := json.Unmarshal(data, &set); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	*r = nil
	for at, b := range set {
		for ; b != 0; b &= b - 1 {
			*r = append(*r, 8*at+bits.TrailingZeros8(b))
		}
	}
	return nil
}

// Streams that make the draws with one seed independent of each other and of dataset.Split.
const (
	outerStream = 0xf01d
	innerStream = 0xf01d5
)

// Folds returns k stratified folds of the rows, with their classes y, by dataset.Deal with a seed.
func Folds(y []float64, k int, seed uint64) ([][]int, error) {
	return dataset.Deal(y, k, rand.New(rand.NewPCG(seed, outerStream)))
}

// makeSplits returns the splits of s and, for a nested selection, the inner splits of each training
// set. groups holds the folds of a fold column.
func makeSplits(y []float64, s Scheme, groups []int) (outer []Split, inner [][]Split, err error) {
	r := rand.New(rand.NewPCG(s.Seed, outerStream))
	if outer, err = s.splits(y, dataset.Indices(len(y)), groups, max(1, s.Repeats), r); err != nil || !s.Nested {
		return outer, nil, err
	}
	repeats := lists.Either(s.HoldOut > 0, s.Repeats, 1)
	r = rand.New(rand.NewPCG(s.Seed, innerStream))
	for _, o := range outer {
		some, err := s.splits(y, o.Train, groups, repeats, r)
		if err != nil {
			return nil, nil, fmt.Errorf("nested, in the training set of a fold: %w", err)
		}
		inner = append(inner, some)
	}
	return outer, inner, nil
}

func (s Scheme) splits(y []float64, rows, groups []int, repeats int, r *rand.Rand) (out []Split, err error) {
	own := lists.At(y, rows)
	var in []int
	if groups != nil {
		in = lists.At(groups, rows)
	}
	for range repeats {
		fold, k, err := s.deal(own, in, r)
		if err != nil {
			return nil, err
		}
		more := make([]Split, k)
		for f := range more {
			for a, i := range rows {
				if f == fold[a] {
					more[f].Test = append(more[f].Test, i)
				} else {
					more[f].Train = append(more[f].Train, i)
				}
			}
		}
		out = append(out, more...)
	}
	return out, nil
}

// deal returns the fold of each row and the number of folds. A row without a fold is never held out.
func (s Scheme) deal(y []float64, groups []int, r *rand.Rand) (fold []int, k int, err error) {
	fold = make([]int, len(y))
	switch {
	case s.LeaveOneOut:
		for a := range fold {
			fold[a] = a
		}
		return fold, len(fold), nil
	case s.HoldOut > 0:
		for a := range fold {
			fold[a] = -1
		}
		_, held := dataset.Split(y, s.HoldOut, r.Uint64())
		for _, a := range held {
			fold[a] = 0
		}
		return fold, 1, nil
	case groups != nil:
		known := slices.Compact(slices.Sorted(slices.Values(groups)))
		for a, g := range groups {
			fold[a], _ = slices.BinarySearch(known, g)
		}
		return fold, len(known), nil
	}
	dealt, err := dataset.Deal(y, s.Folds, r)
	for f, places := range dealt {
		for _, a := range places {
			fold[a] = f
		}
	}
	return fold, s.Folds, err
}

// checkSplits returns an error if the training set of a split lacks a class, if its test set is empty
// or, for scores that need several classes, if its test set has only one class.
func checkSplits(splits []Split, y []float64, classes []string, score Score) error {
	for f, s := range splits {
		trains, judges := map[float64]bool{}, map[float64]bool{}
		for _, i := range s.Train {
			trains[y[i]] = true
		}
		for _, i := range s.Test {
			judges[y[i]] = true
		}
		for c := range classes {
			if !trains[float64(c)] {
				return param.Refuse("choose other folds", "fold %d holds out all points of class %s: none are left for training", f+1, classes[c])
			}
		}
		switch {
		case len(s.Test) == 0:
			return param.Refuse("use a larger fraction", "no points are held out: the classes are too small")
		case score.classes && len(judges) < 2:
			return param.Refuse("use accuracy, or other folds", "%s needs test points of two classes, but fold %d holds out only one class", score.Label, f+1)
		}
	}
	return nil
}
