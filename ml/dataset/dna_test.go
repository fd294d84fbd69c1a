package dataset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// Without mutations every sequence has its motif as often as asked; motifs are far from each other.
func TestMotifsArePlanted(t *testing.T) {
	t.Parallel()
	atLimit := 0
	for seed := range 20 {
		d := require.Value(dnaGenerator.Generate(param.Values{
			"n": param.Of(30), "length": param.Of(40), "classes": param.Of(6), "motif": param.Of(3 + seed%8), "copies": param.Of(4), "noise": param.Of(0), "seed": param.Of(seed),
		}))(t)
		require.Must(t, len(d.Classes) == 6, "classes %v", d.Classes)
		for i, a := range d.Classes {
			for _, b := range d.Classes[:i] {
				differ := differing(a, b)
				require.Check(t, 2*differ >= len(a), "motifs %s and %s", a, b)
				if 2*differ == len(a) {
					atLimit++
				}
			}
		}
		for i, s := range d.Objects.(*Strings).Values {
			motif := d.Classes[d.Y[i]]
			require.Check(t, len(s) == 40 && strings.Trim(s, "ACGT") == "" && (strings.Count(s, motif) >= 4 || overlaps(motif)),
				"%s: motif %s", s, motif)
		}
	}
	require.Check(t, atLimit > 0, "no two motifs differ in exactly half of their letters")
}

// differing counts the letters that differ.
func differing(a, b string) int {
	return len(lists.Where(len(a), func(i int) bool { return a[i] != b[i] }))
}

// overlaps reports whether a word may begin within itself, so that strings.Count may miss it.
func overlaps(word string) bool {
	for i := 1; i < len(word); i++ {
		if strings.HasPrefix(word, word[i:]) {
			return true
		}
	}
	return false
}

// More noise changes few letters, more strings none; without any share motifs stand by chance.
func TestNoiseOfMotifs(t *testing.T) {
	t.Parallel()
	values := param.Values{"n": param.Of(200), "length": param.Of(50), "motif": param.Of(10), "copies": param.Of(1)}
	letters := func(name string, value float64) (together string, motifs int) {
		d := require.Value(dnaGenerator.Generate(values.With(name, param.Of(value))))(t)
		for i, s := range d.Objects.(*Strings).Values {
			motifs += strings.Count(s, d.Classes[d.Y[i]])
			together += s
		}
		return together, motifs
	}
	clean, all := letters("noise", 0)
	noisy, some := letters("noise", 0.1)
	_, none := letters("share", 0)
	_, half := letters("share", 0.5)
	differ := differing(clean, noisy)
	// Of 2000 planted letters a tenth is another, and 0.9^10 of 200 motifs are whole:
	// both within four standard deviations.
	require.Check(t, all == 200 && differ >= 147 && differ <= 253 && some >= 43 && some <= 97 && none == 0 && half >= 15 && half <= 60,
		"motifs: %d, with noise %d, with half a share %d, without %d; %d letters differ", all, some, half, none, differ)
}

func TestMotifsTooLong(t *testing.T) {
	t.Parallel()
	_, err := dnaGenerator.Generate(param.Values{"length": param.Of(11), "lenght": param.Of(3)})
	diff := cmp.Diff(error(param.Problems{{Field: "lenght", Message: "lenght is not a parameter of the generator dna"}}), err)
	require.Check(t, diff == "", "%v", diff)
	_, err = dnaGenerator.Generate(param.Values{"length": param.Of(11)})
	diff = cmp.Diff(error(param.Problems{{Field: "length", Message: "length must be at least 12 for 2 copies of a motif of 6 letters, not 11"}}), err)
	require.Check(t, diff == "", "%v", diff)
}
