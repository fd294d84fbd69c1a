package kernel

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
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
			switch self := enumerated(plain, s, s); {
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
		if !CanWeigh(k, z) {
			r.Fatal("these are few")
		}
		w, err := Weigh(t.Context(), k, z, u)
		if err != nil {
			r.Fatal(err)
		}
		for _, f := range w.Heaviest(1 << 20) {
			piece := strings.ReplaceAll(strings.ReplaceAll(f.Name, "-", ""), "·", " ")
			if math.Abs(f.Weight-want[piece]) > 1e-9 {
				r.Errorf("%s weighs %g, want %g", f.Name, f.Weight, want[piece])
			}
			delete(left, piece)
		}
		for piece, v := range left {
			if math.Abs(v) > 1e-9 {
				r.Errorf("%q weighs %g and is not listed", piece, v)
			}
		}
		parts, err := w.Parts(t.Context(), x)
		if err != nil {
			r.Fatal(err)
		}
		values, err := Cross(t.Context(), k, x, z)
		if err != nil {
			r.Fatal(err)
		}
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
			if len(parts[i]) != len(shares) || !floats.EqualApprox(parts[i], shares, 1e-9) {
				r.Errorf("%q: the symbols add %v, want %v", s, parts[i], shares)
			}
			if f := floats.Dot(values.RawRowView(i), u); math.Abs(floats.Sum(parts[i])-f) > 1e-9 {
				r.Errorf("%q: the symbols add up to %g, f is %g", s, floats.Sum(parts[i]), f)
			}
		}
	})
}

func TestHeaviest(t *testing.T) {
	t.Parallel()
	w, err := Weigh(t.Context(), ofStrings("spectrum", 1, 0, false), texts("a", "b", "c", "d", "e", "a", "f"), []float64{1, -1, 5, -2, 0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{0: "", 1: "cd", 2: "cabd", 9: "cafbd"} {
		got := ""
		for _, f := range w.Heaviest(n) {
			got += f.Name
		}
		if got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
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
		if CanWeigh(k, many) {
			t.Errorf("%v can be weighed", k)
		}
		if _, err := Weigh(t.Context(), k, many, []float64{1, 1}); !errors.Is(err, errHeavy) {
			t.Errorf("%v: %v", k, err)
		}
	}
	if long := texts(strings.Repeat("ab", 1<<20), "b"); CanWeigh(ofStrings("spectrum", 3, 0, true), long) || CanWeigh(ofStrings("gap-subsequence", 2, 0.5, true), long) {
		t.Error("long strings can be weighed")
	}
	for _, name := range []string{"spectrum", "gap-subsequence"} {
		if _, err := Weigh(over, ofStrings(name, 2, 0.5, true), texts("ab", "ba"), []float64{1, 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, nobody waits: %v", name, err)
		}
		w, err := Weigh(t.Context(), ofStrings(name, 3, 0.5, true), texts("ab", "a"), []float64{1, -1})
		if err != nil || len(w.Heaviest(5)) != 0 {
			t.Errorf("%s, shorter than k: %v", name, err)
		}
		if parts, err := w.Parts(t.Context(), texts("b", "abc")); err != nil || !slices.Equal(parts[1], []float64{0, 0, 0}) || len(parts[0]) != 1 {
			t.Errorf("%s, shorter than k: %v, %v", name, parts, err)
		}
		if _, err := w.Parts(over, texts("b", "abc")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, nobody waits: %v", name, err)
		}
	}
}
