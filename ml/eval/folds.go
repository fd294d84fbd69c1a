package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// split is a training: on which rows, and judged on which. Both ascend.
type split struct{ train, test []int }

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
		return nil, fmt.Errorf("%d folds: expected at least 2", k)
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
			return nil, fmt.Errorf("%d folds: each needs a point of every class, and of one class there are only %d; take fewer folds", k, number[c])
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
func deal(y []float64, s Settings) (outer, inner []split, err error) {
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
		some, err := splits(y, o.train, s.Folds, r)
		if err != nil {
			return nil, nil, fmt.Errorf("nested, within the points that train when a fold is held out: %w", err)
		}
		inner = append(inner, some...)
	}
	return outer, inner, nil
}

// splits deals some rows, each fold being held out once.
func splits(y []float64, rows []int, k int, r *rand.Rand) (out []split, err error) {
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
	out = make([]split, k)
	for a, i := range rows {
		for f := range out {
			if f == fold[a] {
				out[f].test = append(out[f].test, i)
			} else {
				out[f].train = append(out[f].train, i)
			}
		}
	}
	return out, nil
}
