package kernel

import (
	"context"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Parameters that several kernels of objects without coordinates have.
var (
	length = param.Param{
		Name: "k", Label: "length k", Symbol: "k", Kind: param.Integer, Default: "3",
		Min: 1, Max: 1000, Low: 1, High: 10, Telling: true,
		Help: "How many symbols the pieces have that two strings are compared by.",
	}
	normalizes = param.Param{
		Name: "normalize", Label: "normalise", Kind: param.Switch, Default: "false",
		Help: "Divide k(x, z) by √(k(x, x) k(z, z)), so that a long string or a large graph does not outweigh a small one. An object without any piece has 0 with all.",
	}
)

// spectrum compares strings by their k-mers: substrings of k symbols. A string that is
// shorter has none, and 0 with all.
//
// Source: Leslie, Eskin and Noble, Pacific Symposium on Biocomputing 7 (2002).
var spectrum = Entry{
	Name: "spectrum", Label: "Spectrum", Formula: "k(x, z) = Σᵤ #ᵤ(x) #ᵤ(z) over all u of k symbols", Takes: dataset.KindStrings, PSD: true,
	Help:    "Counts the substrings of k symbols that two strings share: what they are, not where.",
	Params:  []param.Param{length, normalizes},
	compare: compareSpectra,
	self: func(ctx context.Context, v param.Values, x dataset.Objects) ([]float64, error) {
		texts := x.(*dataset.Strings).Values
		self := make([]float64, len(texts))
		return self, rows(ctx, len(texts), func(i int) {
			self[i] = squares(countPieces(texts[i], v.Int(length.Name)))
		})
	},
}

// countPieces counts the substrings of k symbols. They are slices of the text, so that
// none is copied, and a table of all that there could be is never made.
func countPieces(text string, k int) map[string]float64 {
	counts := make(map[string]float64)
	starts := make([]int, 0, len(text)+1) // of the symbols
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	for a := 0; a+k < len(starts); a++ {
		counts[text[starts[a]:starts[a+k]]]++
	}
	return counts
}

func compareSpectra(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error) {
	pieces := func(o dataset.Objects) func(i int) map[string]float64 {
		texts := o.(*dataset.Strings).Values
		return func(i int) map[string]float64 { return countPieces(texts[i], v.Int(length.Name)) }
	}
	return compareCounts(ctx, x.Len(), z.Len(), pieces(x), pieces(z))
}
