package kernel

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// TestWeightsAreTheSumWrittenOut compares the weights and what every symbol adds with the
// enumeration of all occurrences, and their sum with the sum of values of the kernel.
func TestWeightsAreTheSumWrittenOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab é∑")), 1, 8, -1)
		z := texts(rapid.SliceOfN(text, 1, 6).Draw(r, "z")...)
		x := texts(rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("abé∑x")), 1, 8, -1), 1, 6).Draw(r, "x")...)
		u := rapid.SliceOfN(rapid.Float64Range(-2, 2), z.Len(), z.Len()).Draw(r, "u")
		name := rapid.SampledFrom([]string{"spectrum", "gap-subsequence"}).Draw(r, "name")
		n, decay := rapid.IntRange(1, 4).Draw(r, "k"), rapid.Float64Range(0.05, 1).Draw(r, "decay")
		plain, k := ofStrings(name, n, decay, false), ofStrings(name, n, decay, rapid.Bool().Draw(r, "normalised"))
		scale := func(s string) float64 {
			switch self := inner(counted(plain, s), counted(plain, s)); {
			case !k.Values.Switch("normalize"):
				return 1
			case self > 0:
				return 1 / math.Sqrt(self)
			}
			return 0
		}
		want := map[string]float64{}
		for j, s := range z.Values {
			for piece, times := range counted(plain, s) {
				want[piece] += u[j] * scale(s) * times
			}
		}
		left := maps.Clone(want)
		require.Must(r, CanWeigh(k, z), "these are few")
		w := require.Value(Weigh(t.Context(), k, z, u))(r)
		for _, f := range w.Heaviest(1 << 20) {
			piece := strings.ReplaceAll(strings.ReplaceAll(f.Name, "-", ""), "·", " ")
			require.Near(r, f.Weight, want[piece], 1e-9, "%s weighs", f.Name)
			delete(left, piece)
		}
		for piece, v := range left {
			require.Check(r, math.Abs(v) <= 1e-9, "%q weighs %g and is not listed", piece, v)
		}
		parts := require.Value(w.Parts(t.Context(), x))(r)
		values := require.Value(Cross(t.Context(), k, x, z))(r)
		for i, s := range x.Values {
			symbols := []rune(s)
			shares := make([]float64, len(symbols))
			occurrences(plain, symbols, func(at []int, weight float64) {
				piece := ""
				for _, a := range at {
					piece += string(symbols[a])
				}
				for _, a := range at {
					shares[a] += weight * want[piece] * scale(s) / float64(n)
				}
			})
			require.Check(r, len(parts[i]) == len(shares) && floats.EqualApprox(parts[i], shares, 1e-9),
				"%q: the symbols add %v, want %v", s, parts[i], shares)
			f := floats.Dot(values.RawRowView(i), u)
			require.Check(r, math.Abs(floats.Sum(parts[i])-f) <= 1e-9, "%q: the symbols add up to %g, f is %g", s, floats.Sum(parts[i]), f)
		}
	})
}

func TestHeaviest(t *testing.T) {
	t.Parallel()
	w := require.Value(Weigh(t.Context(), ofStrings("spectrum", 1, 0, false), texts("a", "b", "c", "d", "e", "a", "f"), []float64{1, -1, 5, -2, 0, 1, 2}))(t)
	for n, want := range map[int]string{0: "", 1: "cd", 2: "cabd", 9: "cafbd"} {
		got := ""
		for _, f := range w.Heaviest(n) {
			got += f.Name
		}
		require.Equal(t, got, want, "%d", n)
	}
}

