package kernel

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// gapSubsequence compares strings by what k symbols they have in common in the same order,
// with gaps between them or without. An occurrence with g symbols left out weighs decay^g,
// not decay^(k+g) as with Lodhi et al., whose values are decay^(2k) times these.
//
// Source: Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins, Journal of Machine
// Learning Research 2 (2002).
var gapSubsequence = Entry{
	Name: "gap-subsequence", Label: "Gap-weighted subsequences", Formula: "k(x, z) = Σᵤ Σ λ^(gaps in x + gaps in z) over all u of k symbols and their occurrences", Takes: dataset.KindStrings, PSD: true,
	Help: "Counts what k symbols two strings have in common in the same order; symbols left out in between lower the weight.",
	Params: []param.Param{length, {
		Name: "decay", Label: "decay", Symbol: "λ", Kind: param.Number, Default: "0.5",
		Min: 0, OpenMin: true, Max: 1, Low: 0.05, High: 1, Telling: true,
		Help: "Weight of each symbol left out between the k symbols. 1: gaps cost nothing; small: nearly the substrings alone.",
	}, normalizes},
	compare: compareSubsequences,
	self: func(ctx context.Context, v param.Values, x dataset.Objects) ([]float64, error) {
		s := newSubsequences(ctx, v, x, x)
		self := make([]float64, len(s.x))
		return self, rows(ctx, len(self), func(i int) { self[i], _ = s.value(nil, s.x[i], s.x[i]) })
	},
}

// symbols are the strings, symbol by symbol.
func symbols(x dataset.Objects) [][]rune {
	texts := x.(*dataset.Strings).Values
	list := make([][]rune, len(texts))
	for i, text := range texts {
		list[i] = []rune(text)
	}
	return list
}

type subsequences struct {
	ctx   context.Context
	k     int
	decay float64
	x, z  [][]rune
	work  *sync.Pool // of *[]float64
}

func newSubsequences(ctx context.Context, v param.Values, x, z dataset.Objects) subsequences {
	return subsequences{
		ctx: ctx, k: v.Int(length.Name), decay: v.Number("decay"), x: symbols(x), z: symbols(z),
		work: &sync.Pool{New: func() any { return new([]float64) }},
	}
}

func compareSubsequences(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error) {
	return newSubsequences(ctx, v, x, z), nil
}

func (s subsequences) row(dst []float64, i int) {
	work := s.work.Get().(*[]float64)
	for j := range dst {
		dst[j], *work = s.value(*work, s.x[i], s.z[j])
	}
	s.work.Put(work)
}

// value is the kernel of two strings, in O(k |x| |z|) steps and memory for k rows of z.
//
// Let A_p(i, j) be the weight of all pairs of occurrences of p symbols that end with x_i
// and z_j, and B_p(i, j) the sum of A_p(i', j') decay^(i-i' + j-j') over i' <= i, j' <= j.
// Then, with A_1 = 1 where x_i = z_j,
//
//	A_{p+1}(i, j) = B_p(i-1, j-1) where x_i = z_j, else 0
//	B_p(i, j) = R + decay B_p(i-1, j),   R = A_p(i, j) + decay R of (i, j-1)
//
// and the kernel is the sum of all A_k. work is memory to be used again.
func (s subsequences) value(work []float64, x, z []rune) (float64, []float64) {
	if c := cmp.Compare(len(z), len(x)); c > 0 || c == 0 && slices.Compare(x, z) > 0 { // the same to the last bit in either order
		x, z = z, x
	}
	n := len(z)
	if n < s.k {
		return 0, work
	}
	if s.k == 1 {
		return common(x, z), work
	}
	// b[p-1] is B_p of the row before, with B_p(i, 0) = 0 in front.
	size := n + 1
	if need := (s.k - 1) * size; cap(work) < need {
		work = make([]float64, need)
	} else {
		work = work[:need]
		clear(work)
	}
	run := make([]float64, s.k-1)    // R of each p
	before := make([]float64, s.k-1) // B_p(i-1, j-1)
	var sum float64
	for _, xi := range x {
		if s.ctx.Err() != nil { // of long strings one pair takes minutes
			return 0, work
		}
		clear(run)
		clear(before)
		for j, zj := range z {
			a := 0.0 // A_p(i, j)
			match := xi == zj
			if match {
				a = 1
			}
			for p := range run {
				b := &work[p*size+j+1]
				above := *b
				run[p] = a + s.decay*run[p]
				*b = run[p] + s.decay*above
				a = 0
				if match {
					a = before[p]
				}
				before[p] = above
			}
			sum += a
		}
	}
	return sum, work
}

// common is the number of pairs of equal symbols.
func common(x, z []rune) (sum float64) {
	counts := make(map[rune]float64)
	for _, c := range z {
		counts[c]++
	}
	for _, c := range x {
		sum += counts[c]
	}
	return sum
}
