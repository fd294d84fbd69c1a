package eval

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"marginlab/ml/param"
)

// Scheme says how points are held out.
type Scheme struct {
	Folds   int    `json:"folds"`   // K, at least 2
	Repeats int    `json:"repeats"` // how often the points are dealt, at least 1; 0 means 1
	Seed    uint64 `json:"seed"`    // decides how
	Nested  bool   `json:"nested"`  // judge the choice of the best setting, too
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

// Folds deals the rows of y, one class value each, into k folds that have every class
// as evenly as its number allows, and sizes that differ by one at most. Rows ascend
// within a fold. The deal is one random order of all rows (PCG under the seed) in
// which each class deals its own, as in dataset.Split, so it does not depend on what
// the classes are called. It is an error when a class has fewer rows than there are
// folds, as then some fold has none to judge.
func Folds(y []float64, k int, seed uint64) ([][]int, error) {
	return folds(y, k, rand.New(rand.NewPCG(seed, outerStream)))
}

func folds(y []float64, k int, r *rand.Rand) ([][]int, error) {
	if k < 2 {
		return nil, param.Refuse("take at least 2", "%d folds", k)
	}
	number := make(map[float64]int) // of rows by class
	for _, c := range y {
		number[c]++
	}
	next := make(map[float64]int) // fold that the class deals to
	begun := 0                    // rows of the classes that have begun to deal
	out := make([][]int, k)
	for _, i := range r.Perm(len(y)) {
		c := y[i]
		if number[c] < k {
			return nil, param.Refuse("take fewer folds", "%d folds: each needs a point of every class, and one class has only %d", k, number[c])
		}
		if _, ok := next[c]; !ok {
			next[c] = begun
			begun += number[c]
		}
		out[next[c]%k] = append(out[next[c]%k], i)
		next[c]++
	}
	for _, f := range out {
		slices.Sort(f)
	}
	return out, nil
}

// deal returns the folds of all repeats and, for a nested choice, the folds of the
// rows that each of them trains on.
func deal(y []float64, s Scheme) (outer []Split, inner [][]Split, err error) {
	all := make([]int, len(y))
	for i := range all {
		all[i] = i
	}
	r := rand.New(rand.NewPCG(s.Seed, outerStream))
	for range max(1, s.Repeats) {
		some, err := splits(y, all, s.Folds, r)
		if err != nil {
			return nil, nil, err
		}
		outer = append(outer, some...)
	}
	r = rand.New(rand.NewPCG(s.Seed, innerStream))
	for _, o := range outer {
		if !s.Nested {
			break
		}
		some, err := splits(y, o.Train, s.Folds, r)
		if err != nil {
			return nil, nil, fmt.Errorf("nested, within the points that train when a fold is held out: %w", err)
		}
		inner = append(inner, some)
	}
	return outer, inner, nil
}

// splits deals some rows, each fold being held out once.
func splits(y []float64, rows []int, k int, r *rand.Rand) (out []Split, err error) {
	own := make([]float64, len(rows))
	for a, i := range rows {
		own[a] = y[i]
	}
	dealt, err := folds(own, k, r)
	if err != nil {
		return nil, err
	}
	fold := make([]int, len(rows))
	for f, places := range dealt {
		for _, a := range places {
			fold[a] = f
		}
	}
	out = make([]Split, k)
	for a, i := range rows {
		for f := range out {
			if f == fold[a] {
				out[f].Test = append(out[f].Test, i)
			} else {
				out[f].Train = append(out[f].Train, i)
			}
		}
	}
	return out, nil
}
