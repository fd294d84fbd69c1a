package eval

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Scheme says how settings are judged: which points are held out, and by which score.
// Points are held out by k folds of all classes, unless one of LeaveOneOut, HoldOut and
// Column says otherwise.
type Scheme struct {
	Folds   int    `json:"folds"`   // K, at least 2
	Repeats int    `json:"repeats"` // how often the points are dealt, at least 1; 0 means 1
	Seed    uint64 `json:"seed"`    // decides how
	Nested  bool   `json:"nested"`  // judge the choice of the best setting, too

	Score string `json:"score,omitempty"` // the name of that which ranks; empty: AutoScore

	LeaveOneOut bool    `json:"leave_one_out,omitempty"` // every point is a fold of its own
	HoldOut     float64 `json:"hold_out,omitempty"`      // this share of every class is drawn, Repeats times anew
	Column      string  `json:"fold_column,omitempty"`   // every value of this feature is a fold; no machine sees it

	// Learning makes a learning curve of a single setting: in each fold machines are trained on
	// these shares, above 0 to 1, of the training points, every class evenly. Those of one fold
	// are drawn from the same order, so that a larger share has the points of a smaller one.
	Learning []float64 `json:"shares,omitempty"`

	// Finer says that the design lies around what an earlier search had found best by all
	// these points. It changes no fold, only what a nested number is worth: see Scheme.Warning.
	Finer bool `json:"finer,omitempty"`

	// Onward is, for a nested choice that is Finer, what each fold goes on with, as its own points
	// that train have chosen before: the number judges all of the choice. nil: every fold chooses
	// from the design.
	Onward []Onward `json:"onward,omitempty"`
}

// mostAlone is how many points leave-one-out takes: each has a split of all others.
const mostAlone = 3000

// mostShares is how many places a learning curve has at most.
const mostShares = 100

// check tells what of s cannot be. Errors are param.Problems and *param.Refusal.
func (s Scheme) check(n int) error {
	ways := 0
	for _, chosen := range []bool{s.LeaveOneOut, s.HoldOut != 0, s.Column != ""} {
		if chosen {
			ways++
		}
	}
	switch {
	case ways > 1:
		return param.Problems{{Field: "folds", Message: "folds: leave-one-out, a share that is drawn and a column of folds exclude each other"}}
	case s.HoldOut != 0 && !(s.HoldOut > 0 && s.HoldOut <= 0.9):
		return param.Problems{{Field: "hold_out", Message: fmt.Sprintf("hold_out expects a share above 0 and at most 0.9, not %v", s.HoldOut)}}
	case s.HoldOut != 0 && s.Repeats < 2:
		return param.Problems{{Field: "repeats", Message: "repeats: a share that is held out once has no spread; take 2 repeats or more, as 10"}}
	case (s.LeaveOneOut || s.Column != "") && s.Repeats > 1:
		return param.Problems{{Field: "repeats", Message: "repeats: these folds are always the same; take 1"}}
	case s.LeaveOneOut && n > mostAlone:
		return param.Refuse("take folds", "leaving out each of %d points alone takes as many trainings, and %d are the most", n, mostAlone)
	case ways == 0 && s.Folds < 2:
		return param.Refuse("take at least 2", "%d folds", s.Folds)
	case len(s.Learning) > 0 && s.Nested:
		return param.Problems{{Field: "shares", Message: "shares: a learning curve is of one setting, so that there is no choice for nested folds to judge"}}
	case len(s.Learning) > mostShares:
		return param.Problems{{Field: "shares", Message: fmt.Sprintf("shares: at most %d shares, not %d", mostShares, len(s.Learning))}}
	}
	for i, share := range s.Learning {
		if !(share > 0 && share <= 1) {
			return param.Problems{{Field: "shares", Message: fmt.Sprintf("shares: expected a share of the training set above 0 and at most 1, not %g", share)}}
		}
		if i > 0 && share <= s.Learning[i-1] {
			return param.Problems{{Field: "shares", Message: "shares: expected shares that rise"}}
		}
	}
	return nil
}

// Count is how many splits s makes of d, those of a nested choice included, without making
// them. It returns the errors of NewPlan about the scheme.
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

