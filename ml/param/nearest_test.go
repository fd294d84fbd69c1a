package param

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

// TestDistance: known distances, bounds, and that what is made by leaving a letter out or
// by one swap of neighbours is one away. The triangle inequality does not hold: no place is
// changed twice, so "b--" is 3 from "-ab-" and 1 from "-b-".
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"fit", "fit", 0},
		{"fti", "fit", 1},
		{"kernal", "kernel", 1},
		{"lamda", "lambda", 1},
		{"kitten", "sitting", 3},
		{"-ab-", "b--", 3},
		{"ca", "abc", 3}, // optimal string alignment; unrestricted it is 2
	} {
		require.Equal(t, distance(c.a, c.b), c.want, "from %q to %q", c.a, c.b)
	}
	word := rapid.StringMatching(`[ab-]{0,7}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		require.Must(t, d == distance(b, a) && (d == 0) == (a == b) && d <= max(len(a), len(b)) && d >= max(len(a), len(b))-min(len(a), len(b)),
			"distance %d", d)
		if a != "" {
			i := rapid.IntRange(0, len(a)-1).Draw(t, "i")
			require.Must(t, distance(a[:i]+a[i+1:], a) == 1, "without letter %d", i)
			if i > 0 && a[i] != a[i-1] {
				e := distance(a[:i-1]+a[i:i+1]+a[i-1:i]+a[i+1:], a)
				require.Must(t, e == 1, "%d with the letters before and at %d swapped", e, i)
			}
		}
	})
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	names := []string{"C", "data", "gamma", "k", "test", "test-fraction"}
	for typed, want := range map[string]string{
		"c": "C", "gama": "gamma", "Gamma": "gamma", "tset": "test", "test-frac": "test-fraction", "test_fraction": "test-fraction",
		"x": "", "": "", "colour": "", "da": "", "ümlaut": "", strings.Repeat("gamma", 1e5): "",
	} {
		if want != "" {
			want = " (did you mean --" + want + "?)"
		}
		require.Equal(t, DidYouMean(typed, "--", names), want, "%.20q", typed)
	}
}
