package kernel

import (
	"context"
	"iter"
	"strings"
	"unicode/utf8"

	"marginlab/ml/dataset"
	"marginlab/ml/pace"
	"marginlab/ml/param"
)

// Parameters shared by kernels of strings and graphs.
var (
	length = param.Param{
		Name: "k", Label: "length", Symbol: "k", Kind: param.Integer, Default: "3",
		Min: 1, Max: 1000, Low: 1, High: 10, Telling: true,
		Help: "Length of the substrings that are compared, in symbols.",
	}
	normalize = param.Param{
		Name: "normalize", Label: "normalise", Kind: param.Switch, Default: "false",
		Help: "Divide k(x, z) by √(k(x, x) k(z, z)), so that long strings and large graphs do not outweigh small ones. Objects with k(x, x) = 0 have similarity 0 with all others.",
	}
)

// spectrum compares strings by their k-mers: substrings of k symbols. A shorter string has none, so
// its values are 0.
//
// Source: Leslie, Eskin and Noble, Pacific Symposium on Biocomputing 7 (2002).
var spectrum = Entry{
	Name: "spectrum", Label: "Spectrum", Formula: "k(x, z) = Σᵤ #ᵤ(x) #ᵤ(z) over all u of k symbols", Takes: dataset.KindStrings, PSD: true,
	Help:    "Counts the substrings of k symbols that two strings share, regardless of their positions.",
	Params:  []param.Param{length, normalize},
	compare: compareSpectra,
	self: func(ctx context.Context, v param.Values, x dataset.Objects) ([]float64, error) {
		texts := x.(*dataset.Strings).Values
		self := make([]float64, len(texts))
		return self, eachRow(ctx, len(texts), func(i int) {
			for _, n := range KMers(texts[i], v.Int(length.Name)) {
				self[i] += n * n
			}
		})
	},
	weigh:    weighKMers,
	canWeigh: func(_ param.Values, z dataset.Objects) bool { return totalSymbols(z) <= maxSymbols },
}

// KMers counts the substrings of k >= 1 symbols, the features of the spectrum kernel. Keys are
// slices of text, so nothing is copied, and only substrings that occur are stored.
func KMers(text string, k int) map[string]float64 {
	counts := make(map[string]float64)
	for piece := range kmers(text, k) {
		counts[piece]++
	}
	return counts
}

// kmers iterates over the substrings of k symbols.
func kmers(text string, k int) iter.Seq[string] {
	return func(yield func(string) bool) {
		starts := make([]int, 0, len(text)+1) // of the symbols
		for i := range text {
			starts = append(starts, i)
		}
		starts = append(starts, len(text))
		for a := 0; a+k < len(starts); a++ {
			if !yield(text[starts[a]:starts[a+k]]) {
				return
			}
		}
	}
}

func compareSpectra(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error) {
	numbers := make(map[string]int)
	number := func(o dataset.Objects) ([][]featureCount, error) {
		texts := o.(*dataset.Strings).Values
		list := make([][]featureCount, len(texts))
		for i, text := range texts {
			if err := pace.Look(ctx); err != nil {
				return nil, err
			}
			counts := KMers(text, v.Int(length.Name))
			list[i] = make([]featureCount, 0, len(counts))
			for u, times := range counts {
				list[i] = append(list[i], featureCount{numberOf(numbers, u), times})
			}
		}
		return list, nil
	}
	to, err := number(z)
	if err != nil {
		return nil, err
	}
	from := to
	if x != z {
		if from, err = number(x); err != nil {
			return nil, err
		}
	}
	return compareCounts(ctx, len(numbers), from, to)
}

// maxSymbols is the largest total length of strings whose features are listed, in bytes.
const maxSymbols = 2 << 20

// totalSymbols returns the total length of all strings in bytes.
func totalSymbols(x dataset.Objects) (n int) {
	for _, text := range x.(*dataset.Strings).Values {
		n += len(text)
	}
	return n
}

// kmerWeights holds the weights of k-mers.
type kmerWeights struct {
	k      int
	number map[string]int
	pieces []string
	w      []float64
}

func weighKMers(ctx context.Context, v param.Values, z dataset.Objects, u []float64) (expansion, error) {
	p := kmerWeights{k: v.Int(length.Name), number: make(map[string]int)}
	for j, text := range z.(*dataset.Strings).Values {
		if err := pace.Look(ctx); err != nil {
			return nil, err
		}
		if u[j] == 0 {
			continue
		}
		for piece := range kmers(text, p.k) {
			at := numberOf(p.number, piece)
			if at == len(p.w) {
				p.pieces, p.w = append(p.pieces, piece), append(p.w, 0)
			}
			p.w[at] += u[j]
		}
	}
	return p, nil
}

func (p kmerWeights) weights() []float64 { return p.w }

func (p kmerWeights) name(feature int) string { return visible(p.pieces[feature]) }

func (p kmerWeights) parts(ctx context.Context, x dataset.Objects) ([][]float64, error) {
	return partsOf(ctx, x, func(i int) []float64 { return p.symbols(x.Text(i)) })
}

// symbols returns the contribution of each symbol of a text.
func (p kmerWeights) symbols(text string) []float64 {
	symbols := make([]float64, utf8.RuneCountInString(text))
	at := 0
	for piece := range kmers(text, p.k) {
		if number, ok := p.number[piece]; ok {
			for s := range p.k {
				symbols[at+s] += p.w[number] / float64(p.k)
			}
		}
		at++
	}
	return symbols
}

// visible replaces spaces by middle dots.
func visible(text string) string { return strings.ReplaceAll(text, " ", "·") }
