package theory

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/param"
)

// GapPolynomial is a polynomial in the gap decay lambda: entry g is the coefficient of lambda^g.
type GapPolynomial []int

// At returns the value for a decay.
func (p GapPolynomial) At(decay float64) (v float64) {
	for g := len(p) - 1; g >= 0; g-- {
		v = v*decay + float64(p[g])
	}
	return v
}

// Plus returns the sum of p and q.
func (p GapPolynomial) Plus(q GapPolynomial) GapPolynomial {
	sum := make(GapPolynomial, max(len(p), len(q)))
	copy(sum, p)
	for g, n := range q {
		sum[g] += n
	}
	return sum
}

// Times returns the product of p and q.
func (p GapPolynomial) Times(q GapPolynomial) GapPolynomial {
	if len(p) == 0 || len(q) == 0 {
		return nil
	}
	product := make(GapPolynomial, len(p)+len(q)-1)
	for a, n := range p {
		for b, m := range q {
			product[a+b] += n * m
		}
	}
	return product
}

// TeX formats the polynomial in ascending powers: "1 + \lambda + 2\lambda^{3}".
func (p GapPolynomial) TeX() string {
	var terms []string
	for g, n := range p {
		factor, power := strconv.Itoa(n), `\lambda^{`+strconv.Itoa(g)+"}"
		switch {
		case n == 0:
			continue
		case g == 0:
			power = ""
		case n == 1:
			factor = ""
		}
		if g == 1 {
			power = `\lambda`
		}
		terms = append(terms, factor+power)
	}
	if len(terms) == 0 {
		return "0"
	}
	return strings.Join(terms, " + ")
}

// maxOccurrences limits the enumeration.
const maxOccurrences = 100_000

// SubsequenceFeatures returns the features of a string under the gap-weighted subsequence kernel
// (SVM notes 19.2): for every subsequence u of k symbols, the sum of lambda^gaps over its
// occurrences. The coefficient of lambda^0 counts the occurrences without gaps and so is the
// feature of the k-spectrum kernel (SVM notes 19.3).
//
// Unlike the kernel, it enumerates all occurrences and returns an error for more than 100000. k
// is at least 1; a text shorter than k has no features.
func SubsequenceFeatures(text string, k int) (map[string]GapPolynomial, error) {
	symbols := []rune(text)
	if k < 1 {
		return nil, param.Refuse("use 1 or more", "subsequences of %d symbols", k)
	}
	if n := Choose(len(symbols), k); n > maxOccurrences {
		return nil, param.Refuse("use a shorter string", "%.0f occurrences of %d symbols are more than the %d that can be listed", n, k, maxOccurrences)
	}
	features := make(map[string]GapPolynomial)
	chosen := make([]rune, 0, k)
	var choose func(first, next int)
	choose = func(first, next int) {
		if len(chosen) == k {
			gaps := next - first - k
			features[string(chosen)] = features[string(chosen)].Plus(append(make(GapPolynomial, gaps), 1))
			return
		}
		for i := next; i < len(symbols); i++ {
			if len(chosen) == 0 {
				first = i
			}
			chosen = append(chosen, symbols[i])
			choose(first, i+1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0, 0)
	return features, nil
}

// SubsequenceKernel returns the inner product of the features of two strings.
func SubsequenceKernel(x, z map[string]GapPolynomial) (sum GapPolynomial) {
	for _, u := range slices.Sorted(maps.Keys(x)) {
		sum = sum.Plus(x[u].Times(z[u]))
	}
	return sum
}

// StringFeatures returns the non-zero features of a string (SVM notes 19.1).
type StringFeatures func(text string) (map[string]float64, error)

// Present returns features that are 1 for every substring of k symbols in the string.
func Present(k int) StringFeatures {
	return func(text string) (map[string]float64, error) {
		f := kernel.KMers(text, k)
		for u := range f {
			f[u] = 1
		}
		return f, nil
	}
}

// Counted returns features that count each substring of k symbols.
func Counted(k int) StringFeatures {
	return func(text string) (map[string]float64, error) { return kernel.KMers(text, k), nil }
}

// Weighted returns the values of SubsequenceFeatures for a decay.
func Weighted(k int, decay float64) StringFeatures {
	return func(text string) (map[string]float64, error) {
		all, err := SubsequenceFeatures(text, k)
		f := make(map[string]float64, len(all))
		for u, p := range all {
			f[u] = p.At(decay)
		}
		return f, err
	}
}

// FeatureTable returns the features of strings as a matrix with a row per string, so that phi
// phi' is the Gram matrix. The column names are sorted; if no string has a feature, there is one
// column without a name.
func FeatureTable(texts []string, of StringFeatures) (names []string, phi *mat.Dense, err error) {
	rows := make([]map[string]float64, len(texts))
	column := make(map[string]int)
	for i, text := range texts {
		if rows[i], err = of(text); err != nil {
			return nil, nil, err
		}
		for u := range rows[i] {
			column[u] = 0
		}
	}
	if names = slices.Sorted(maps.Keys(column)); len(names) == 0 {
		names = []string{""}
	}
	for j, u := range names {
		column[u] = j
	}
	phi = mat.NewDense(len(texts), len(names), nil)
	for i, f := range rows {
		for u, v := range f {
			phi.Set(i, column[u], v)
		}
	}
	return names, phi, nil
}

// SpanWeight converts a value of the gap-weighted kernel to the convention of Lodhi et al.
// (2002), where an occurrence has weight decay^span and the span includes the gaps and the k
// symbols.
func SpanWeight(value float64, k int, decay float64) float64 {
	return value * math.Pow(decay, float64(2*k))
}

// LongestPiece returns the length of the longest common substring of x and z. It is not a kernel:
// its matrices need not be positive semidefinite.
func LongestPiece(x, z string) (longest int) {
	a, b := []rune(x), []rune(z)
	row := make([]int, len(b)+1) // longest common suffix of the prefixes of x and z
	for i := range a {
		for j := len(b); j > 0; j-- {
			if a[i] != b[j-1] {
				row[j] = 0
				continue
			}
			row[j] = row[j-1] + 1
			longest = max(longest, row[j])
		}
	}
	return longest
}

// Choose returns the binomial coefficient n over k, 0 for k > n.
func Choose(n, k int) float64 {
	if k > n {
		return 0
	}
	ways := 1.0
	for i := range k {
		ways = ways * float64(n-i) / float64(i+1)
	}
	return ways
}