// groups numbers the folds of the column from 0 on, by its rising values.
func (s Scheme) groups(d *dataset.Data) ([]int, error) {
	j := slices.Index(d.Features, s.Column)
	if j < 0 || d.X == nil {
		return nil, param.Problems{{Field: "fold_column", Message: fmt.Sprintf("fold_column: %q is no feature of the data, whose values are numbers", s.Column)}}
	}
	values := make([]float64, len(d.Y))
	for i := range values {
		values[i] = d.X.At(i, j)
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	least := 2
	if s.Nested {
		least = 3
	}
	if len(distinct) < least {
		return nil, param.Problems{{Field: "fold_column", Message: fmt.Sprintf("fold_column: %q has %d values; at least %d folds are needed", s.Column, len(distinct), least)}}
	}
	groups := make([]int, len(values))
	for i, v := range values {
		groups[i], _ = slices.BinarySearch(distinct, v)
	}
	return groups, nil
}

// Settled is spec without the column of folds among its features.
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

// Split is a training: on which rows, and judged on which. No row is in both.
type Split struct {
	Train Rows `json:"train"`
	Test  Rows `json:"test"`
}

// Rows are row numbers from 0 that ascend. In JSON they are a set of bits in base64,
// row i being bit i%8, from the lowest, of byte i/8.
type Rows []int

// MarshalJSON writes the bits.
func (r Rows) MarshalJSON() ([]byte, error) {
	var set []byte
	for k, i := range r {
		switch {
		case i < 0 || k > 0 && i <= r[k-1]:
			return nil, fmt.Errorf("rows: %d at place %d: expected numbers from 0 that ascend", i, k)
		case k == 0:
			set = make([]byte, r[len(r)-1]/8+1)
		}
		set[i/8] |= 1 << (i % 8)
	}
	return json.Marshal(set)
}

// UnmarshalJSON reads the bits.
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

// The draws under one seed are kept apart from each other and from dataset.Split.
const (
	outerStream = 0xf01d
	innerStream = 0xf01d5
)

// Folds is dataset.Deal of the rows of y, one class value each, under a seed (PCG).
func Folds(y []float64, k int, seed uint64) ([][]int, error) {
	return dataset.Deal(y, k, rand.New(rand.NewPCG(seed, outerStream)))
}

// deal returns the splits of s, and, for a nested choice, those of the rows that train in
// each of them. groups holds the values of a column of folds.
func deal(y []float64, s Scheme, groups []int) (outer []Split, inner [][]Split, err error) {
	all := make([]int, len(y))
	for i := range all {
		all[i] = i
	}
	r := rand.New(rand.NewPCG(s.Seed, outerStream))
	if outer, err = s.splits(y, all, groups, max(1, s.Repeats), r); err != nil || !s.Nested {
		return outer, nil, err
	}
	repeats := 1
	if s.HoldOut > 0 {
		repeats = s.Repeats
	}
	r = rand.New(rand.NewPCG(s.Seed, innerStream))
	for _, o := range outer {
		some, err := s.splits(y, o.Train, groups, repeats, r)
		if err != nil {
			return nil, nil, fmt.Errorf("nested, within the training set of a fold: %w", err)
		}
		inner = append(inner, some)
	}
	return outer, inner, nil
}

// splits deals some rows.
func (s Scheme) splits(y []float64, rows, groups []int, repeats int, r *rand.Rand) (out []Split, err error) {
	own := make([]float64, len(rows))
	for a, i := range rows {
		own[a] = y[i]
	}
	fold := make([]int, len(rows)) // of each row; that of none is not held out
	for range repeats {
		k := 0
		switch {
		case s.LeaveOneOut:
			for a := range rows {
				fold[a] = a
			}
			k = len(rows)
		case s.HoldOut > 0:
			_, held := dataset.Split(own, s.HoldOut, r.Uint64())
			for a := range fold {
				fold[a] = 1
			}
			for _, a := range held {
				fold[a] = 0
			}
			k = 1
		case groups != nil:
			numbers := map[int]int{} // those that occur, in their order
			for _, i := range rows {
				numbers[groups[i]] = 0
			}
			for _, g := range slices.Sorted(maps.Keys(numbers)) {
				numbers[g] = k
				k++
			}
			for a, i := range rows {
				fold[a] = numbers[groups[i]]
			}
		default:
			dealt, err := dataset.Deal(own, s.Folds, r)
			if err != nil {
				return nil, err
			}
			for f, places := range dealt {
				for _, a := range places {
					fold[a] = f
				}
			}
			k = s.Folds
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

// enough tells what some splits of rows with classes y leave to train or
// to judge on, where that is not enough: a class that no point trains, no point to judge on
// or, where the score asks for it, points of one class alone.
func enough(splits []Split, y []float64, classes []string, score Score) error {
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
				return param.Refuse("take other folds", "fold %d holds out all points of class %s: none is left to train on", f+1, classes[c])
			}
		}
		switch {
		case len(s.Test) == 0:
			return param.Refuse("take a larger share", "no point is held out: the classes have too few")
		case score.classes && len(judges) < 2:
			return param.Refuse("take accuracy, or other folds", "%s is of points of several classes, and fold %d holds out one class alone", score.Label, f+1)
		}
	}
	return nil
}
