package theory_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/theory"
)

// drawnText are n of the symbols, at random.
func drawnText(r *rand.Rand, symbols string, n int) string {
	var b strings.Builder
	for list := []rune(symbols); n > 0; n-- {
		b.WriteRune(list[r.IntN(len(list))])
	}
	return b.String()
}

// TestSpectrumMethods compares the ways to the spectrum kernel with the counts that the lab takes.
func TestSpectrumMethods(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		symbols := []string{"a", "ab", "ACGT", "aé\x00$世"}[r.IntN(4)]
		x, z, k := drawnText(r, symbols, r.IntN(40)), drawnText(r, symbols, r.IntN(40)), 1+r.IntN(6)
		want, other := 0.0, kernel.Pieces(z, k)
		for u, n := range kernel.Pieces(x, k) {
			want += n * other[u]
		}
		for name, method := range map[string]theory.SpectrumMethod{"tree": theory.SpectrumByTree, "trie": theory.SpectrumByTrie, "pairs": theory.SpectrumByPairs} {
			if got, _ := method(x, z, k); got != want {
				t.Errorf("by %s, %q and %q have %g for k = %d, want %g", name, x, z, got, k, want)
			}
		}
	}
}

// TestSuffixTreeIsLinear bounds nodes and steps by a multiple of the length, for texts that are
// hard for what is not linear, and counts what is below the nodes.
func TestSuffixTreeIsLinear(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	fibonacci := [2]string{"a", "b"}
	for len(fibonacci[0]) < 3000 {
		fibonacci[0], fibonacci[1] = fibonacci[0]+fibonacci[1], fibonacci[0]
	}
	for _, text := range []string{strings.Repeat("a", 3000), strings.Repeat("ab", 1500), drawnText(r, "ACGT", 3000), fibonacci[0], strings.Repeat("a", 1500) + strings.Repeat("b", 1500)} {
		tree := theory.NewSuffixTree(text)
		if n := len(text); len(tree.Nodes) > 2*n+2 || tree.Steps > 5*n {
			t.Errorf("%d symbols of %q have %d nodes, by %d steps", n, text[:6], len(tree.Nodes), tree.Steps)
		}
	}
	tree := theory.NewSuffixTree("banana")
	found := map[string]int{}
	for _, i := range tree.Pieces(2) {
		way := ""
		for v := i; v > 0; v = tree.Nodes[v].Parent {
			way = tree.Edge(v) + way
		}
		found[way[:2]] = tree.Count(0, i)
	}
	if len(found) != 3 || found["ba"] != 1 || found["an"] != 2 || found["na"] != 2 {
		t.Errorf("the pieces of banana are %v", found)
	}
}

func BenchmarkSpectrum(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	x, z := drawnText(r, "ACGT", 100_000), drawnText(r, "ACGT", 100_000)
	for name, k := range map[string]int{"k=3": 3, "k=10": 10, "k=100": 100, "k=1000": 1000} {
		b.Run("counts/"+name, func(b *testing.B) {
			for b.Loop() {
				other, sum := kernel.Pieces(z, k), 0.0
				for u, n := range kernel.Pieces(x, k) {
					sum += n * other[u]
				}
			}
		})
		b.Run("tree/"+name, func(b *testing.B) {
			for b.Loop() {
				theory.SpectrumByTree(x, z, k)
			}
		})
	}
}
