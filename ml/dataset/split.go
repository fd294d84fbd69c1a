package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
)

// splitStream keeps the draws of Split apart from others under the same seed.
const splitStream = 0x5b117

// Split draws a stratified held-out set: every class gives round(fraction n_c)
// rows, but keeps at least one for training. Rows come back ascending.
//
// y holds one class value a row, ±1 or any others; fraction lies in [0, 1), and
// what is not above 0 holds nothing out. The draw is one random order of all rows
// (PCG under the seed) of which each class gives its first, so it depends on which
// rows share a class and not on what the classes are called.
func Split(y []float64, fraction float64, seed uint64) (train, test []int) {
	rng := rand.New(rand.NewPCG(seed, splitStream))
	quota := make(map[float64]int)
	for _, c := range y {
		quota[c]++
	}
	for c, n := range quota {
		k := 0
		if fraction > 0 {
			k = int(math.Round(min(fraction, 1) * float64(n)))
		}
		quota[c] = min(k, n-1)
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
