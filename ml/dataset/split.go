package dataset

import (
	"math"
	"math/rand/v2"
	"slices"

	"marginlab/ml/param"
)

// splitStream separates the draws of Split from others with the same seed.
const splitStream = 0x5b117

// Split draws a stratified held-out set: every class contributes round(fraction n_c)
// rows but keeps at least one for training. Rows are returned in ascending order.
//
// y holds one class value per row, ±1 or any others; fraction lies in [0, 1), and
// a fraction not above 0 holds nothing out. Split draws one random order of all rows
// (PCG with the seed) and holds out the first rows of each class, so the result depends
// on which rows share a class and not on the names of the classes.
func Split(y []float64, fraction float64, seed uint64) (train, test []int) {
	if !(fraction > 0) {
		return Indices(len(y)), nil
	}
	rng := rand.New(rand.NewPCG(seed, splitStream))
	quota := make(map[float64]int)
	for _, c := range y {
		quota[c]++
	}
	for c, n := range quota {
		quota[c] = min(int(math.Round(min(fraction, 1)*float64(n))), n-1)
	}
	held := make([]bool, len(y))
	for _, i := range rng.Perm(len(y)) {
		if quota[y[i]] > 0 {
			quota[y[i]]--
			held[i] = true
		}
	}
	for i, h := range held {
		if h {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return slices.Clip(train), slices.Clip(test)
}

// Deal deals the rows of y, one class value each, into k folds that share every class
// as evenly as possible, with sizes that differ by at most one. Rows ascend within a
// fold. Deal draws one random order of all rows in which each class deals its own, as in
// Split, so the result does not depend on the names of the classes. It returns a
// *param.Refusal for a single fold, and for a class with fewer rows than folds, because
// some fold would then have none to test.
func Deal(y []float64, k int, r *rand.Rand) ([][]int, error) {
	if k < 2 {
		return nil, param.Refuse("use at least 2", "%d folds", k)
	}
	number := make(map[float64]int) // rows by class
	for _, c := range y {
		number[c]++
	}
	next := make(map[float64]int) // fold that the class deals to next
	begun := 0                    // rows of the classes that have begun to deal
	out := make([][]int, k)
	for _, i := range r.Perm(len(y)) {
		c := y[i]
		if number[c] < k {
			return nil, param.Refuse("use fewer folds", "%d folds: each needs a point of every class, but one class has only %d", k, number[c])
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
