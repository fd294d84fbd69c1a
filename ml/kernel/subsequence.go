package kernel

import (
	"context"
	"slices"
	"sync"
	"unicode/utf8"

	"marginlab/ml/dataset"
	"marginlab/ml/pace"
	"marginlab/ml/param"
	"marginlab/ml/simd"
)

// gapSubsequence compares strings by their common subsequences of k symbols, with or without
// gaps. An occurrence that skips g symbols weighs decay^g, not decay^(k+g) as in Lodhi et al.,
// whose values are decay^(2k) times these.
//
// Source: Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins, Journal of Machine
// Learning Research 2 (2002).
var gapSubsequence = Entry{
	Name: "gap-subsequence", Label: "Gap-weighted subsequences", Formula: "k(x, z) = Σᵤ Σ λ^(gaps in x + gaps in z) over all u of k symbols and their occurrences", Takes: dataset.KindStrings, PSD: true,
	Help: "Counts the sequences of k symbols that two strings share in the same order; skipped symbols in between lower the weight.",
	Params: []param.Param{length, {
		Name: "decay", Label: "decay", Symbol: "λ", Kind: param.Number, Default: "0.5",
		Min: 0, OpenMin: true, Max: 1, Low: 0.05, High: 1, Telling: true,
		Help: "Weight of each symbol skipped between the k symbols. 1: gaps cost nothing; small: almost only substrings count.",
	}, normalize},
	compare: compareSubsequences,
	self: func(ctx context.Context, v param.Values, x dataset.Objects) ([]float64, error) {
		texts := symbols(x)
		s, err := newSubsequences(ctx, v, texts)
		if err != nil {
			return nil, err
		}
		self := make([]float64, len(texts))
		return self, eachRow(ctx, (len(self)+wide-1)/wide, func(a int) {
			some := texts[a*wide : min((a+1)*wide, len(texts))]
			values := s.values(packTexts(some, endOfX), packTexts(some, endOfZ))
			copy(self[a*wide:], values[:])
		})
	},
	steps: func(v param.Values, x dataset.Objects) float64 {
		mean := 0.0
		for _, text := range x.(*dataset.Strings).Values {
			mean += float64(utf8.RuneCountInString(text)) / float64(x.Len())
		}
		return v.Number(length.Name) * mean * mean
	},
	weigh:    weighSubsequences,
	canWeigh: canWeighSubsequences,
}

// symbols returns the strings as sequences of numbers, one per symbol.
func symbols(x dataset.Objects) [][]float64 {
	texts := x.(*dataset.Strings).Values
	list := make([][]float64, len(texts))
	for i, text := range texts {
		for _, c := range text {
			list[i] = append(list[i], float64(c))
		}
	}
	return list
}

// Padding of packed strings. It equals neither a symbol nor the padding of the other side.
const (
	endOfZ = -1
	endOfX = -2
)

// packTexts interleaves at most wide strings: first symbols, second symbols, and so on, padded with
// end.
func packTexts(texts [][]float64, end float64) []float64 {
	longest := 0
	for _, text := range texts {
		longest = max(longest, len(text))
	}
	z := slices.Repeat([]float64{end}, longest*wide)
	for l, text := range texts {
		for j, c := range text {
			z[j*wide+l] = c
		}
	}
	return z
}

type subsequences struct {
	ctx   context.Context
	k     int
	decay float64
	x     [][]float64
	z     [][]float64 // packed
	work  *sync.Pool  // of *[]float64
}

// maxWorkBytes bounds the memory of one comparison, including packed strings: enough for strings of
// 350 000 symbols at k = 3. Each processor runs one comparison at a time.
const maxWorkBytes = 128 << 20

// newSubsequences prepares comparisons with texts. It returns an error if one is too long.
func newSubsequences(ctx context.Context, v param.Values, texts [][]float64) (subsequences, error) {
	s := subsequences{ctx: ctx, k: v.Int(length.Name), decay: v.Number("decay"), work: new(sync.Pool)}
	for i, text := range texts {
		if need := 8 * float64(s.k) * float64(wide) * float64(len(text)); need > maxWorkBytes {
			return s, param.Refuse("use a smaller k, shorter strings, or the spectrum kernel",
				"row %d has %d symbols: comparing subsequences of length %d needs %.0f MB, and the limit is %d MB", i+1, len(text), s.k, need/(1<<20), maxWorkBytes>>20)
		}
	}
	return s, nil
}