// Sums with features without number or name are not written out, nor those of other objects.
func TestTooHeavyToBeWeighed(t *testing.T) {
	t.Parallel()
	var letters []rune
	for c := rune('一'); c < '一'+300; c++ {
		letters = append(letters, c)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	many := texts(string(letters), "一二")
	for _, k := range []Kernel{ofStrings("gap-subsequence", 3, 0.5, true), ofStrings("gap-subsequence", 1000, 0.5, true), RBF(1), {Name: "precomputed"}} {
		require.Check(t, !CanWeigh(k, many), "%v can be weighed", k)
		require.Is(t, require.Err(Weigh(t.Context(), k, many, []float64{1, 1})), errTooManyFeatures, "%v", k)
	}
	long := texts(strings.Repeat("ab", 1<<20), "b")
	require.Check(t, !CanWeigh(ofStrings("spectrum", 3, 0, true), long) && !CanWeigh(ofStrings("gap-subsequence", 2, 0.5, true), long), "long strings can be weighed")
	for _, name := range []string{"spectrum", "gap-subsequence"} {
		require.Is(t, require.Err(Weigh(over, ofStrings(name, 2, 0.5, true), texts("ab", "ba"), []float64{1, 1})), context.Canceled, "%s, nobody waits", name)
		w, err := Weigh(t.Context(), ofStrings(name, 3, 0.5, true), texts("ab", "a"), []float64{1, -1})
		require.Check(t, err == nil && len(w.Heaviest(5)) == 0, "%s, shorter than k: %v", name, err)
		if parts, err := w.Parts(t.Context(), texts("b", "abc")); err != nil || !slices.Equal(parts[1], []float64{0, 0, 0}) || len(parts[0]) != 1 {
			t.Errorf("%s, shorter than k: %v, %v", name, parts, err)
		}
		require.Is(t, require.Err(w.Parts(over, texts("b", "abc"))), context.Canceled, "%s, nobody waits", name)
	}
}

// TestWeightsOfSubtrees: what the nodes add is the sum of values of the kernel; what stands
// beside a graph changes nothing of what its nodes add, nor does it matter in which order they
// come; and no two subtrees have one name.
func TestWeightsOfSubtrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		z, x := drawGraphs(r, 1, 5), drawGraphs(r, 2, 4)
		u := rapid.SliceOfN(rapid.Float64Range(-2, 2), z.Len(), z.Len()).Draw(r, "u")
		k := wlOf(rapid.IntRange(0, 3).Draw(r, "h"), rapid.Bool().Draw(r, "normalised"))
		w := require.Value(Weigh(t.Context(), k, z, u))(r)
		parts := require.Value(w.Parts(t.Context(), x))(r)
		values := require.Value(Cross(t.Context(), k, x, z))(r)
		for i := range x.Values {
			f := floats.Dot(values.RawRowView(i), u)
			require.Check(r, math.Abs(floats.Sum(parts[i])-f) <= 1e-9, "the nodes of %v add up to %g, f is %g", x.Values[i], floats.Sum(parts[i]), f)
		}
		names := map[string]bool{}
		for _, f := range w.Heaviest(1000) {
			require.Check(r, !names[f.Name] || strings.HasSuffix(f.Name, "…"), "two subtrees are called %s", f.Name)
			names[f.Name] = true
		}
		if k.Values.Switch("normalize") {
			return
		}
		a, b := x.Values[0], x.Values[1]
		if a.Directed != b.Directed || (a.Labels == nil) != (b.Labels == nil) || (a.EdgeLabels == nil) != (b.EdgeLabels == nil) {
			return
		}
		both := dataset.Graph{N: a.N + b.N, Directed: a.Directed, Edges: slices.Clone(a.Edges), EdgeLabels: slices.Concat(a.EdgeLabels, b.EdgeLabels), Labels: slices.Concat(a.Labels, b.Labels)}
		for _, e := range b.Edges {
			both.Edges = append(both.Edges, [2]int{a.N + e[0], a.N + e[1]})
		}
		beside, err := w.Parts(t.Context(), graphs(both))
		require.Check(r, err == nil && floats.EqualApprox(beside[0], slices.Concat(parts[0], parts[1]), 1e-9),
			"side by side the nodes add %v, alone %v and %v, %v", beside, parts[0], parts[1], err)
	})
}

func TestNamesOfSubtrees(t *testing.T) {
	t.Parallel()
	acid := require.Value(dataset.NewGraph(4, [][2]int{{0, 1}, {1, 2}, {1, 3}}, []string{"C", "C", "O", "O"}))(t)
	for h, want := range [][]string{{"C", "O"}, {"C", "O", "C(C)", "C(C,2×O)", "O(C)"}, {"C", "O", "C(C)", "C(C,2×O)", "O(C)", "C(C(C,2×O))", "C(C(C),2×O(C))", "O(C(C,2×O))"}} {
		w := require.Value(Weigh(t.Context(), wlOf(h, false), graphs(acid), []float64{1}))(t)
		got := map[string]float64{}
		for _, f := range w.Heaviest(100) {
			got[f.Name] = f.Weight
		}
		for _, name := range want {
			times := 1 + float64(strings.Count("C O O(C) O(C(C,2×O)) ", name+" "))
			require.Check(t, got[name] == times, "%d rounds: %s stands %g times, want %g", h, name, got[name], times)
		}
		require.Check(t, len(got) == len(want), "%d rounds: %v, want %q", h, got, want)
	}
	flow := dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {2, 1}}, EdgeLabels: []string{"a", "b"}, Labels: []string{"C", "N", "O"}}
	named := require.Value(Weigh(t.Context(), wlOf(1, false), graphs(flow), []float64{1}))(t).Heaviest(100)
	for _, want := range []string{"C(→a:N)", "N(←a:C,←b:O)", "O(→b:N)"} {
		require.Check(t, slices.ContainsFunc(named, func(f Feature) bool { return f.Name == want }),
			"%s is none of %v", want, named)
	}
	star := lists.Make(99, func(v int) [2]int { return [2]int{0, v + 1} })
	bare := require.Value(dataset.NewGraph(100, star, nil))(t)
	w := require.Value(Weigh(t.Context(), wlOf(50, true), graphs(bare), []float64{1}))(t)
	for _, f := range w.Heaviest(100) {
		n := utf8.RuneCountInString(f.Name)
		require.Check(t, n <= 60 && strings.HasPrefix(f.Name, "•"), "%s has %d characters", f.Name, n)
	}
}
