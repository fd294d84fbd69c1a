package theory_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func drawnText(r *rand.Rand, symbols string, n int) string {
	var b strings.Builder
	for list := []rune(symbols); n > 0; n-- {
		b.WriteRune(list[r.IntN(len(list))])
	}
	return b.String()
}

// TestSpectrumMethods compares the methods with the counts used by the lab.
func TestSpectrumMethods(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		symbols := []string{"a", "ab", "ACGT", "aé\x00$世"}[r.IntN(4)]
		x, z, k := drawnText(r, symbols, r.IntN(40)), drawnText(r, symbols, r.IntN(40)), 1+r.IntN(6)
		want, other := 0.0, kernel.KMers(z, k)
		for u, n := range kernel.KMers(x, k) {
			want += n * other[u]
		}
		for name, method := range map[string]theory.SpectrumMethod{"tree": theory.SpectrumByTree, "trie": theory.SpectrumByTrie, "pairs": theory.SpectrumByPairs} {
			got, _ := method(x, z, k)
			require.Check(t, got == want, "by %s, %q and %q have %g for k = %d, want %g", name, x, z, got, k, want)
		}
	}
}

// Nodes and steps are linear in the length, for texts that are hard for other algorithms.
func TestSuffixTreeIsLinear(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	fibonacci := [2]string{"a", "b"}
	for len(fibonacci[0]) < 3000 {
		fibonacci[0], fibonacci[1] = fibonacci[0]+fibonacci[1], fibonacci[0]
	}
	for _, text := range []string{strings.Repeat("a", 3000), strings.Repeat("ab", 1500), drawnText(r, "ACGT", 3000), fibonacci[0], strings.Repeat("a", 1500) + strings.Repeat("b", 1500)} {
		tree := theory.NewSuffixTree(text)
		n := len(text)
		require.Check(t, len(tree.Nodes) <= 2*n+2 && tree.Steps <= 11*n, "%d symbols of %q have %d nodes, by %d steps", n, text[:6], len(tree.Nodes), tree.Steps)
	}
}

// BenchmarkSpectrum compares the suffix tree with the hashed counts used by the lab.
func BenchmarkSpectrum(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	x, z := drawnText(r, "ACGT", 100_000), drawnText(r, "ACGT", 100_000)
	counts := func(x, z string, k int) (sum float64, _ int) {
		other := kernel.KMers(z, k)
		for u, n := range kernel.KMers(x, k) {
			sum += n * other[u]
		}
		return sum, 0
	}
	for name, method := range map[string]theory.SpectrumMethod{"counts": counts, "tree": theory.SpectrumByTree} {
		for _, k := range []int{3, 10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/k=%d", name, k), func(b *testing.B) {
				for b.Loop() {
					method(x, z, k)
				}
			})
		}
	}
}