func compareSubsequences(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error) {
	others := symbols(z)
	s, err := newSubsequences(ctx, v, others)
	if err != nil {
		return nil, err
	}
	s.x = symbols(x)
	for texts := range slices.Chunk(others, wide) {
		s.z = append(s.z, packTexts(texts, endOfZ))
	}
	return s, nil
}

func (s subsequences) row(dst []float64, i int) {
	x := make([]float64, 0, wide*len(s.x[i])) // x_i packed wide times
	for _, c := range s.x[i] {
		for range wide {
			x = append(x, c)
		}
	}
	for a := 0; a*wide < len(dst); a++ {
		values := s.values(x, s.z[a])
		copy(dst[a*wide:], values[:])
	}
}

// values returns the kernel values between the packed x and the packed z, pair by pair.
func (s subsequences) values(x, z []float64) (sum [wide]float64) {
	if s.k == 1 {
		countEqual(&sum, x, z)
		return sum
	}
	work, ok := s.work.Get().(*[]float64)
	if !ok {
		work = new([]float64)
	}
	defer s.work.Put(work)
	if need := (s.k - 1) * len(z); cap(*work) < need {
		*work = make([]float64, need)
	} else {
		*work = (*work)[:need]
		clear(*work)
	}
	// A pair of long strings can take minutes: check ctx every few milliseconds.
	rows := max(1, 1<<20/max(1, len(*work)))
	for part := range slices.Chunk(x, rows*wide) {
		if pace.Look(s.ctx) != nil {
			break
		}
		gapsAt(simd.Current(), &sum, *work, part, z, s.k, s.decay)
	}
	return sum
}

// plainGaps adds to sum the weights of all pairs of common subsequences of k >= 2 symbols of
// corresponding packed x and z, in O(k |x| |z|) steps.
//
// Let A_p(i, j) be the weight of all pairs of occurrences of p symbols that end with x_i
// and z_j, and B_p(i, j) the sum of A_p(i', j') decay^(i-i' + j-j') over i' <= i, j' <= j.
// Then, with A_1 = 1 if x_i = z_j and 0 otherwise,
//
//	A_{p+1}(i, j) = B_p(i-1, j-1) if x_i = z_j, else 0
//	B_p(i, j) = R_p(i, j) + decay B_p(i-1, j)
//	R_p(i, j) = A_p(i, j) + decay R_p(i, j-1)
//
// and the kernel is the sum of all A_k. b holds one row of each B_p: it must be zero before the
// first symbols of x and is kept between calls for consecutive parts of x.
func plainGaps(sum *[wide]float64, b, x, z []float64, k int, decay float64) {
	n := len(z) / wide
	run := make([][wide]float64, k-1)    // R_p
	before := make([][wide]float64, k-1) // B_p(i-1, j-1)
	for xi := range slices.Chunk(x, wide) {
		clear(run)
		clear(before)
		for j := range n {
			zj := (*[wide]float64)(z[j*wide:])
			for l := range wide {
				if zj[l] < 0 { // end of the string
					continue
				}
				match := zj[l] == xi[l]
				a := 0.0 // A_p(i, j)
				if match {
					a = 1
				}
				for p := range run {
					at := &b[(j*len(run)+p)*wide+l]
					above := *at
					run[p][l] = a + decay*run[p][l]
					*at = run[p][l] + decay*above
					a = 0
					if match {
						a = before[p][l]
					}
					before[p][l] = above
				}
				sum[l] += a
			}
		}
	}
}

// countEqual adds to sum the number of pairs of equal symbols.
func countEqual(sum *[wide]float64, x, z []float64) {
	type key struct {
		lane   int
		symbol float64
	}
	counts := make(map[key]float64)
	for a, c := range x {
		counts[key{a % wide, c}]++
	}
	for a, c := range z {
		sum[a%wide] += counts[key{a % wide, c}]
	}
}
