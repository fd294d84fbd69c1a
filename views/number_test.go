package views_test

import (
	"math"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views"
)

// Numbers that people write out have no exponent.
func TestWords(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{
		"0": 0, "0.5": 0.5, "−2": -2, "3162": 3162.3, "10000": 1e4, "−31623": -31622.8, "10⁶": 1e6, "2.346·10⁷": 23456789, "10⁻⁵": 1e-5, "−10⁻⁵": -1e-5, "∞": math.Inf(1),
	} {
		require.Check(t, views.Short(v) == want, "%g is shown as %q, want %q", v, views.Short(v), want)
	}
	// Names wrap after an underscore, and not between a symbol and its value.
	name := require.Drawn(t, views.Breakable("SVM, γ 2, C 10 · a_b").Render)
	require.Equal(t, name, "SVM, γ\u00a02, C\u00a010 · a_<wbr>b<wbr>", "a name")
	for message, want := range map[string]string{
		"":                               "",
		`expected a number, found "a b"`: "Expected a number, found “a b”.",
		`"x" and "y" are the same.`:      "“x” and “y” are the same.",
		"points.csv, line 4: no label":   "points.csv, line 4: no label.",
		"my points.csv: no label":        "my points.csv: no label.",
		"line 4, column 2: 0.5 is no x":  "Line 4, column 2: 0.5 is no x.",
		`write {"n":3}`:                  `Write {"n":3}.`,
	} {
		require.Equal(t, views.Sentence(message), want, "%s", message)
	}
}
