package kernel

import (
	"context"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Parameters that several kernels of strings have.
var (
	length = param.Param{
		Name: "k", Label: "length k", Symbol: "k", Kind: param.Integer, Default: "3",
		Min: 1, Max: 1000, Low: 1, High: 10, Telling: true,
		Help: "How many symbols the pieces have that two strings are compared by.",
	}
	normalizes = param.Param{
		Name: "normalize", Label: "normalise", Kind: param.Switch, Default: "false",
		Help: "Divide k(x, z) by √(k(x, x) k(z, z)), so that a long string does not outweigh a short one. A string without any piece has 0 with all.",
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
			for _, n := range countPieces(texts[i], v.Int(length.Name)) {
				self[i] += n * n
			}
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

// occurrence tells how often a piece stands in a string.
type occurrence struct {
	in    int // of z
	times float64
}

// spectra hold the pieces of x, and where in z each of them is found: a row costs as much
// as there are pairs of equal pieces.
type spectra struct {
	pieces [][]piece // of each x_i, those that z has as well
}

type piece struct {
	times float64
	found []occurrence // by place in z
}

func compareSpectra(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error) {
	k := v.Int(length.Name)
	index := make(map[string]int)
	var found [][]occurrence
	for j, text := range z.(*dataset.Strings).Values {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for u, n := range countPieces(text, k) {
			at, ok := index[u]
			if !ok {
				at = len(found)
				index[u], found = at, append(found, nil)
			}
			found[at] = append(found[at], occurrence{j, n})
		}
	}
	texts := x.(*dataset.Strings).Values
	s := spectra{make([][]piece, len(texts))}
	return s, rows(ctx, len(texts), func(i int) {
		for u, n := range countPieces(texts[i], k) {
			if at, ok := index[u]; ok {
				s.pieces[i] = append(s.pieces[i], piece{n, found[at]})
			}
		}
	})
}

func (s spectra) row(dst []float64, i int) {
	clear(dst)
	for _, u := range s.pieces[i] {
		for _, o := range u.found {
			if o.in >= len(dst) {
				break
			}
			dst[o.in] += u.times * o.times
		}
	}
}
