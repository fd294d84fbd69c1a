package lessons

import (
	"testing"

	"marginlab/ml/mltest/require"
)

func TestReadNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0.25": 0.25, "0,25": 0.25, "1/4": 0.25, "−3e-2": -0.03, " 2 ": 2, "-1/5": -0.2} {
		got, err := ReadNumber(text)
		require.Check(t, err == nil && got == want, "%q: %v, %v; want %v", text, got, err, want)
	}
	for _, text := range []string{"", "x", "1/0", "0/0", "1/", "/2", "1//2", "NaN", "inf"} {
		got, err := ReadNumber(text)
		require.Check(t, err != nil, "%q is %v", text, got)
	}
}

// TestTypeset keeps numbers and their units together and writes powers of ten as such.
func TestTypeset(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"7.731e−12":         "7.731·10⁻¹²",
		"−8.3e-07":          "−8.3·10⁻⁷",
		"2.347e+07":         "2.347·10⁷",
		"14.0 %":            "14.0\u00a0%",
		"8 of 8":            "8 of 8",
		"needs an error":    "needs an error",
		"C = 100, γ = 0.05": "C\u00a0=\u00a0100, γ\u00a0=\u00a00.05",
		"$R = 2$, the rest": "$R = 2$, the rest",
		"the word ate3e5x":  "the word ate3e5x",
	} {
		require.Equal(t, Typeset(value), want, "%q becomes", value)
	}
}
