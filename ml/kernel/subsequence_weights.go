package kernel

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/pace"
	"marginlab/ml/param"
)

// maxSubsequences is the largest number of subsequences of k symbols over an alphabet whose
// weights are listed.
const maxSubsequences = 1 << 16

// maxTableSize bounds the numbers held for one string, 8 bytes each.
const maxTableSize = 4 << 20

// subsequenceWeights holds the weights of all subsequences of k symbols over an alphabet,
// indexed by their symbols as digits, most significant first.
type subsequenceWeights struct {
	k        int
	decay    float64
	alphabet []rune
	w        []float64
}

// alphabetOf returns the distinct symbols of all strings, sorted.
func alphabetOf(x dataset.Objects) []rune {
	seen := make(map[rune]bool)
	for _, text := range x.(*dataset.Strings).Values {
		for _, c := range text {
			seen[c] = true
		}
		if len(seen) > maxSubsequences {
			break
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func canWeighSubsequences(v param.Values, z dataset.Objects) bool {
	n := totalSymbols(z)
	if n > maxSymbols {
		return false
	}
	a, k := float64(len(alphabetOf(z))), v.Number(length.Name)
	longest := 0
	for _, text := range z.(*dataset.Strings).Values {
		longest = max(longest, len(text))
	}
	states := math.Pow(a, k-1)
	return a*states <= maxSubsequences && float64(n)*states <= 2e8 && float64(longest)*states <= maxTableSize
}

func weighSubsequences(ctx context.Context, v param.Values, z dataset.Objects, u []float64) (expansion, error) {
	s := subsequenceWeights{k: v.Int(length.Name), decay: v.Number("decay"), alphabet: alphabetOf(z)}
	s.w = make([]float64, s.size(s.k))
	for j, text := range z.(*dataset.Strings).Values {
		if err := pace.Look(ctx); err != nil {
			return nil, err
		}
		if u[j] == 0 {
			continue
		}
		f := s.open()
		for _, c := range text {
			if d := s.digit(c); d >= 0 {
				for p, weight := range f.open[s.k-1] {
					s.w[p*len(s.alphabet)+d] += u[j] * weight
				}
			}
			f.append(s.digit(c))
		}
	}
	return s, nil
}

// size returns the number of subsequences of p symbols.
func (s subsequenceWeights) size(p int) int {
	n := 1
	for range p {
		n *= len(s.alphabet)
	}
	return n
}

// digit returns the index of a symbol in the alphabet, or -1.
func (s subsequenceWeights) digit(c rune) int {
	d, ok := slices.BinarySearch(s.alphabet, c)
	if !ok {
		return -1
	}
	return d
}

// openings holds, for every subsequence of p < k symbols, the total weight of its occurrences in
// the string so far: decay^(symbols skipped since the first).
type openings struct {
	of   *subsequenceWeights
	open [][]float64 // by p, 0 to k-1
}

func (s subsequenceWeights) open() openings {
	f := openings{&s, make([][]float64, s.k)}
	for p := range f.open {
		f.open[p] = make([]float64, s.size(p))
	}
	f.open[0][0] = 1
	return f
}

// append advances by a symbol, which either extends an occurrence or is skipped; -1 can only be
// skipped.
func (f openings) append(digit int) {
	f.step(digit, func(before, p int) int { return before*len(f.of.alphabet) + digit })
}

// prepend is append for a string that is read backwards.
func (f openings) prepend(digit int) {
	f.step(digit, func(after, p int) int { return digit*f.of.size(p-1) + after })
}

func (f openings) step(digit int, number func(rest, p int) int) {
	for p := len(f.open) - 1; p >= 1; p-- {
		for n := range f.open[p] {
			f.open[p][n] *= f.of.decay
		}
		if digit < 0 {
			continue
		}
		for rest, weight := range f.open[p-1] {
			f.open[p][number(rest, p)] += weight
		}
	}
}

func (s subsequenceWeights) weights() []float64 { return s.w }

func (s subsequenceWeights) name(feature int) string {
	symbols := make([]string, s.k)
	for p := s.k - 1; p >= 0; p-- {
		symbols[p] = visible(string(s.alphabet[feature%len(s.alphabet)]))
		feature /= len(s.alphabet)
	}
	return strings.Join(symbols, "-")
}

func (s subsequenceWeights) parts(ctx context.Context, x dataset.Objects) ([][]float64, error) {
	return partsOf(ctx, x, func(i int) []float64 { return s.symbols(x.Text(i)) })
}

// symbols returns the contribution of each symbol of a text. An occurrence that contains the symbol
// consists of p symbols before it and k-1-p symbols after it.
func (s subsequenceWeights) symbols(text string) []float64 {
	var digits []int
	for _, c := range text {
		digits = append(digits, s.digit(c))
	}
	a := len(s.alphabet)
	behind := make([]openings, len(digits)) // each symbol
	f := s.open()
	for i := len(digits) - 1; i >= 0; i-- {
		behind[i] = f.clone()
		f.prepend(digits[i])
	}
	f = s.open()
	symbols := make([]float64, len(digits))
	for i, d := range digits {
		for p := 0; p < s.k && d >= 0; p++ { // symbols before this one
			ends := behind[i].open[s.k-1-p]
			for begin, weight := range f.open[p] {
				if weight == 0 {
					continue
				}
				w := s.w[(begin*a+d)*len(ends):]
				for end, v := range ends {
					symbols[i] += weight * v * w[end]
				}
			}
		}
		symbols[i] /= float64(s.k)
		f.append(d)
	}
	return symbols
}

func (f openings) clone() openings {
	c := openings{f.of, make([][]float64, len(f.open))}
	for p := range f.open {
		c.open[p] = slices.Clone(f.open[p])
	}
	return c
}
